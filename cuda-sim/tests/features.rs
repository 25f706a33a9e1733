//! Devices that lack something: the calls answer as a driver that never had it.

mod common;

use std::ffi::c_void;

use common::*;
use cuda_sim::{Config, Feature, isolated, on_every_scheduler};
use cuda_sys::*;

fn attribute(attribute: CUdevice_attribute) -> i32 {
    let mut value = 9;
    ok!(cuDeviceGetAttribute(&mut value, attribute, CUdevice(0)));
    value
}

#[test]
fn registration_may_be_missing() {
    isolated!(Config::new().without(Feature::HostRegister), || {
        start();
        let mut bytes = vec![0_u8; 4096];
        let memory: *mut c_void = bytes.as_mut_ptr().cast();
        assert_eq!(code!(cuMemHostRegister_v2(memory, 4096, 0)), 801);
        assert_eq!(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED), 0);
        ok!(cuMemFreeHost(pinned(64).cast()));
        end();
    });
}

#[test]
fn handles_for_other_processes_may_be_missing() {
    isolated!(Config::new().without(Feature::Ipc), || {
        start();
        let memory = alloc(64);
        assert_eq!(code!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), memory)), 801);
        let mut opened = CUdeviceptr(0);
        assert_eq!(code!(cuIpcOpenMemHandle_v2(&mut opened, CUipcMemHandle::zeroed(), 1)), 801);
        assert_eq!(code!(cuIpcCloseMemHandle(memory)), 801);
        assert_eq!(code!(cuEventCreate(&mut std::ptr::null_mut(), 6)), 801);
        assert_eq!(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED), 0);
        free(memory);
        end();
    });
}

#[test]
fn registered_memory_may_have_another_address_on_the_device() {
    let config = Config::new().without(Feature::HostPointerForRegisteredMemory);
    on_every_scheduler!(config, || {
        start();
        let mut bytes = vec![7_u8; 8192];
        let host: *mut u8 = bytes.as_mut_ptr();
        let host_address = CUdeviceptr(host.expose_provenance() as u64);
        ok!(cuMemHostRegister_v2(host.cast(), 8192, 0));
        let (mut device, mut inside) = (CUdeviceptr(0), CUdeviceptr(0));
        ok!(cuMemHostGetDevicePointer_v2(&mut device, host.cast(), 0));
        ok!(cuMemHostGetDevicePointer_v2(&mut inside, host.wrapping_add(100).cast(), 0));
        assert_ne!(device, host_address);
        assert_eq!(inside, at(device, 100));
        // Both addresses are the same bytes; as a device's, only the device's is one.
        let memory = alloc(8192);
        ok!(cuMemcpyDtoD_v2(memory, device, 8192));
        assert_eq!(read(memory, 8192), [7; 8192]);
        ok!(cuMemsetD8_v2(inside, 9, 16));
        ok!(cuCtxSynchronize());
        assert_eq!((bytes[99], bytes[100], bytes[115], bytes[116]), (7, 9, 9, 7));
        assert_eq!(code!(cuMemsetD8_v2(host_address, 9, 16)), 1);
        assert_eq!(code!(cuMemsetD8_v2(at(device, 8191), 9, 2)), 1);
        ok!(cuMemcpyHtoD_v2(memory, host.cast(), 16));
        let (mut found, mut kind) = (0_u64, 0_u32);
        let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
        ok!(cuPointerGetAttribute((&raw mut found).cast(), asked, host_address));
        assert_eq!(found, device.0);
        let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_HOST_POINTER;
        ok!(cuPointerGetAttribute((&raw mut found).cast(), asked, inside));
        assert_eq!(found, host_address.0 + 100);
        let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        ok!(cuPointerGetAttribute((&raw mut kind).cast(), asked, inside));
        assert_eq!(kind, 1);
        ok!(cuMemHostUnregister(host.cast()));
        assert_eq!(code!(cuMemsetD8_v2(device, 9, 16)), 1);
        // Allocated memory has one address.
        let page = pinned(64);
        ok!(cuMemHostGetDevicePointer_v2(&mut device, page.cast(), 0));
        assert_eq!(device.0, page as u64);
        ok!(cuMemFreeHost(page.cast()));
        free(memory);
        end();
    });
}

#[test]
fn addresses_may_not_tell_whose_they_are() {
    isolated!(Config::new().without(Feature::UnifiedAddressing), || {
        start();
        let (memory, other) = (alloc(64), alloc(64));
        let mut bytes = [3_u8; 64];
        let pageable = CUdeviceptr(bytes.as_mut_ptr().expose_provenance() as u64);
        assert_eq!(code!(cuMemcpy(memory, other, 64)), 1);
        assert_eq!(code!(cuMemcpy(memory, pageable, 64)), 1);
        assert_eq!(code!(cuMemcpyDtoH_v2(as_host(memory), other, 64)), 1);
        ok!(cuMemcpyHtoD_v2(memory, bytes.as_ptr().cast(), 64));
        ok!(cuMemcpyDtoD_v2(other, memory, 64));
        assert_eq!(read(other, 64), [3; 64]);
        let mut value = 9_u32;
        let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        assert_eq!(code!(cuPointerGetAttribute((&raw mut value).cast(), asked, memory)), 1);
        let mut copy = CUDA_MEMCPY2D::zeroed();
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
        copy.srcDevice = memory;
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = other;
        (copy.srcPitch, copy.dstPitch) = (8, 8);
        (copy.WidthInBytes, copy.Height) = (8, 2);
        assert_eq!(code!(cuMemcpy2D_v2(&copy)), 1);
        copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        ok!(cuMemcpy2D_v2(&copy));
        // Host memory has another address on the device, if it was made to have one.
        let (mut page, mut device) = (std::ptr::null_mut(), CUdeviceptr(0));
        ok!(cuMemHostAlloc(&mut page, 64, CU_MEMHOSTALLOC_DEVICEMAP));
        ok!(cuMemHostGetDevicePointer_v2(&mut device, page, 0));
        assert_ne!(device.0, page.addr() as u64);
        ok!(cuMemsetD8_v2(device, 4, 64));
        // SAFETY: the fill of host memory is done on return.
        assert_eq!(unsafe { std::slice::from_raw_parts(page.cast::<u8>(), 64) }, [4; 64]);
        let unmapped = pinned(64);
        assert_eq!(code!(cuMemHostGetDevicePointer_v2(&mut device, unmapped.cast(), 0)), 1);
        ok!(cuMemFreeHost(page));
        ok!(cuMemFreeHost(unmapped.cast()));
        free(memory);
        free(other);
        end();
    });
}
