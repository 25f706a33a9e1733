//! Managed memory: advice, prefetch, and what is asked of ranges.

use core::ffi::{c_uint, c_ulonglong, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUdevice, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUpointer_attribute,
    CUstream,
};

use crate::shim::attribute::{PointerAttribute, RangeAttribute};

/// Says how memory will be used.
#[driver(cuMemAdvise_v2)]
pub fn mem_advise(
    #[device(share, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
    #[value] advice: CUmem_advise,
    #[value] location: CUmemLocation,
);

/// Says how memory will be used; for drivers before CUDA 12.2.
#[driver(cuMemAdvise)]
pub fn mem_advise_v1(
    #[device(share, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
    #[value] advice: CUmem_advise,
    #[handle] device: CUdevice,
);

/// Moves memory to where it will be used, in the order of `stream`.
#[driver(cuMemPrefetchAsync_v2, order = stream)]
pub fn mem_prefetch_async(
    #[device(read, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
    #[value] location: CUmemLocation,
    #[value] flags: c_uint,
    #[stream] stream @ hStream: CUstream,
);

/// Moves memory to a device, in the order of `stream`; for drivers before CUDA 12.2.
#[driver(cuMemPrefetchAsync, order = stream)]
pub fn mem_prefetch_async_v1(
    #[device(read, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
    #[handle] dst_device @ dstDevice: CUdevice,
    #[stream] stream @ hStream: CUstream,
);

/// Moves each memory of a list, in the order of `stream`. The places from a number of `starts`
/// on are those of the memory from there on.
#[driver(cuMemPrefetchBatchAsync, order = stream)]
pub fn mem_prefetch_batch_async(
    #[items(count, device(read, bytes(sizes)))] memory @ dptrs: *mut CUdeviceptr,
    #[items(count, from(memory.len))] sizes: *mut usize,
    #[from(memory.count)] count: usize,
    #[items(num_locations, value)] locations @ prefetchLocs: *mut CUmemLocation,
    #[items(num_locations, value)] starts @ prefetchLocIdxs: *mut usize,
    #[from(locations.count)] num_locations @ numPrefetchLocs: usize,
    #[value] flags: c_ulonglong,
    #[stream] stream @ hStream: CUstream,
);

/// Says that the bytes of each memory of a list are of no use any more, in the order of
/// `stream`.
#[driver(cuMemDiscardBatchAsync, order = stream)]
pub fn mem_discard_batch_async(
    #[items(count, device(write, bytes(sizes)))] memory @ dptrs: *mut CUdeviceptr,
    #[items(count, from(memory.len))] sizes: *mut usize,
    #[from(memory.count)] count: usize,
    #[value] flags: c_ulonglong,
    #[stream] stream @ hStream: CUstream,
);

/// Moves each memory of a list without its bytes, in the order of `stream`.
#[driver(cuMemDiscardAndPrefetchBatchAsync, order = stream)]
pub fn mem_discard_and_prefetch_batch_async(
    #[items(count, device(write, bytes(sizes)))] memory @ dptrs: *mut CUdeviceptr,
    #[items(count, from(memory.len))] sizes: *mut usize,
    #[from(memory.count)] count: usize,
    #[items(num_locations, value)] locations @ prefetchLocs: *mut CUmemLocation,
    #[items(num_locations, value)] starts @ prefetchLocIdxs: *mut usize,
    #[from(locations.count)] num_locations @ numPrefetchLocs: usize,
    #[value] flags: c_ulonglong,
    #[stream] stream @ hStream: CUstream,
);

/// Asks where memory is, summed up over so many bytes.
///
/// # Safety
///
/// The locations have room for one of each summarised part of the memory.
#[driver(cuMemGetLocationInfo)]
pub unsafe fn mem_get_location_info(
    #[device(share, bytes(size))] memory @ ptr: CUdeviceptr,
    #[from(memory.len)] size: usize,
    #[value] summary_granularity @ summaryGranularity: usize,
    #[value] sampling_granularity @ samplingGranularity: usize,
    #[raw] locations @ location_out: *mut CUmemLocation,
);

/// Asks for an attribute of a range: `mem_range_get_attribute::<ReadMostly>(&buffer)`.
#[driver(cuMemRangeGetAttribute)]
pub fn mem_range_get_attribute(
    #[out(attribute)] data: *mut c_void,
    #[from(data.len)] size @ dataSize: usize,
    #[attribute(RangeAttribute)] attribute: CUmem_range_attribute,
    #[device(share, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
);

/// Asks for several attributes of a range at once.
///
/// # Safety
///
/// The data is a list as long as the attributes, each the address of as many bytes as its size
/// says.
#[driver(cuMemRangeGetAttributes)]
pub unsafe fn mem_range_get_attributes(
    #[raw] data: *mut *mut c_void,
    #[raw] sizes @ dataSizes: *mut usize,
    #[items(num_attributes, value)] attributes: *mut CUmem_range_attribute,
    #[from(attributes.count)] num_attributes @ numAttributes: usize,
    #[device(share, bytes(count))] memory @ devPtr: CUdeviceptr,
    #[from(memory.len)] count: usize,
);

/// Asks for several attributes of an address at once.
///
/// # Safety
///
/// The data is a list as long as the attributes, each the address of what its attribute is.
#[driver(cuPointerGetAttributes)]
pub unsafe fn pointer_get_attributes(
    #[from(attributes.count)] num_attributes @ numAttributes: c_uint,
    #[items(num_attributes, value)] attributes: *mut CUpointer_attribute,
    #[raw] data: *mut *mut c_void,
    #[any(share, bytes(1))] memory @ ptr: CUdeviceptr,
);

/// Sets an attribute of an address: `pointer_set_attribute::<SyncMemops>(&buffer, 1)`.
#[driver(cuPointerSetAttribute)]
pub fn pointer_set_attribute(
    #[value(attribute)] value: *const c_void,
    #[attribute(PointerAttribute)] attribute: CUpointer_attribute,
    #[any(share, bytes(1))] memory @ ptr: CUdeviceptr,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEM_ADVISE,
    &MEM_ADVISE_V1,
    &MEM_PREFETCH_ASYNC,
    &MEM_PREFETCH_ASYNC_V1,
    &MEM_PREFETCH_BATCH_ASYNC,
    &MEM_DISCARD_BATCH_ASYNC,
    &MEM_DISCARD_AND_PREFETCH_BATCH_ASYNC,
    &MEM_GET_LOCATION_INFO,
    &MEM_RANGE_GET_ATTRIBUTE,
    &MEM_RANGE_GET_ATTRIBUTES,
    &POINTER_GET_ATTRIBUTES,
    &POINTER_SET_ATTRIBUTE,
];
