//! Memory management: filling and copying of rows.

use core::ffi::{c_uchar, c_uint};

use cuda_codegen::driver;
use cuda_sys::{CUDA_MEMCPY2D, CUdeviceptr, CUstream};

/// Fills rows with bytes, in the order of the default stream; may return before it is done.
#[driver(cuMemsetD2D8_v2, order = default)]
pub fn memset_d2d8(
    #[device(write, rows(pitch, width, height))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ uc: c_uchar,
    #[from(dst.width)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
);

/// Fills rows with bytes, in the order of `stream`.
#[driver(cuMemsetD2D8Async, order = stream)]
pub fn memset_d2d8_async(
    #[device(write, rows(pitch, width, height))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ uc: c_uchar,
    #[from(dst.width)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Fills rows with 32-bit words, in the order of the default stream; may return before it is done.
#[driver(cuMemsetD2D32_v2, order = default)]
pub fn memset_d2d32(
    #[device(write, rows(pitch, width * 4, height), align(4))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ ui: c_uint,
    #[from(dst.width / 4)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
);

/// Fills rows with 32-bit words, in the order of `stream`.
#[driver(cuMemsetD2D32Async, order = stream)]
pub fn memset_d2d32_async(
    #[device(write, rows(pitch, width * 4, height), align(4))] dst @ dstDevice: CUdeviceptr,
    #[from(dst.pitch)] pitch @ dstPitch: usize,
    #[value] word @ ui: c_uint,
    #[from(dst.width / 4)] width @ Width: usize,
    #[from(dst.height)] height @ Height: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies rows between any two places, in the order of the default stream.
#[driver(cuMemcpy2D_v2, order = default)]
pub fn memcpy_2d(
    #[pack(CUDA_MEMCPY2D {
        src: read by srcMemoryType {
            host: srcHost, device: srcDevice, pitch: srcPitch, until = call,
        },
        dst: write by dstMemoryType {
            host: dstHost, device: dstDevice, pitch: dstPitch, until = call,
        },
        extent(WidthInBytes, Height),
        zero(srcXInBytes, srcY, srcArray, dstXInBytes, dstY, dstArray),
    })]
    copy @ pCopy: *const CUDA_MEMCPY2D,
);

/// Copies rows between any two places, in the order of `stream`.
#[driver(cuMemcpy2DAsync_v2, order = stream)]
pub fn memcpy_2d_async(
    #[pack(CUDA_MEMCPY2D {
        src: read by srcMemoryType {
            host: srcHost, device: srcDevice, pitch: srcPitch, until = stream,
        },
        dst: write by dstMemoryType {
            host: dstHost, device: dstDevice, pitch: dstPitch, until = stream,
        },
        extent(WidthInBytes, Height),
        zero(srcXInBytes, srcY, srcArray, dstXInBytes, dstY, dstArray),
    })]
    copy @ pCopy: *const CUDA_MEMCPY2D,
    #[stream] stream @ hStream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEMSET_D2D8,
    &MEMSET_D2D8_ASYNC,
    &MEMSET_D2D32,
    &MEMSET_D2D32_ASYNC,
    &MEMCPY_2D,
    &MEMCPY_2D_ASYNC,
];
