//! Tensor maps. They hold an address, and nobody is asked about it.
//!
//! Chapter: Tensor Map Object Managment.

use core::ffi::{c_int, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUtensorMap, CUtensorMapAllocClass, CUtensorMapDataType, CUtensorMapFloatOOBfill,
    CUtensorMapIm2ColWideMode, CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
    cuuint32_t, cuuint64_t,
};

/// Describes tiles of a tensor in memory.
///
/// # Safety
///
/// The address is that of a tensor of these dimensions, as long as kernels use the map; the
/// strides are one fewer than the dimensions.
#[driver(cuTensorMapEncodeTiled, home = none)]
pub unsafe fn tensor_map_encode_tiled(
    #[out] map @ tensorMap: *mut CUtensorMap,
    #[value] data_type @ tensorDataType: CUtensorMapDataType,
    #[from(dimensions.count)] rank @ tensorRank: cuuint32_t,
    #[raw] address @ globalAddress: *mut c_void,
    #[items(rank, value)] dimensions @ globalDim: *const cuuint64_t,
    #[raw] strides @ globalStrides: *const cuuint64_t,
    #[items(rank, value)] boxes @ boxDim: *const cuuint32_t,
    #[items(rank, value)] element_strides @ elementStrides: *const cuuint32_t,
    #[value] interleave: CUtensorMapInterleave,
    #[value] swizzle: CUtensorMapSwizzle,
    #[value] l2_promotion @ l2Promotion: CUtensorMapL2promotion,
    #[value] oob_fill @ oobFill: CUtensorMapFloatOOBfill,
);

/// Describes columns of an image in memory.
///
/// # Safety
///
/// The address is that of a tensor of these dimensions, as long as kernels use the map; the
/// strides are one, the corners two fewer than the dimensions.
#[driver(cuTensorMapEncodeIm2col, home = none)]
pub unsafe fn tensor_map_encode_im2col(
    #[out] map @ tensorMap: *mut CUtensorMap,
    #[value] data_type @ tensorDataType: CUtensorMapDataType,
    #[from(dimensions.count)] rank @ tensorRank: cuuint32_t,
    #[raw] address @ globalAddress: *mut c_void,
    #[items(rank, value)] dimensions @ globalDim: *const cuuint64_t,
    #[raw] strides @ globalStrides: *const cuuint64_t,
    #[raw] lower @ pixelBoxLowerCorner: *const c_int,
    #[raw] upper @ pixelBoxUpperCorner: *const c_int,
    #[value] channels_per_pixel @ channelsPerPixel: cuuint32_t,
    #[value] pixels_per_column @ pixelsPerColumn: cuuint32_t,
    #[items(rank, value)] element_strides @ elementStrides: *const cuuint32_t,
    #[value] interleave: CUtensorMapInterleave,
    #[value] swizzle: CUtensorMapSwizzle,
    #[value] l2_promotion @ l2Promotion: CUtensorMapL2promotion,
    #[value] oob_fill @ oobFill: CUtensorMapFloatOOBfill,
);

/// Describes columns along the width of an image in memory.
///
/// # Safety
///
/// The address is that of a tensor of these dimensions, as long as kernels use the map; the
/// strides are one fewer than the dimensions.
#[driver(cuTensorMapEncodeIm2colWide, home = none)]
pub unsafe fn tensor_map_encode_im2col_wide(
    #[out] map @ tensorMap: *mut CUtensorMap,
    #[value] data_type @ tensorDataType: CUtensorMapDataType,
    #[from(dimensions.count)] rank @ tensorRank: cuuint32_t,
    #[raw] address @ globalAddress: *mut c_void,
    #[items(rank, value)] dimensions @ globalDim: *const cuuint64_t,
    #[raw] strides @ globalStrides: *const cuuint64_t,
    #[value] lower @ pixelBoxLowerCornerWidth: c_int,
    #[value] upper @ pixelBoxUpperCornerWidth: c_int,
    #[value] channels_per_pixel @ channelsPerPixel: cuuint32_t,
    #[value] pixels_per_column @ pixelsPerColumn: cuuint32_t,
    #[items(rank, value)] element_strides @ elementStrides: *const cuuint32_t,
    #[value] interleave: CUtensorMapInterleave,
    #[value] mode: CUtensorMapIm2ColWideMode,
    #[value] swizzle: CUtensorMapSwizzle,
    #[value] l2_promotion @ l2Promotion: CUtensorMapL2promotion,
    #[value] oob_fill @ oobFill: CUtensorMapFloatOOBfill,
);

/// Gives a tensor map another address.
///
/// # Safety
///
/// The address is that of a tensor of the map's dimensions, as long as kernels use the map.
#[driver(cuTensorMapReplaceAddress, home = none)]
pub unsafe fn tensor_map_replace_address(
    #[record] map @ tensorMap: *mut CUtensorMap,
    #[raw] address @ globalAddress: *mut c_void,
);

/// Says how a tensor map's memory is allocated; answers what it is then.
#[driver(cuTensorMapSetAllocationClass, home = none)]
pub fn tensor_map_set_allocation_class(
    #[record] map @ tensorMap: *mut CUtensorMap,
    #[value] alloc_class @ allocClass: CUtensorMapAllocClass,
    #[out] allocated @ outAllocClass: *mut CUtensorMapAllocClass,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &TENSOR_MAP_ENCODE_TILED,
    &TENSOR_MAP_ENCODE_IM2COL,
    &TENSOR_MAP_ENCODE_IM2COL_WIDE,
    &TENSOR_MAP_REPLACE_ADDRESS,
    &TENSOR_MAP_SET_ALLOCATION_CLASS,
];
