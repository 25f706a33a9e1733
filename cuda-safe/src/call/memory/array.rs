//! Arrays and mipmapped arrays.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_MEMORY_REQUIREMENTS, CUDA_ARRAY_SPARSE_PROPERTIES,
    CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUdevice, CUmipmappedArray,
};

/// Makes an array of one or two dimensions; whoever makes it destroys it.
#[driver(cuArrayCreate_v2, home = given)]
pub fn array_create(
    #[out] handle @ pHandle: *mut CUarray,
    #[record] description @ pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR,
);

/// Makes an array of up to three dimensions, layers or faces; whoever makes it destroys it.
#[driver(cuArray3DCreate_v2, home = given)]
pub fn array_3d_create(
    #[out] handle @ pHandle: *mut CUarray,
    #[record] description @ pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR,
);

/// Destroys an array.
///
/// # Safety
///
/// The array is of `context`, alive, and nothing uses it any more.
#[driver(cuArrayDestroy, home = given)]
pub unsafe fn array_destroy(#[raw] array @ hArray: CUarray);

/// Asks for an array's size and format.
#[driver(cuArrayGetDescriptor_v2, home = handle)]
pub fn array_get_descriptor(
    #[out] description @ pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR,
    #[handle] array @ hArray: CUarray,
);

/// Asks for an array's size, depth, format and flags.
#[driver(cuArray3DGetDescriptor_v2, home = handle)]
pub fn array_3d_get_descriptor(
    #[out] description @ pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR,
    #[handle] array @ hArray: CUarray,
);

/// Asks how much memory a sparse array needs, and how it is aligned.
#[driver(cuArrayGetMemoryRequirements, home = handle)]
pub fn array_get_memory_requirements(
    #[out] memory_requirements @ memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    #[handle] array: CUarray,
    #[handle] device: CUdevice,
);

/// Returns a plane of an array of several.
#[driver(cuArrayGetPlane, home = handle)]
pub fn array_get_plane(
    #[out] plane_array @ pPlaneArray: *mut CUarray,
    #[handle] array @ hArray: CUarray,
    #[value] plane_idx @ planeIdx: c_uint,
);

/// Asks for the tiles of a sparse array.
#[driver(cuArrayGetSparseProperties, home = handle)]
pub fn array_get_sparse_properties(
    #[out] sparse_properties @ sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    #[handle] array: CUarray,
);

/// Makes a mipmapped array; whoever makes it destroys it.
#[driver(cuMipmappedArrayCreate, home = given)]
pub fn mipmapped_array_create(
    #[out] handle @ pHandle: *mut CUmipmappedArray,
    #[record] description @ pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR,
    #[value] levels @ numMipmapLevels: c_uint,
);

/// Destroys a mipmapped array.
///
/// # Safety
///
/// The array is of `context`, alive, and nothing uses it or its levels any more.
#[driver(cuMipmappedArrayDestroy, home = given)]
pub unsafe fn mipmapped_array_destroy(#[raw] array @ hMipmappedArray: CUmipmappedArray);

/// Returns a level of a mipmapped array.
#[driver(cuMipmappedArrayGetLevel, home = handle)]
pub fn mipmapped_array_get_level(
    #[out] level_array @ pLevelArray: *mut CUarray,
    #[handle] array @ hMipmappedArray: CUmipmappedArray,
    #[value] level: c_uint,
);

/// Asks how much memory a sparse mipmapped array needs, and how it is aligned.
#[driver(cuMipmappedArrayGetMemoryRequirements, home = handle)]
pub fn mipmapped_array_get_memory_requirements(
    #[out] memory_requirements @ memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS,
    #[handle] array @ mipmap: CUmipmappedArray,
    #[handle] device: CUdevice,
);

/// Asks for the tiles of a sparse mipmapped array.
#[driver(cuMipmappedArrayGetSparseProperties, home = handle)]
pub fn mipmapped_array_get_sparse_properties(
    #[out] sparse_properties @ sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES,
    #[handle] array @ mipmap: CUmipmappedArray,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &ARRAY_CREATE,
    &ARRAY_3D_CREATE,
    &ARRAY_DESTROY,
    &ARRAY_GET_DESCRIPTOR,
    &ARRAY_3D_GET_DESCRIPTOR,
    &ARRAY_GET_MEMORY_REQUIREMENTS,
    &ARRAY_GET_PLANE,
    &ARRAY_GET_SPARSE_PROPERTIES,
    &MIPMAPPED_ARRAY_CREATE,
    &MIPMAPPED_ARRAY_DESTROY,
    &MIPMAPPED_ARRAY_GET_LEVEL,
    &MIPMAPPED_ARRAY_GET_MEMORY_REQUIREMENTS,
    &MIPMAPPED_ARRAY_GET_SPARSE_PROPERTIES,
];
