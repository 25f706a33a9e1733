//! Fills and copies: their answers, measured on a real driver, and what they write.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, isolated};
use cuda_sys::*;

#[test]
fn past_the_end_is_refused_and_nothing_written() {
    isolated!(Config::new(), || {
        start();
        let (memory, neighbour) = (alloc(4096), alloc(4096));
        ok!(cuMemsetD8_v2(memory, 1, 4096));
        ok!(cuMemsetD8_v2(neighbour, 2, 4096));
        let page = pinned(4096);
        let mut host = vec![9_u8; 3 << 20];
        let bytes: *mut u8 = host.as_mut_ptr();
        for size in [4097, 8192, 3 << 20] {
            assert_eq!(code!(cuMemcpyDtoH_v2(bytes.cast(), memory, size)), 1);
            assert_eq!(code!(cuMemcpyHtoD_v2(memory, bytes.cast(), size)), 1);
            assert_eq!(code!(cuMemcpyDtoHAsync_v2(page.cast(), memory, size, LEGACY)), 1);
            assert_eq!(code!(cuMemcpyHtoDAsync_v2(memory, page.cast(), size, LEGACY)), 1);
            assert_eq!(code!(cuMemsetD8_v2(memory, 3, size)), 1);
            assert_eq!(code!(cuMemsetD8Async(memory, 3, size, LEGACY)), 1);
            assert_eq!(code!(cuMemcpyDtoD_v2(memory, neighbour, size)), 1);
            assert_eq!(code!(cuMemcpyDtoDAsync_v2(neighbour, memory, size, LEGACY)), 1);
            assert_eq!(code!(cuMemcpy(memory, CUdeviceptr(bytes as u64), size)), 1);
        }
        assert_eq!(code!(cuMemsetD32_v2(memory, 3, 1025)), 1);
        assert_eq!(code!(cuMemsetD2D8_v2(memory, 64, 3, 64, 65)), 1);
        assert_eq!(code!(cuMemsetD2D8_v2(memory, 64, 3, 1, 65)), 1);
        // Pinned memory, too long.
        assert_eq!(code!(cuMemcpyHtoD_v2(memory, page.wrapping_add(1).cast(), 4096)), 1);
        // Nothing is there.
        for address in [0, 0x1000] {
            assert_eq!(code!(cuMemsetD8_v2(CUdeviceptr(address), 0, 1)), 1);
            ok!(cuMemsetD8_v2(CUdeviceptr(address), 0, 0));
        }
        assert_eq!(code!(cuMemcpyDtoH_v2(ptr::null_mut(), memory, 1)), 1);
        assert_eq!(read(memory, 4096), [1; 4096]);
        assert_eq!(read(neighbour, 4096), [2; 4096]);
        free(memory);
        free(neighbour);
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

#[test]
fn fills_that_are_misaligned() {
    isolated!(Config::new(), || {
        start();
        let big = alloc(1 << 16);
        assert_eq!(code!(cuMemsetD32_v2(at(big, 1), 1, 4)), 1);
        assert_eq!(code!(cuMemsetD32_v2(at(big, 2), 1, 4)), 1);
        assert_eq!(code!(cuMemsetD32Async(at(big, 1), 1, 4, LEGACY)), 1);
        assert_eq!(code!(cuMemsetD16_v2(at(big, 1), 1, 4)), 1);
        ok!(cuMemsetD32_v2(at(big, 1), 1, 0));
        for pitch in [6, 7, 2, 0] {
            ok!(cuMemsetD2D32_v2(big, pitch, 1, 1, 1));
            assert_eq!(code!(cuMemsetD2D32_v2(big, pitch, 1, 1, 2)), 1);
        }
        ok!(cuMemsetD2D16_v2(big, 3, 1, 1, 1));
        assert_eq!(code!(cuMemsetD2D16_v2(big, 3, 1, 1, 2)), 1);
        ok!(cuMemsetD2D8_v2(big, 3, 1, 4, 1));
        assert_eq!(code!(cuMemsetD2D8_v2(big, 3, 1, 4, 2)), 1);
        ok!(cuMemsetD2D8_v2(big, 3, 1, 3, 2));
        assert_eq!(code!(cuMemsetD2D32_v2(at(big, 1), 8, 1, 1, 1)), 1);
        assert_eq!(code!(cuMemsetD2D32_v2(at(big, 1), 8, 1, 1, 2)), 1);
        ok!(cuMemsetD2D32_v2(big, 8, 1, 2, 2));
        assert_eq!(code!(cuMemsetD2D32_v2(big, 8, 1, 3, 2)), 1);
        ok!(cuMemsetD2D8_v2(big, 3, 1, 0, 2));
        ok!(cuMemsetD2D8_v2(big, 3, 1, 4, 0));
        free(big);
        end();
    });
}

#[test]
fn fills_write_their_elements_only() {
    isolated!(Config::new(), || {
        start();
        let memory = alloc(64);
        ok!(cuMemsetD8_v2(memory, 0, 64));
        ok!(cuMemsetD2D16_v2(at(memory, 2), 8, 0x0201, 2, 3));
        ok!(cuMemsetD32_v2(at(memory, 32), 0x0403_0201, 2));
        let mut expected = [0; 64];
        for row in 0..3 {
            expected[2 + 8 * row..6 + 8 * row].copy_from_slice(&[1, 2, 1, 2]);
        }
        expected[32..40].copy_from_slice(&[1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(read(memory, 64), expected);
        free(memory);
        end();
    });
}

#[test]
fn addresses_decide_and_not_names() {
    isolated!(Config::new(), || {
        start();
        let memory = alloc(4096);
        let page = pinned(4096);
        let unified = CUdeviceptr(page as u64);
        let (mut from, mut to) = ([7_u8; 16], [0_u8; 16]);
        ok!(cuMemcpyHtoD_v2(unified, from.as_ptr().cast(), 16));
        ok!(cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), unified, 16));
        assert_eq!(to, [7; 16]);
        ok!(cuMemsetD8_v2(unified, 5, 16));
        // A device address as the host's operand.
        ok!(cuMemcpyDtoH_v2(as_host(memory), unified, 16));
        assert_eq!(read(memory, 16), [5; 16]);
        ok!(cuMemcpy(
            CUdeviceptr(to.as_mut_ptr().expose_provenance() as u64),
            CUdeviceptr(from.as_mut_ptr().expose_provenance() as u64),
            8
        ));
        assert_eq!(to, [7; 16]);
        // Pageable memory is no device's.
        assert_eq!(code!(cuMemsetD8_v2(CUdeviceptr(to.as_ptr() as u64), 0, 1)), 1);
        // Overlapping copies.
        write(memory, &[1, 2, 3, 4, 5, 6]);
        ok!(cuMemcpyDtoD_v2(at(memory, 1), memory, 5));
        assert_eq!(read(memory, 6), [1, 1, 2, 3, 4, 5]);
        free(memory);
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

#[test]
fn rows_are_copied_in_every_direction() {
    isolated!(Config::new(), || {
        start();
        let (mut padded, mut pitch) = (CUdeviceptr(0), 0);
        ok!(cuMemAllocPitch_v2(&mut padded, &mut pitch, 2304, 8, 4));
        let dense = alloc(2304 * 8);
        let image: Vec<u8> = (0..2304 * 8).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
        let mut copy = CUDA_MEMCPY2D::zeroed();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.srcHost = image.as_ptr().cast();
        copy.srcPitch = 2304;
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = padded;
        copy.dstPitch = pitch;
        copy.WidthInBytes = 2304;
        copy.Height = 8;
        ok!(cuMemcpy2D_v2(&copy));
        let mut inside = CUDA_MEMCPY2D::zeroed();
        inside.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        inside.srcDevice = padded;
        inside.srcPitch = pitch;
        inside.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
        inside.dstDevice = dense;
        inside.dstPitch = 2304;
        inside.WidthInBytes = 2304;
        inside.Height = 8;
        ok!(cuMemcpy2DAsync_v2(&inside, LEGACY));
        assert_eq!(read(dense, 2304 * 8), image);
        // A part of the rows, back to the host.
        let mut part = vec![0; 100 * 3];
        inside.srcXInBytes = 7;
        inside.srcY = 2;
        inside.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        inside.dstHost = part.as_mut_ptr().cast();
        inside.dstPitch = 100;
        inside.WidthInBytes = 100;
        inside.Height = 3;
        ok!(cuMemcpy2DUnaligned_v2(&inside));
        for row in 0..3 {
            let start = (row + 2) * 2304 + 7;
            assert_eq!(part[row * 100..(row + 1) * 100], image[start..start + 100]);
        }
        // Past the end, rows longer than the pitch, no bytes, a great pitch.
        inside.srcY = 6;
        assert_eq!(code!(cuMemcpy2D_v2(&inside)), 1);
        inside.srcY = 0;
        inside.dstPitch = 99;
        assert_eq!(code!(cuMemcpy2D_v2(&inside)), 1);
        inside.Height = 0;
        ok!(cuMemcpy2D_v2(&inside));
        inside.Height = 2;
        inside.WidthInBytes = 0;
        ok!(cuMemcpy2D_v2(&inside));
        inside.WidthInBytes = 5;
        inside.Height = 1;
        inside.srcPitch = 1 << 31;
        ok!(cuMemcpy2D_v2(&inside));
        ok!(cuMemcpy2DUnaligned_v2(&inside));
        free(padded);
        free(dense);
        end();
    });
}

#[test]
fn slices_are_copied() {
    isolated!(Config::new(), || {
        start();
        let memory = alloc(16 * 5 * 4);
        let bytes: Vec<u8> =
            (0..16 * 5 * 4).map(|byte| u8::try_from(byte % 255).unwrap()).collect();
        write(memory, &bytes);
        let mut part = vec![0_u8; 3 * 2 * 2];
        let mut copy = CUDA_MEMCPY3D::zeroed();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = memory;
        copy.srcPitch = 16;
        copy.srcHeight = 5;
        (copy.srcXInBytes, copy.srcY, copy.srcZ) = (4, 1, 2);
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        copy.dstHost = part.as_mut_ptr().cast();
        copy.dstPitch = 3;
        copy.dstHeight = 2;
        (copy.WidthInBytes, copy.Height, copy.Depth) = (3, 2, 2);
        ok!(cuMemcpy3D_v2(&copy));
        let mut expected = Vec::new();
        for z in 2..4 {
            for y in 1..3 {
                expected.extend_from_slice(&bytes[(z * 5 + y) * 16 + 4..][..3]);
            }
        }
        assert_eq!(part, expected);
        copy.srcZ = 3;
        assert_eq!(code!(cuMemcpy3D_v2(&copy)), 1);
        free(memory);
        end();
    });
}
