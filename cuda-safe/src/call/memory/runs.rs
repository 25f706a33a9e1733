//! Memory management: allocation, filling and copying of runs of bytes.

use core::ffi::{c_uchar, c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUstream};

/// Allocates device memory; whoever allocates it frees it.
#[driver(cuMemAlloc_v2, home = given)]
pub fn mem_alloc(#[out] memory @ dptr: *mut CUdeviceptr, #[value] size @ bytesize: usize);

/// Allocates device memory for rows; answers the address and how many bytes lie between rows.
#[driver(cuMemAllocPitch_v2, home = given)]
pub fn mem_alloc_pitch(
    #[out] memory @ dptr: *mut CUdeviceptr,
    #[out] pitch @ pPitch: *mut usize,
    #[value] width @ WidthInBytes: usize,
    #[value] height @ Height: usize,
    #[value] element_size @ ElementSizeBytes: c_uint,
);

/// Frees device memory, behind every kernel of the context.
///
/// # Safety
///
/// The address came from [`mem_alloc`] or [`mem_alloc_pitch`], and nothing uses it any more.
#[driver(cuMemFree_v2, home = given)]
pub unsafe fn mem_free(#[raw] memory @ dptr: CUdeviceptr);

/// Allocates page-locked memory; whoever allocates it frees it.
#[driver(cuMemHostAlloc, home = given)]
pub fn mem_host_alloc(
    #[out] memory @ pp: *mut *mut c_void,
    #[value] size @ bytesize: usize,
    #[value] flags @ Flags: c_uint,
);

/// Frees page-locked memory, behind every kernel of the context.
///
/// # Safety
///
/// The address came from [`mem_host_alloc`], and nothing uses it any more.
#[driver(cuMemFreeHost, home = given)]
pub unsafe fn mem_free_host(#[raw] memory @ p: *mut c_void);

/// Asks how many bytes of the device are free, and how many it has.
#[driver(cuMemGetInfo_v2, home = given)]
pub fn mem_get_info(#[out] free: *mut usize, #[out] total: *mut usize);

/// Asks where the allocation that an address lies in begins, and how many bytes it has.
#[driver(cuMemGetAddressRange_v2)]
pub fn mem_get_address_range(
    #[out] base @ pbase: *mut CUdeviceptr,
    #[out] size @ psize: *mut usize,
    #[any(share, bytes(1))] memory @ dptr: CUdeviceptr,
);

/// Fills memory with bytes, in the order of the default stream; may return before it is done.
#[driver(cuMemsetD8_v2, order = default)]
pub fn memset_d8(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ uc: c_uchar,
    #[from(dst.len)] count @ N: usize,
);

/// Fills memory with bytes, in the order of `stream`.
#[driver(cuMemsetD8Async, order = stream)]
pub fn memset_d8_async(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ uc: c_uchar,
    #[from(dst.len)] count @ N: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Fills memory with 32-bit words, in the order of the default stream; may return before it is done.
#[driver(cuMemsetD32_v2, order = default)]
pub fn memset_d32(
    #[device(write, bytes(count * 4), align(4))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ ui: c_uint,
    #[from(dst.len / 4)] count @ N: usize,
);

/// Fills memory with 32-bit words, in the order of `stream`.
#[driver(cuMemsetD32Async, order = stream)]
pub fn memset_d32_async(
    #[device(write, bytes(count * 4), align(4))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ ui: c_uint,
    #[from(dst.len / 4)] count @ N: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies host memory to the device, in the order of the default stream; the source is taken on return.
#[driver(cuMemcpyHtoD_v2, order = default)]
pub fn memcpy_htod(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[host(read, bytes(count), until = call)] src @ srcHost: *const c_void,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies host memory to the device, in the order of `stream`.
#[driver(cuMemcpyHtoDAsync_v2, order = stream)]
pub fn memcpy_htod_async(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[host(read, bytes(count), until = stream)] src @ srcHost: *const c_void,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies device memory to the host, in the order of the default stream; it is done on return.
#[driver(cuMemcpyDtoH_v2, order = default)]
pub fn memcpy_dtoh(
    #[host(write, bytes(count), until = call)] dst @ dstHost: *mut c_void,
    #[device(read, bytes(count))] src @ srcDevice: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies device memory to the host, in the order of `stream`.
#[driver(cuMemcpyDtoHAsync_v2, order = stream)]
pub fn memcpy_dtoh_async(
    #[host(write, bytes(count), until = stream)] dst @ dstHost: *mut c_void,
    #[device(read, bytes(count))] src @ srcDevice: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies device memory to device memory, in the order of the default stream; may return before it is done.
#[driver(cuMemcpyDtoD_v2, order = default)]
pub fn memcpy_dtod(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[device(read, bytes(count))] src @ srcDevice: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies device memory to device memory, in the order of `stream`.
#[driver(cuMemcpyDtoDAsync_v2, order = stream)]
pub fn memcpy_dtod_async(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[device(read, bytes(count))] src @ srcDevice: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEM_ALLOC,
    &MEM_ALLOC_PITCH,
    &MEM_FREE,
    &MEM_HOST_ALLOC,
    &MEM_FREE_HOST,
    &MEM_GET_INFO,
    &MEM_GET_ADDRESS_RANGE,
    &MEMSET_D8,
    &MEMSET_D8_ASYNC,
    &MEMSET_D32,
    &MEMSET_D32_ASYNC,
    &MEMCPY_HTOD,
    &MEMCPY_HTOD_ASYNC,
    &MEMCPY_DTOH,
    &MEMCPY_DTOH_ASYNC,
    &MEMCPY_DTOD,
    &MEMCPY_DTOD_ASYNC,
];
