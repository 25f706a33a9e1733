//! Each feature, on a machine of which the first device has it and the second lacks it: the device's
//! attribute says so, and the calls that need it answer so.

mod common;
mod mapped;

use std::ffi::c_void;
use std::ptr;

use common::*;
use cuda_sim::{Config, Feature, isolated, kernel};
use cuda_sys::*;

/// Asks a device of a feature for its attribute, and a program for the answer of the call that needs
/// it; the program gives back what it was given.
fn check(asked: CUdevice_attribute, program: fn(CUdevice) -> u32, refusal: u32) {
    ok!(cuInit(0));
    for (ordinal, attribute, answer) in [(0, 1, 0), (1, 0, refusal)] {
        let (device, mut context, mut value) = (CUdevice(ordinal), ptr::null_mut(), 9);
        ok!(cuDevicePrimaryCtxRetain(&mut context, device));
        ok!(cuCtxSetCurrent(context));
        ok!(cuDeviceGetAttribute(&mut value, asked, device));
        assert_eq!((value, program(device)), (attribute, answer), "device {ordinal}");
        ok!(cuCtxSynchronize());
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        ok!(cuDevicePrimaryCtxRelease_v2(device));
    }
}

/// Makes the test of each feature, and lists the features that have one.
macro_rules! features {
    ($($feature:ident: $attribute:ident, $refusal:literal, $program:expr;)*) => {
        const TESTED: &[Feature] = &[$(Feature::$feature),*];

        $(
            #[expect(non_snake_case, reason = "a feature's test has its name")]
            mod $feature {
                use super::*;

                #[test]
                fn is_there_and_can_be_taken_away() {
                    let config = Config::new().devices(2).device_without(1, Feature::$feature);
                    isolated!(config, || {
                        check(CUdevice_attribute::$attribute, $program, $refusal);
                    });
                }
            }
        )*
    };
}

features! {
    MemoryPools: CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 801, |_| {
        let mut memory = CUdeviceptr(0);
        let answer = code!(cuMemAllocAsync(&mut memory, 64, LEGACY));
        if answer == 0 {
            ok!(cuMemFreeAsync(memory, LEGACY));
        }
        answer
    };
    Ipc: CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 801, |_| {
        let (memory, mut event) = (alloc(64), ptr::null_mut());
        let answer = code!(cuEventCreate(&mut event, 6));
        assert_eq!(code!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), memory)), answer);
        if answer == 0 {
            ok!(cuEventDestroy_v2(event));
        }
        free(memory);
        answer
    };
    UnifiedAddressing: CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1, |_| {
        let (memory, other) = (alloc(64), alloc(64));
        let answer = code!(cuMemcpy(memory, other, 64));
        ok!(cuMemcpyDtoD_v2(memory, other, 64));
        free(memory);
        free(other);
        answer
    };
    HostRegister: CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 801, |_| {
        let mut bytes = vec![0_u8; 4096];
        let memory: *mut c_void = bytes.as_mut_ptr().cast();
        let answer = code!(cuMemHostRegister_v2(memory, 4096, 0));
        if answer == 0 {
            ok!(cuMemHostUnregister(memory));
        }
        answer
    };
    HostPointerForRegisteredMemory:
        CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1, |_| {
        let (mut bytes, memory) = (vec![0_u8; 4096], alloc(64));
        let host: *mut u8 = bytes.as_mut_ptr();
        ok!(cuMemHostRegister_v2(host.cast(), 4096, 0));
        // As if it were the device's.
        let address = CUdeviceptr(host.expose_provenance() as u64);
        let answer = code!(cuMemcpyDtoD_v2(memory, address, 64));
        ok!(cuMemHostUnregister(host.cast()));
        free(memory);
        answer
    };
    VirtualMemory: CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 801, |device| {
        physical(device, 0)
    };
    FileDescriptors: CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 801, |device| {
        // Memory for this process alone needs none.
        assert_eq!(physical(device, 0), 0);
        let mut wanted = CUmemPoolProps::zeroed();
        wanted.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        wanted.location = CUmemLocation::device(device.0);
        wanted.handleTypes = CUmemAllocationHandleType(1);
        let mut pool = ptr::null_mut();
        let answer = code!(cuMemPoolCreate(&mut pool, &wanted));
        if answer == 0 {
            ok!(cuMemPoolDestroy(pool));
        }
        assert_eq!(physical(device, 1), answer);
        let (mut types, asked) =
            (0, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES);
        ok!(cuDeviceGetAttribute(&mut types, asked, device));
        assert_eq!(types & 1 == 1, answer == 0);
        answer
    };
    ManagedMemory: CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 801, |_| {
        let mut memory = CUdeviceptr(0);
        let answer = code!(cuMemAllocManaged(&mut memory, 64, 1));
        if answer == 0 {
            free(memory);
        }
        answer
    };
    ConcurrentManagedAccess: CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 101, |device| {
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocManaged(&mut memory, 64, 1));
        let answer = code!(cuMemPrefetchAsync(memory, 64, device, LEGACY));
        ok!(cuCtxSynchronize());
        free(memory);
        answer
    };
    CooperativeLaunch: CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 801, |_| {
        kernel::register("nothing", |_| Ok(()));
        let module = module(".entry nothing() { }");
        let f = function(module, c"nothing");
        let answer =
            code!(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, LEGACY, ptr::null_mut()));
        assert_eq!(launch(f, [1, 1], LEGACY, &[]), 0);
        ok!(cuCtxSynchronize());
        ok!(cuModuleUnload(module));
        answer
    };
}

/// Makes physical memory with handles of that type, and gives it back.
fn physical(device: CUdevice, types: u32) -> u32 {
    let mut wanted = mapped::wanted(types);
    wanted.location = CUmemLocation::device(device.0);
    let mut handle = CUmemGenericAllocationHandle(0);
    let answer = code!(cuMemCreate(&mut handle, mapped::PAGE, &wanted, 0));
    if answer == 0 {
        ok!(cuMemRelease(handle));
    }
    answer
}

#[test]
fn every_feature_has_its_test() {
    let missing: Vec<_> = Feature::ALL.iter().filter(|it| !TESTED.contains(it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_configuration_s_text_names_every_feature() {
    for &feature in Feature::ALL {
        let config = Config::new().without(feature);
        let text = config.to_text();
        assert!(text.contains(feature.name()), "{text}");
        assert_eq!(Config::from_text(&text), Ok(config));
    }
}

#[test]
fn who_reaches_whom_of_three_devices_is_a_matrix() {
    let config = Config::new().devices(3).no_peer(0, 1).no_peer(1, 2).no_peer(2, 0).no_peer(2, 1);
    isolated!(config, || {
        const REACHES: [[i32; 3]; 3] = [[0, 0, 1], [1, 0, 0], [0, 0, 0]];
        ok!(cuInit(0));
        let mut contexts = [ptr::null_mut(); 3];
        for (device, context) in (0..).zip(&mut contexts) {
            ok!(cuDevicePrimaryCtxRetain(context, CUdevice(device)));
        }
        for (from, (row, own)) in (0..).zip(REACHES.iter().zip(contexts)) {
            for (to, (&expected, peer)) in (0..).zip(row.iter().zip(contexts)) {
                let (mut reaches, mut attribute) = (9, 9);
                let (one, other) = (CUdevice(from), CUdevice(to));
                ok!(cuDeviceCanAccessPeer(&mut reaches, one, other));
                assert_eq!(reaches, expected, "{from} to {to}");
                if from == to {
                    continue;
                }
                let asked = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
                ok!(cuDeviceGetP2PAttribute(&mut attribute, asked, one, other));
                assert_eq!(attribute, expected, "{from} to {to}");
                ok!(cuCtxSetCurrent(own));
                let answer = if expected == 1 { 0 } else { 217 };
                assert_eq!(code!(cuCtxEnablePeerAccess(peer, 0)), answer, "{from} to {to}");
            }
        }
        // A kernel of each device writes memory of each other, as far as it may.
        kernel::register("one", |launch| launch.write(launch.pointer(0)?, 0, 7_u8));
        ok!(cuCtxSetCurrent(contexts[2]));
        let memory = alloc(64);
        ok!(cuCtxSetCurrent(contexts[0]));
        let loaded = module(".entry one(.param .u64 p) { }");
        assert_eq!(launch(function(loaded, c"one"), [1, 1], LEGACY, &[parameter(&memory)]), 0);
        ok!(cuCtxSynchronize());
        assert_eq!(read(memory, 1), [7]);
        ok!(cuModuleUnload(loaded));
        free(memory);
        ok!(cuCtxSetCurrent(ptr::null_mut()));
        for device in 0..3 {
            ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(device)));
        }
    });
}
