use std::ptr;

use cuda_sys::*;

use crate::common::*;
use crate::table;

#[test]
fn small_calls() {
    table!("small calls", |rows| {
        start();
        let mut address = CUdeviceptr(0);
        rows.is("cuMemAlloc(0)", code!(cuMemAlloc_v2(&mut address, 0)), 1);
        let nothing = code!(cuMemcpyHtoD_v2(CUdeviceptr(0), ptr::null(), 0));
        rows.is("copy of 0 bytes to null", nothing, 0);
        rows.is("cuMemFree(0)", code!(cuMemFree_v2(CUdeviceptr(0))), 0);
        rows.is("cuMemFreeHost(0)", code!(cuMemFreeHost(ptr::null_mut())), 0);
        rows.is("cuStreamDestroy(0)", code!(cuStreamDestroy_v2(LEGACY)), 400);
        rows.is("cuMemFree of a stray address", code!(cuMemFree_v2(CUdeviceptr(0x1234_5000))), 1);
        let (mut pitched, mut pitch) = (CUdeviceptr(0), 0);
        ok!(cuMemAllocPitch_v2(&mut pitched, &mut pitch, 2304, 4, 4));
        rows.is("cuMemAllocPitch of 2304-byte rows: pitch", pitch, 2560);
        let copy = |width, height, pitch| {
            let mut host = [0_u8; 256];
            let mut copy = CUDA_MEMCPY2D::zeroed();
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = pitched;
            copy.srcPitch = pitch;
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = host.as_mut_ptr().cast();
            copy.dstPitch = width;
            copy.WidthInBytes = width;
            copy.Height = height;
            code!(cuMemcpy2D_v2(&copy))
        };
        rows.is("cuMemcpy2D: width over pitch", copy(100, 2, 64), 1);
        rows.is("cuMemcpy2D: width 0", copy(0, 2, 64), 0);
        rows.is("cuMemcpy2D: height 0", copy(64, 0, 64), 0);
        rows.is("cuMemcpy2D: pitch over MAX_PITCH, height 1", copy(64, 1, 1 << 31), 0);
        free(pitched);
        end();
    });
}
