//! Several devices: their memory, access to each other's, and copies between them.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;

/// Initialises, and retains the primary contexts of that many devices; that of the first is current.
fn contexts<const COUNT: usize>() -> [CUcontext; COUNT] {
    ok!(cuInit(0));
    let mut all = [ptr::null_mut(); COUNT];
    for (device, context) in all.iter_mut().enumerate() {
        ok!(cuDevicePrimaryCtxRetain(context, CUdevice(i32::try_from(device).unwrap_or(0))));
    }
    ok!(cuCtxSetCurrent(all[0]));
    all
}

fn release(count: i32) {
    ok!(cuCtxSetCurrent(ptr::null_mut()));
    for device in 0..count {
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(device)));
    }
}

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    free
}

#[test]
fn each_device_has_its_own_memory() {
    isolated!(Config::new().devices(4).memory(16 << 20), || {
        let all = contexts::<4>();
        let mut held = Vec::new();
        for (index, &context) in all.iter().enumerate() {
            ok!(cuCtxSetCurrent(context));
            assert_eq!(free_bytes(), 16 << 20);
            let memory = alloc(12 << 20);
            let mut more = CUdeviceptr(0);
            assert_eq!(code!(cuMemAlloc_v2(&mut more, 8 << 20)), 2);
            let mut ordinal = 9_i32;
            ok!(cuPointerGetAttribute(
                (&raw mut ordinal).cast(),
                CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                memory
            ));
            assert_eq!(usize::try_from(ordinal), Ok(index));
            held.push(memory);
        }
        for memory in held {
            free(memory);
        }
        for &context in &all {
            ok!(cuCtxSetCurrent(context));
            assert_eq!(free_bytes(), 16 << 20);
        }
        release(4);
    });
}

#[test]
fn access_is_enabled_once_and_disabled_once() {
    isolated!(Config::new().devices(3).no_peer(0, 2), || {
        let [first, second, third] = contexts::<3>();
        let (mut reaches, mut attribute) = (9, 9);
        for (from, to, expected) in [(0, 1, 1), (1, 0, 1), (0, 2, 0), (2, 0, 1)] {
            ok!(cuDeviceCanAccessPeer(&mut reaches, CUdevice(from), CUdevice(to)));
            ok!(cuDeviceGetP2PAttribute(
                &mut attribute,
                CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED,
                CUdevice(from),
                CUdevice(to)
            ));
            assert_eq!((reaches, attribute), (expected, expected), "{from} {to}");
        }
        assert_eq!(code!(cuCtxDisablePeerAccess(second)), 705);
        assert_eq!(code!(cuCtxEnablePeerAccess(second, 1)), 1);
        ok!(cuCtxEnablePeerAccess(second, 0));
        assert_eq!(code!(cuCtxEnablePeerAccess(second, 0)), 704);
        assert_eq!(code!(cuCtxEnablePeerAccess(third, 0)), 217);
        assert_eq!(code!(cuCtxEnablePeerAccess(first, 0)), 217);
        assert_eq!(code!(cuCtxDisablePeerAccess(first)), 705);
        assert_eq!(code!(cuCtxEnablePeerAccess(ptr::null_mut(), 0)), 201);
        ok!(cuCtxDisablePeerAccess(second));
        assert_eq!(code!(cuCtxDisablePeerAccess(second)), 705);
        // A context that comes to life again knows nothing of it.
        ok!(cuCtxEnablePeerAccess(second, 0));
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(1)));
        let mut again = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut again, CUdevice(1)));
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(1)));
        ok!(cuCtxEnablePeerAccess(second, 0));
        release(3);
    });
}

#[test]
fn copies_between_devices_need_no_access() {
    let config = Config::new().devices(2).no_peer(0, 1).no_peer(1, 0);
    on_every_scheduler!(config, || {
        let [first, second] = contexts::<2>();
        let (here, stream) = (alloc(256), stream(1));
        ok!(cuCtxSetCurrent(second));
        let there = alloc(256);
        ok!(cuMemsetD8_v2(there, 3, 256));
        ok!(cuCtxSynchronize());
        ok!(cuCtxSetCurrent(first));
        write(here, &[1; 256]);
        ok!(cuMemcpyPeerAsync(there, second, here, first, 16, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuMemcpyDtoD_v2(at(there, 16), here, 16));
        ok!(cuMemcpy(at(there, 32), here, 16));
        ok!(cuMemcpyPeer(at(here, 16), first, at(there, 64), second, 16));
        let expected = [[1_u8; 48].as_slice(), &[3; 16]].concat();
        assert_eq!(read(there, 64), expected);
        assert_eq!(read(here, 48), [&[1_u8; 16][..], &[3; 16], &[1; 16]].concat());
        assert_eq!(code!(cuMemcpyPeer(here, ptr::null_mut(), there, second, 16)), 201);
        ok!(cuMemcpyPeer(CUdeviceptr(0), first, CUdeviceptr(0), second, 0));
        ok!(cuStreamDestroy_v2(stream));
        free(here);
        free(there);
        release(2);
    });
}

#[test]
fn slices_are_copied_between_devices() {
    isolated!(Config::new().devices(2), || {
        let [first, second] = contexts::<2>();
        let here = alloc(8 * 4 * 2);
        let from: Vec<u8> = (0..64).collect();
        write(here, &from);
        ok!(cuCtxSetCurrent(second));
        let mut shape = CUDA_ARRAY3D_DESCRIPTOR::zeroed();
        (shape.Width, shape.Height, shape.Depth) = (8, 4, 2);
        (shape.Format, shape.NumChannels) = (CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8, 1);
        let mut array = ptr::null_mut();
        ok!(cuArray3DCreate_v2(&mut array, &shape));
        ok!(cuCtxSetCurrent(first));
        let mut copy = CUDA_MEMCPY3D_PEER::zeroed();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        (copy.srcDevice, copy.srcContext, copy.srcPitch, copy.srcHeight) = (here, first, 8, 4);
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        (copy.dstArray, copy.dstContext) = (array, second);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (8, 4, 2);
        ok!(cuMemcpy3DPeer(&copy));
        let mut to = [0_u8; 8];
        let mut back = CUDA_MEMCPY3D_PEER::zeroed();
        back.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        (back.srcArray, back.srcContext, back.srcY, back.srcZ) = (array, second, 3, 1);
        back.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        (back.dstHost, back.dstContext) = (to.as_mut_ptr().cast(), first);
        (back.dstPitch, back.dstHeight) = (8, 1);
        (back.WidthInBytes, back.Height, back.Depth) = (8, 1, 1);
        ok!(cuMemcpy3DPeerAsync(&back, LEGACY));
        assert_eq!(to[..], from[56..]);
        copy.dstContext = ptr::null_mut();
        assert_eq!(code!(cuMemcpy3DPeer(&copy)), 201);
        ok!(cuArrayDestroy(array));
        free(here);
        release(2);
    });
}

#[test]
fn a_copy_without_stream_comes_after_all_work_of_both_contexts() {
    isolated!(Config::new().devices(2)).unchecked().run_on_every_scheduler(3, || {
        let [first, second] = contexts::<2>();
        let (here, mine) = (alloc(64), stream(1));
        ok!(cuMemsetD8Async(here, 5, 64, mine));
        ok!(cuCtxSetCurrent(second));
        let (there, theirs) = (alloc(64), stream(1));
        ok!(cuMemsetD8Async(there, 6, 64, theirs));
        ok!(cuMemcpyPeer(there, second, here, first, 64));
        ok!(cuMemsetD8Async(at(there, 32), 7, 32, theirs));
        ok!(cuStreamSynchronize(theirs));
        assert_eq!(read(there, 64), [[5_u8; 32], [7; 32]].concat());
        let report = cuda_sim::report();
        assert!(report.is_clean(), "{report}");
        // On a stream of its own, nothing orders it.
        ok!(cuMemsetD8Async(there, 6, 64, theirs));
        let other = stream(1);
        ok!(cuMemcpyPeerAsync(there, second, here, first, 64, other));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::Race), 1, "{report}");
    });
}

#[test]
fn a_fill_of_another_device_s_memory_needs_access() {
    isolated!(Config::new().devices(2)).unchecked().run(|| {
        let [first, second] = contexts::<2>();
        ok!(cuCtxSetCurrent(second));
        let there = alloc(64);
        ok!(cuCtxSetCurrent(first));
        ok!(cuCtxEnablePeerAccess(second, 0));
        ok!(cuMemsetD8_v2(there, 1, 64));
        ok!(cuCtxSynchronize());
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        ok!(cuCtxDisablePeerAccess(second));
        assert_eq!(code!(cuMemsetD8_v2(there, 1, 64)), 1);
        assert_eq!(code!(cuMemsetD8Async(there, 1, 64, LEGACY)), 1);
        // Memory of one context under the other's name is found, and reported.
        let here = alloc(64);
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        ok!(cuMemcpyPeer(here, second, there, first, 64));
        assert_eq!(cuda_sim::report().count(FindingKind::WrongContext), 2);
    });
}

#[test]
fn devices_are_found_and_described() {
    isolated!(Config::new(), || {
        ok!(cuInit(0));
        let mut text = [0_i8; 16];
        ok!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 16, CUdevice(0)));
        let mut device = CUdevice(9);
        ok!(cuDeviceGetByPCIBusId(&mut device, text.as_ptr()));
        assert_eq!(device, CUdevice(0));
        assert_eq!(code!(cuDeviceGetByPCIBusId(&mut device, c"nowhere".as_ptr())), 1);
        let (mut major, mut minor) = (0, -1);
        ok!(cuDeviceComputeCapability(&mut major, &mut minor, CUdevice(0)));
        assert!(major >= 7 && minor >= 0, "{major}.{minor}");
        let mut properties = CUdevprop::zeroed();
        ok!(cuDeviceGetProperties(&mut properties, CUdevice(0)));
        assert_eq!((properties.maxThreadsPerBlock, properties.SIMDWidth), (1024, 32));
        assert_eq!(code!(cuDeviceGetProperties(&mut properties, CUdevice(99))), 101);
    });
}

#[test]
fn what_these_devices_lack_is_told() {
    isolated!(Config::new().devices(2), || {
        start();
        let mut value = 9;
        let affinity = CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT;
        ok!(cuDeviceGetExecAffinitySupport(&mut value, affinity, CUdevice(0)));
        assert_eq!(value, 0);
        let target =
            CUflushGPUDirectRDMAWritesTarget::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX;
        let scope = CUflushGPUDirectRDMAWritesScope::CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER;
        assert_eq!(code!(cuFlushGPUDirectRDMAWrites(target, scope)), 801);
        let (mut luid, mut nodes) = ([0_i8; 8], 0);
        assert_eq!(code!(cuDeviceGetLuid(luid.as_mut_ptr(), &mut nodes, CUdevice(0))), 801);
        let mut width = 0;
        let format = CUarray_format::CU_AD_FORMAT_FLOAT;
        ok!(cuDeviceGetTexture1DLinearMaxWidth(&mut width, format, 4, CUdevice(0)));
        assert_eq!(width, 1 << 28);
        let operations = [CUatomicOperation::CU_ATOMIC_OPERATION_CAS];
        let mut capabilities = [9_u32];
        ok!(cuDeviceGetHostAtomicCapabilities(
            capabilities.as_mut_ptr(),
            operations.as_ptr(),
            1,
            CUdevice(0)
        ));
        assert_eq!(capabilities, [0]);
        ok!(cuDeviceGetP2PAtomicCapabilities(
            capabilities.as_mut_ptr(),
            operations.as_ptr(),
            1,
            CUdevice(0),
            CUdevice(1)
        ));
        assert_ne!(capabilities, [0]);
        end();
    });
}

#[test]
fn devices_are_numbered_as_the_program_sees_them() {
    if std::env::var("CUDA_VISIBLE_DEVICES").is_err() && cuda_sim::role().is_none() {
        // The body runs in a process of its own, which inherits this one's environment.
        isolated!(Config::new().devices(3).no_peer(2, 0)).run(|| {
            let mut second = cuda_sim::peer("reordered").unwrap_or_else(|error| panic!("{error}"));
            second.env("CUDA_VISIBLE_DEVICES", "2,0");
            let status = second.status().unwrap_or_else(|error| panic!("{error}"));
            assert!(status.success());
        });
        return;
    }
    isolated!(Config::new().devices(3).no_peer(2, 0)).run(|| {
        ok!(cuInit(0));
        let mut count = 0;
        ok!(cuDeviceGetCount(&mut count));
        assert_eq!(count, 2);
        let (mut text, mut device, mut reaches) = ([0_i8; 16], CUdevice(9), 9);
        ok!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 16, CUdevice(0)));
        assert_eq!(text.map(i8::cast_unsigned)[..12], *b"0000:00:02.0");
        ok!(cuDeviceGetByPCIBusId(&mut device, text.as_ptr()));
        assert_eq!(device, CUdevice(0));
        assert_eq!(code!(cuDeviceGetByPCIBusId(&mut device, c"0000:00:01.0".as_ptr())), 101);
        ok!(cuDeviceCanAccessPeer(&mut reaches, CUdevice(0), CUdevice(1)));
        assert_eq!(reaches, 0);
        ok!(cuDeviceCanAccessPeer(&mut reaches, CUdevice(1), CUdevice(0)));
        assert_eq!(reaches, 1);
    });
}
