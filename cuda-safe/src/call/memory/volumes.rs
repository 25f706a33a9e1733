//! Copying of planes, and of rows at any pitch.

use cuda_codegen::driver;
use cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUstream};

/// Copies rows between any two places, at pitches of any size, in the order of the default stream.
#[driver(cuMemcpy2DUnaligned_v2, order = default)]
pub fn memcpy_2d_unaligned(
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

/// Copies planes of rows between any two places, in the order of the default stream.
#[driver(cuMemcpy3D_v2, order = default)]
pub fn memcpy_3d(
    #[pack(CUDA_MEMCPY3D {
        src: read by srcMemoryType {
            host: srcHost, device: srcDevice, pitch: srcPitch, plane: srcHeight, until = call,
        },
        dst: write by dstMemoryType {
            host: dstHost, device: dstDevice, pitch: dstPitch, plane: dstHeight, until = call,
        },
        extent(WidthInBytes, Height, Depth),
        zero(srcXInBytes, srcY, srcZ, srcLOD, srcArray, reserved0),
        zero(dstXInBytes, dstY, dstZ, dstLOD, dstArray, reserved1),
    })]
    copy @ pCopy: *const CUDA_MEMCPY3D,
);

/// Copies planes of rows between any two places, in the order of `stream`.
#[driver(cuMemcpy3DAsync_v2, order = stream)]
pub fn memcpy_3d_async(
    #[pack(CUDA_MEMCPY3D {
        src: read by srcMemoryType {
            host: srcHost, device: srcDevice, pitch: srcPitch, plane: srcHeight, until = stream,
        },
        dst: write by dstMemoryType {
            host: dstHost, device: dstDevice, pitch: dstPitch, plane: dstHeight, until = stream,
        },
        extent(WidthInBytes, Height, Depth),
        zero(srcXInBytes, srcY, srcZ, srcLOD, srcArray, reserved0),
        zero(dstXInBytes, dstY, dstZ, dstLOD, dstArray, reserved1),
    })]
    copy @ pCopy: *const CUDA_MEMCPY3D,
    #[stream] stream @ hStream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&MEMCPY_2D_UNALIGNED, &MEMCPY_3D, &MEMCPY_3D_ASYNC];
