//! Arrays: their shapes, the copies from and to them, and the objects that show them. All answers
//! are manual.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;

/// Describes an array of 32-bit floats of one channel.
fn shape(width: usize, height: usize, depth: usize, flags: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    let mut descriptor = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
    (descriptor.Width, descriptor.Height, descriptor.Depth) = (width, height, depth);
    descriptor.Format = CUarray_format::CU_AD_FORMAT_FLOAT;
    descriptor.NumChannels = 1;
    descriptor.Flags = flags;
    descriptor
}

fn array(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> CUarray {
    let mut array = ptr::null_mut();
    ok!(cuArray3DCreate_v2(&mut array, descriptor));
    array
}

/// Returns bytes that differ.
fn bytes(count: usize) -> Vec<u8> {
    (0..251).cycle().take(count).collect()
}

#[test]
fn an_array_is_described_as_it_was_made() {
    isolated!(Config::new(), || {
        start();
        let mut made = CUDA_ARRAY_DESCRIPTOR::zeroed();
        (made.Width, made.Height) = (7, 3);
        (made.Format, made.NumChannels) = (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8, 4);
        let mut array = ptr::null_mut();
        ok!(cuArrayCreate_v2(&mut array, &made));
        let (mut flat, mut full) =
            (CUDA_ARRAY_DESCRIPTOR::zeroed(), CUDA_ARRAY3D_DESCRIPTOR::zeroed());
        ok!(cuArrayGetDescriptor_v2(&mut flat, array));
        ok!(cuArray3DGetDescriptor_v2(&mut full, array));
        assert_eq!((flat.Width, flat.Height, flat.NumChannels), (7, 3, 4));
        assert_eq!((full.Width, full.Height, full.Depth, full.Flags), (7, 3, 0, 0));
        ok!(cuArrayDestroy(array));
        for refused in [shape(0, 1, 0, 0), shape(4, 0, 4, 0), shape(4, 4, 4, 1 << 30)] {
            assert_eq!(code!(cuArray3DCreate_v2(&mut array, &refused)), 1);
        }
        let cubemap = shape(4, 5, 6, CUDA_ARRAY3D_CUBEMAP);
        assert_eq!(code!(cuArray3DCreate_v2(&mut array, &cubemap)), 1);
        assert_eq!(code!(cuArrayCreate_v2(&mut array, ptr::null())), 1);
        end();
    });
}

#[test]
fn arrays_take_the_device_s_memory_and_have_no_address() {
    isolated!(Config::new().memory(64 << 20), || {
        start();
        let free = || {
            let (mut free, mut total) = (0, 0);
            ok!(cuMemGetInfo_v2(&mut free, &mut total));
            free
        };
        let before = free();
        let made = array(&shape(1024, 1024, 0, 0));
        assert_eq!(before - free(), 4 << 20);
        let mut other = ptr::null_mut();
        assert_eq!(code!(cuArray3DCreate_v2(&mut other, &shape(4096, 4096, 0, 0))), 2);
        // Not even an allocation beside it tells where it is.
        let memory = alloc(64);
        for address in [at(memory, 2 << 20), CUdeviceptr(memory.0 - (4 << 20))] {
            assert_eq!(code!(cuMemsetD8_v2(address, 0, 1)), 1);
        }
        common::free(memory);
        ok!(cuArrayDestroy(made));
        assert_eq!(free(), before);
        end();
    });
}

#[test]
fn rows_of_one_dimension_are_copied_in_every_direction() {
    on_every_scheduler!(Config::new(), || {
        start();
        let line = shape(16, 0, 0, 0);
        let (first, second, memory, stream) = (array(&line), array(&line), alloc(64), stream(1));
        let from = bytes(64);
        ok!(cuMemcpyHtoA_v2(first, 0, from.as_ptr().cast(), 64));
        ok!(cuMemcpyAtoA_v2(second, 8, first, 4, 56));
        ok!(cuMemcpyAtoD_v2(memory, second, 8, 56));
        assert_eq!(read(memory, 56), from[4..60]);
        ok!(cuMemcpyDtoA_v2(first, 32, memory, 16));
        let mut to = [0_u8; 64];
        ok!(cuMemcpyAtoH_v2(to.as_mut_ptr().cast(), first, 0, 64));
        assert_eq!(to[..32], from[..32]);
        assert_eq!(to[32..48], from[4..20]);
        let page = pinned(64);
        ok!(cuStreamSynchronize(LEGACY));
        ok!(cuMemcpyHtoAAsync_v2(second, 0, from.as_ptr().cast(), 64, stream));
        ok!(cuMemcpyAtoHAsync_v2(page.cast(), second, 0, 64, stream));
        ok!(cuStreamSynchronize(stream));
        // SAFETY: the copy to the page is done.
        assert_eq!(unsafe { std::slice::from_raw_parts(page, 64) }, from);
        // Past the end; parts of elements, and of two dimensions the first row.
        assert_eq!(code!(cuMemcpyHtoA_v2(first, 4, from.as_ptr().cast(), 64)), 1);
        ok!(cuMemcpyHtoA_v2(first, 2, from.as_ptr().cast(), 4));
        ok!(cuMemcpyHtoA_v2(first, 0, from.as_ptr().cast(), 6));
        let flat = array(&shape(16, 2, 0, 0));
        ok!(cuMemcpyHtoA_v2(flat, 0, from.as_ptr().cast(), 64));
        assert_eq!(code!(cuMemcpyHtoA_v2(flat, 4, from.as_ptr().cast(), 64)), 1);
        ok!(cuMemcpyHtoA_v2(first, 999, ptr::null(), 0));
        for array in [first, second, flat] {
            ok!(cuArrayDestroy(array));
        }
        ok!(cuMemFreeHost(page.cast()));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        end();
    });
}

/// Describes a copy of a box between an array and host memory.
fn between(
    array: CUarray,
    host: *mut u8,
    pitch: usize,
    rows: usize,
    upload: bool,
) -> CUDA_MEMCPY3D {
    let mut copy = CUDA_MEMCPY3D::zeroed();
    let (array_type, host_type) =
        (CUmemorytype::CU_MEMORYTYPE_ARRAY, CUmemorytype::CU_MEMORYTYPE_HOST);
    if upload {
        (copy.srcMemoryType, copy.dstMemoryType) = (host_type, array_type);
    } else {
        (copy.srcMemoryType, copy.dstMemoryType) = (array_type, host_type);
    }
    (copy.srcArray, copy.dstArray) = (array, array);
    (copy.srcHost, copy.dstHost) = (host.cast(), host.cast());
    (copy.srcPitch, copy.dstPitch) = (pitch, pitch);
    (copy.srcHeight, copy.dstHeight) = (rows, rows);
    copy
}

#[test]
fn boxes_are_copied_between_arrays_and_memory() {
    on_every_scheduler!(Config::new(), || {
        start();
        let cube = array(&shape(8, 5, 3, 0));
        let mut from = bytes(32 * 5 * 3);
        let mut copy = between(cube, from.as_mut_ptr(), 32, 5, true);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (32, 5, 3);
        ok!(cuMemcpy3D_v2(&copy));
        let mut part = [0_u8; 8 * 2 * 2];
        let mut copy = between(cube, part.as_mut_ptr(), 8, 2, false);
        (copy.srcXInBytes, copy.srcY, copy.srcZ) = (4, 2, 1);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (8, 2, 2);
        ok!(cuMemcpy3D_v2(&copy));
        let mut expected = Vec::new();
        for (z, y) in [(1, 2), (1, 3), (2, 2), (2, 3)] {
            expected.extend_from_slice(&from[(z * 5 + y) * 32 + 4..][..8]);
        }
        assert_eq!(part[..], expected);
        for start in [[28, 2, 1], [4, 4, 1], [4, 2, 2]] {
            [copy.srcXInBytes, copy.srcY, copy.srcZ] = start;
            assert_eq!(code!(cuMemcpy3D_v2(&copy)), 1, "{start:?}");
        }
        // From one array into another, in two dimensions.
        let flat = array(&shape(8, 5, 0, 0));
        let mut inside = CUDA_MEMCPY2D::zeroed();
        inside.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        inside.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        (inside.srcArray, inside.dstArray) = (cube, flat);
        (inside.WidthInBytes, inside.Height) = (32, 4);
        inside.srcY = 1;
        ok!(cuMemcpy2D_v2(&inside));
        let memory = alloc(40 * 4);
        inside.srcArray = flat;
        inside.srcY = 0;
        inside.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        inside.dstDevice = memory;
        inside.dstPitch = 40;
        ok!(cuMemcpy2DAsync_v2(&inside, LEGACY));
        let rows = read(memory, 40 * 4);
        for row in 0..4 {
            assert_eq!(rows[row * 40..][..32], from[(row + 1) * 32..][..32]);
        }
        free(memory);
        ok!(cuArrayDestroy(flat));
        ok!(cuArrayDestroy(cube));
        end();
    });
}

#[test]
fn layers_and_faces_are_slices() {
    isolated!(Config::new(), || {
        start();
        let lines = array(&shape(4, 0, 3, CUDA_ARRAY3D_LAYERED));
        let faces = array(&shape(2, 2, 6, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST));
        let mut from = bytes(96);
        for (array, [width, height, depth]) in [(lines, [16, 1, 3]), (faces, [8, 2, 6])] {
            let mut copy = between(array, from.as_mut_ptr(), width, height, true);
            (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
            ok!(cuMemcpy3D_v2(&copy));
            let mut to = vec![0_u8; width * height];
            let mut copy = between(array, to.as_mut_ptr(), width, height, false);
            copy.srcZ = depth - 1;
            (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, 1);
            ok!(cuMemcpy3D_v2(&copy));
            let start = width * height * (depth - 1);
            assert_eq!(to, from[start..][..width * height]);
            ok!(cuArrayDestroy(array));
        }
        end();
    });
}

#[test]
fn levels_are_arrays_of_half_the_size() {
    isolated!(Config::new(), || {
        start();
        let mut mipmap = ptr::null_mut();
        ok!(cuMipmappedArrayCreate(&mut mipmap, &shape(10, 6, 0, 0), 99));
        let mut sizes = Vec::new();
        let mut level = ptr::null_mut();
        for index in 0..4 {
            ok!(cuMipmappedArrayGetLevel(&mut level, mipmap, index));
            let mut found = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
            ok!(cuArray3DGetDescriptor_v2(&mut found, level));
            sizes.push((found.Width, found.Height));
        }
        assert_eq!(sizes, [(10, 6), (5, 3), (2, 1), (1, 1)]);
        assert_eq!(code!(cuMipmappedArrayGetLevel(&mut level, mipmap, 4)), 1);
        // It goes with the whole (measured).
        ok!(cuArrayDestroy(level));
        let mut plane = ptr::null_mut();
        assert_eq!(code!(cuArrayGetPlane(&mut plane, level, 0)), 1);
        let mut sparse = CUDA_ARRAY_SPARSE_PROPERTIES_v1::zeroed();
        assert_eq!(code!(cuArrayGetSparseProperties(&mut sparse, level)), 1);
        assert_eq!(code!(cuMipmappedArrayGetSparseProperties(&mut sparse, mipmap)), 1);
        ok!(cuMipmappedArrayDestroy(mipmap));
        end();
    });
}

#[test]
fn texture_and_surface_objects_are_kept_as_described() {
    isolated!(Config::new(), || {
        start();
        let made = array(&shape(8, 8, 0, CUDA_ARRAY3D_SURFACE_LDST));
        let plain = array(&shape(8, 8, 0, 0));
        let mut resource = CUDA_RESOURCE_DESC::zeroed();
        resource.res.array.hArray = made;
        let mut texture = CUDA_TEXTURE_DESC::zeroed();
        texture.filterMode = CUfilter_mode::CU_TR_FILTER_MODE_LINEAR;
        texture.flags = CU_TRSF_NORMALIZED_COORDINATES;
        let (mut object, mut surface) = (CUtexObject(0), CUsurfObject(0));
        ok!(cuTexObjectCreate(&mut object, &resource, &texture, ptr::null()));
        let mut found = CUDA_TEXTURE_DESC::zeroed();
        ok!(cuTexObjectGetTextureDesc(&mut found, object));
        assert_eq!((found.filterMode, found.flags), (texture.filterMode, 2));
        let mut shown = CUDA_RESOURCE_DESC::zeroed();
        ok!(cuTexObjectGetResourceDesc(&mut shown, object));
        // SAFETY: the object shows an array.
        assert_eq!(unsafe { shown.res.array.hArray }, made);
        let mut view = CUDA_RESOURCE_VIEW_DESC::zeroed();
        assert_eq!(code!(cuTexObjectGetResourceViewDesc(&mut view, object)), 1);
        ok!(cuSurfObjectCreate(&mut surface, &resource));
        ok!(cuSurfObjectGetResourceDesc(&mut shown, surface));
        // SAFETY: the object shows an array.
        assert_eq!(unsafe { shown.res.array.hArray }, made);
        ok!(cuSurfObjectDestroy(surface));
        ok!(cuTexObjectDestroy(object));
        // Refused: an array not made for it, a flag without meaning, rows that are no multiple.
        resource.res.array.hArray = plain;
        assert_eq!(code!(cuSurfObjectCreate(&mut surface, &resource)), 1);
        texture.flags = 4;
        assert_eq!(code!(cuTexObjectCreate(&mut object, &resource, &texture, ptr::null())), 1);
        texture.flags = 0;
        let memory = alloc(4096);
        resource.resType = CUresourcetype::CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = CUDA_RESOURCE_DESC_v1_res_pitch2D {
            devPtr: memory,
            format: CUarray_format::CU_AD_FORMAT_FLOAT,
            numChannels: 1,
            width: 8,
            height: 4,
            pitchInBytes: 32,
        };
        ok!(cuTexObjectCreate(&mut object, &resource, &texture, ptr::null()));
        ok!(cuTexObjectDestroy(object));
        for (pitch, address) in [(40, memory), (24, memory), (32, at(memory, 256))] {
            resource.res.pitch2D.pitchInBytes = pitch;
            resource.res.pitch2D.devPtr = address;
            assert_eq!(code!(cuTexObjectCreate(&mut object, &resource, &texture, ptr::null())), 1);
        }
        free(memory);
        ok!(cuArrayDestroy(made));
        ok!(cuArrayDestroy(plain));
        end();
    });
}

#[test]
fn copies_of_common_elements_race_and_others_do_not() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(2, || {
        start();
        let (made, memory) = (array(&shape(16, 4, 0, 0)), alloc(256));
        let (left, right) = (stream(1), stream(1));
        let fill = |x: usize, stream| {
            let mut copy = CUDA_MEMCPY2D::zeroed();
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = memory;
            copy.srcPitch = 32;
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            copy.dstArray = made;
            (copy.dstXInBytes, copy.WidthInBytes, copy.Height) = (x, 32, 4);
            ok!(cuMemcpy2DAsync_v2(&copy, stream));
        };
        fill(0, left);
        fill(32, right);
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        fill(28, right);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Race), 1, "{report}");
    });
}

#[test]
fn what_is_destroyed_or_forgotten_is_reported() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let made = array(&shape(16, 0, 0, 0));
        ok!(cuArrayDestroy(made));
        assert_eq!(code!(cuArrayDestroy(made)), 400);
        let from = [0_u8; 4];
        assert_eq!(code!(cuMemcpyHtoA_v2(made, 0, from.as_ptr().cast(), 4)), 400);
        assert_eq!(cuda_sim::report().count(FindingKind::StaleHandle), 2);
        let forgotten = array(&shape(16, 2, 0, 0));
        let mut mipmap = ptr::null_mut();
        ok!(cuMipmappedArrayCreate(&mut mipmap, &shape(8, 8, 0, 0), 4));
        let mut resource = CUDA_RESOURCE_DESC::zeroed();
        resource.res.array.hArray = forgotten;
        let (mut object, texture) = (CUtexObject(0), CUDA_TEXTURE_DESC::zeroed());
        ok!(cuTexObjectCreate(&mut object, &resource, &texture, ptr::null()));
        let report = cuda_sim::finish();
        for call in ["cuArray3DCreate_v2", "cuMipmappedArrayCreate", "cuTexObjectCreate"] {
            let leaks = report
                .findings
                .iter()
                .filter(|finding| finding.kind == FindingKind::Leak && finding.later.call == call);
            assert_eq!(leaks.count(), 1, "{call}: {report}");
        }
        // The context takes them along.
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 0);
    });
}
