//! Copies to, from and between arrays. How far an array reaches is the caller's word.

use core::ffi::c_void;

use cuda_codegen::driver;
use cuda_sys::{CUarray, CUdeviceptr, CUstream};

/// Copies from array to array, in the order of the default stream.
///
/// # Safety
///
/// The bytes lie in both arrays, and nothing else uses what is written.
#[driver(cuMemcpyAtoA_v2, home = handle)]
pub unsafe fn memcpy_atoa(
    #[handle] dst_array @ dstArray: CUarray,
    #[raw] dst_offset @ dstOffset: usize,
    #[handle] src_array @ srcArray: CUarray,
    #[value] src_offset @ srcOffset: usize,
    #[value] count @ ByteCount: usize,
);

/// Copies from an array to device memory, in the order of the default stream.
///
/// # Safety
///
/// The bytes lie in the array.
#[driver(cuMemcpyAtoD_v2, order = default)]
pub unsafe fn memcpy_atod(
    #[device(write, bytes(count))] dst @ dstDevice: CUdeviceptr,
    #[handle] src_array @ srcArray: CUarray,
    #[raw] src_offset @ srcOffset: usize,
    #[from(dst.len)] count @ ByteCount: usize,
);

/// Copies from device memory to an array, in the order of the default stream.
///
/// # Safety
///
/// The bytes lie in the array, and nothing else uses them there.
#[driver(cuMemcpyDtoA_v2, order = default)]
pub unsafe fn memcpy_dtoa(
    #[handle] dst_array @ dstArray: CUarray,
    #[raw] dst_offset @ dstOffset: usize,
    #[device(read, bytes(count))] src @ srcDevice: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies from an array to host memory, in the order of the default stream.
///
/// # Safety
///
/// The bytes lie in the array.
#[driver(cuMemcpyAtoH_v2, order = default, home = handle)]
pub unsafe fn memcpy_atoh(
    #[host(write, bytes(count), until = call)] dst @ dstHost: *mut c_void,
    #[handle] src_array @ srcArray: CUarray,
    #[raw] src_offset @ srcOffset: usize,
    #[from(dst.len)] count @ ByteCount: usize,
);

/// Copies from an array to host memory, in the order of `stream`.
///
/// # Safety
///
/// The bytes lie in the array.
#[driver(cuMemcpyAtoHAsync_v2, order = stream)]
pub unsafe fn memcpy_atoh_async(
    #[host(write, bytes(count), until = stream)] dst @ dstHost: *mut c_void,
    #[handle] src_array @ srcArray: CUarray,
    #[raw] src_offset @ srcOffset: usize,
    #[from(dst.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies from host memory to an array, in the order of the default stream.
///
/// # Safety
///
/// The bytes lie in the array, and nothing else uses them there.
#[driver(cuMemcpyHtoA_v2, order = default, home = handle)]
pub unsafe fn memcpy_htoa(
    #[handle] dst_array @ dstArray: CUarray,
    #[raw] dst_offset @ dstOffset: usize,
    #[host(read, bytes(count), until = call)] src @ srcHost: *const c_void,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies from host memory to an array, in the order of `stream`.
///
/// # Safety
///
/// The bytes lie in the array, and nothing else uses them there until the stream has passed.
#[driver(cuMemcpyHtoAAsync_v2, order = stream)]
pub unsafe fn memcpy_htoa_async(
    #[handle] dst_array @ dstArray: CUarray,
    #[raw] dst_offset @ dstOffset: usize,
    #[host(read, bytes(count), until = stream)] src @ srcHost: *const c_void,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEMCPY_ATOA,
    &MEMCPY_ATOD,
    &MEMCPY_DTOA,
    &MEMCPY_ATOH,
    &MEMCPY_ATOH_ASYNC,
    &MEMCPY_HTOA,
    &MEMCPY_HTOA_ASYNC,
];
