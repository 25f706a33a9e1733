//! Resources of graphics interfaces.
//!
//! Chapter: Graphics Interoperability, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUarray, CUdeviceptr, CUgraphicsResource, CUmipmappedArray, CUstream};

/// Maps resources for use by the device, in the order of `stream`.
#[driver(cuGraphicsMapResources, order = stream)]
pub fn graphics_map_resources(
    #[from(resources.count)] count: c_uint,
    #[items(count, handle)] resources: *mut CUgraphicsResource,
    #[stream] stream @ hStream: CUstream,
);

/// Gives mapped resources back, in the order of `stream`.
///
/// # Safety
///
/// No work behind this in the order of the stream, and none on another, uses what is mapped.
#[driver(cuGraphicsUnmapResources, order = stream)]
pub unsafe fn graphics_unmap_resources(
    #[value] count: c_uint,
    #[raw] resources: *mut CUgraphicsResource,
    #[stream] stream @ hStream: CUstream,
);

/// Asks where a mapped resource is, and how many bytes it has.
#[driver(cuGraphicsResourceGetMappedPointer_v2, home = handle)]
pub fn graphics_resource_get_mapped_pointer(
    #[out] dev_ptr @ pDevPtr: *mut CUdeviceptr,
    #[out] size @ pSize: *mut usize,
    #[handle] resource: CUgraphicsResource,
);

/// Returns the mipmapped array that a mapped resource is.
#[driver(cuGraphicsResourceGetMappedMipmappedArray, home = handle)]
pub fn graphics_resource_get_mapped_mipmapped_array(
    #[out] mipmapped_array @ pMipmappedArray: *mut CUmipmappedArray,
    #[handle] resource: CUgraphicsResource,
);

/// Returns the array that a part of a mapped resource is.
#[driver(cuGraphicsSubResourceGetMappedArray, home = handle)]
pub fn graphics_sub_resource_get_mapped_array(
    #[out] array @ pArray: *mut CUarray,
    #[handle] resource: CUgraphicsResource,
    #[value] index @ arrayIndex: c_uint,
    #[value] level @ mipLevel: c_uint,
);

/// Says how a resource will be used once it is mapped.
#[driver(cuGraphicsResourceSetMapFlags_v2, home = handle)]
pub fn graphics_resource_set_map_flags(
    #[handle] resource: CUgraphicsResource,
    #[value] flags: c_uint,
);

/// Undoes a registration.
///
/// # Safety
///
/// The resource is registered, not mapped, and not used any more.
#[driver(cuGraphicsUnregisterResource, home = given)]
pub unsafe fn graphics_unregister_resource(#[raw] resource: CUgraphicsResource);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPHICS_MAP_RESOURCES,
    &GRAPHICS_UNMAP_RESOURCES,
    &GRAPHICS_RESOURCE_GET_MAPPED_POINTER,
    &GRAPHICS_RESOURCE_GET_MAPPED_MIPMAPPED_ARRAY,
    &GRAPHICS_SUB_RESOURCE_GET_MAPPED_ARRAY,
    &GRAPHICS_RESOURCE_SET_MAP_FLAGS,
    &GRAPHICS_UNREGISTER_RESOURCE,
];
