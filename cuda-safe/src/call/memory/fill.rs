//! Filling of 16-bit words.

use core::ffi::c_ushort;

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUstream};

/// Fills memory with 16-bit words, in the order of the default stream; may return before it is
/// done.
#[driver(cuMemsetD16_v2, order = default)]
pub fn memset_d16(
    #[device(write, bytes(count * 2), align(2))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ us: c_ushort,
    #[from(dst.len / 2)] count @ N: usize,
);

/// Fills memory with 16-bit words, in the order of `stream`.
#[driver(cuMemsetD16Async, order = stream)]
pub fn memset_d16_async(
    #[device(write, bytes(count * 2), align(2))] dst @ dstDevice: CUdeviceptr,
    #[value] word @ us: c_ushort,
    #[from(dst.len / 2)] count @ N: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Fills rows with 16-bit words, in the order of the default stream; may return before it is
/// done.
#[driver(cuMemsetD2D16_v2, order = default)]
pub fn memset_d2d16(
    #[device(write, rows(pitch, width * 2, height), align(2))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ us: c_ushort,
    #[from(dst.width / 2)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
);

/// Fills rows with 16-bit words, in the order of `stream`.
#[driver(cuMemsetD2D16Async, order = stream)]
pub fn memset_d2d16_async(
    #[device(write, rows(pitch, width * 2, height), align(2))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ us: c_ushort,
    #[from(dst.width / 2)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&MEMSET_D16, &MEMSET_D16_ASYNC, &MEMSET_D2D16, &MEMSET_D2D16_ASYNC];
