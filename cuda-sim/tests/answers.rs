//! The answers that were measured on a real driver, row by row.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, isolated};
use cuda_sys::*;

#[test]
fn calls_before_initialisation() {
    isolated!(Config::new(), || {
        let mut number = 0;
        assert_eq!(code!(cuDeviceGetCount(&mut number)), 3);
        assert_eq!(code!(cuInit(1)), 1);
        ok!(cuDriverGetVersion(&mut number));
        assert_eq!(number, 13000);
        ok!(cuInit(0));
        ok!(cuDeviceGetCount(&mut number));
        assert_eq!(number, 1);
        let mut device = CUdevice(9);
        assert_eq!(code!(cuDeviceGet(&mut device, 1)), 101);
        ok!(cuDeviceGet(&mut device, 0));
        let mut address = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 4)), 201);
        let mut context = ptr::dangling_mut();
        ok!(cuCtxGetCurrent(&mut context));
        assert!(context.is_null());
    });
}

#[test]
fn devices_are_as_configured() {
    isolated!(Config::new().devices(2).memory(3 << 30), || {
        let mut context = start();
        let (mut count, mut bytes, mut value) = (0, 0, 0);
        ok!(cuDeviceGetCount(&mut count));
        ok!(cuDeviceTotalMem_v2(&mut bytes, CUdevice(1)));
        assert_eq!((count, bytes), (2, 3 << 30));
        ok!(cuDeviceGetAttribute(
            &mut value,
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH,
            CUdevice(0)
        ));
        assert_eq!(value, 2_147_483_647);
        assert_eq!(
            code!(cuDeviceGetAttribute(&mut value, CUdevice_attribute(9999), CUdevice(0))),
            1
        );
        let (mut first, mut second) = (CUuuid::zeroed(), CUuuid::zeroed());
        ok!(cuDeviceGetUuid_v2(&mut first, CUdevice(0)));
        ok!(cuDeviceGetUuid(&mut second, CUdevice(1)));
        assert_ne!(first.bytes, second.bytes);
        let mut name = [1_i8; 8];
        ok!(cuDeviceGetName(name.as_mut_ptr(), 8, CUdevice(0)));
        assert_eq!(name.map(i8::cast_unsigned), *b"Simulat\0");
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        assert_eq!((free, total), (3 << 30, 3 << 30));
        ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(1)));
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(1)));
        end();
    });
}

#[test]
fn error_texts() {
    isolated!(Config::new(), || {
        let mut text = ptr::null();
        ok!(cuGetErrorName(CUresult::CUDA_ERROR_INVALID_HANDLE, &mut text));
        assert_eq!(CUresult(400).name(), Some(c"CUDA_ERROR_INVALID_HANDLE"));
        assert_eq!(CUresult(2).description(), Some(c"out of memory"));
        assert_eq!(code!(cuGetErrorName(CUresult(12345), &mut text)), 1);
        assert!(text.is_null());
        assert_eq!(code!(cuGetErrorString(CUresult(12345), &mut text)), 1);
    });
}

#[test]
fn small_calls() {
    isolated!(Config::new(), || {
        start();
        let mut address = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 0)), 1);
        ok!(cuMemcpyHtoD_v2(CUdeviceptr(0), ptr::null(), 0));
        ok!(cuMemcpyDtoH_v2(ptr::null_mut(), CUdeviceptr(0), 0));
        ok!(cuMemFree_v2(CUdeviceptr(0)));
        ok!(cuMemFreeHost(ptr::null_mut()));
        assert_eq!(code!(cuStreamDestroy_v2(LEGACY)), 400);
        assert_eq!(code!(cuMemFree_v2(CUdeviceptr(0x1234_5000))), 1);
        let (mut size, mut base) = (0, CUdeviceptr(0));
        assert_eq!(code!(cuMemGetAddressRange_v2(&mut base, &mut size, CUdeviceptr(4096))), 500);
        // Functions that are not simulated exist, and say so.
        let mut reference = ptr::null_mut();
        assert_eq!(code!(cuTexRefCreate(&mut reference)), 801);
        end();
    });
}

#[test]
fn small_allocations_lie_back_to_back() {
    isolated!(Config::new(), || {
        start();
        let (first, second) = (alloc(4096), alloc(4096));
        assert_eq!(second.0 - first.0, 4096);
        let (mut base, mut size) = (CUdeviceptr(0), 0);
        ok!(cuMemGetAddressRange_v2(&mut base, &mut size, at(second, 100)));
        assert_eq!((base, size), (second, 4096));
        // A freed address is handed out again, and what lay there still does.
        ok!(cuMemsetD8_v2(first, 0x5A, 4096));
        free(first);
        let again = alloc(4096);
        assert_eq!((again, read(again, 4096)), (first, vec![0x5A; 4096]));
        // Fresh memory is junk.
        let large = alloc(3 << 20);
        assert_eq!(read(large, 1 << 20), vec![0xA5; 1 << 20]);
        let (mut pitched, mut pitch) = (CUdeviceptr(0), 0);
        ok!(cuMemAllocPitch_v2(&mut pitched, &mut pitch, 2304, 576, 4));
        assert_eq!(pitch, 2560);
        assert_eq!(code!(cuMemAllocPitch_v2(&mut pitched, &mut pitch, 2304, 576, 5)), 1);
        for address in [second, again, large, pitched] {
            free(address);
        }
        let (mut left, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut left, &mut total));
        assert_eq!(left, total);
        end();
    });
}

#[test]
fn a_device_has_only_so_much_memory() {
    isolated!(Config::new().memory(8 << 20), || {
        start();
        let mut address = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 9 << 20)), 2);
        let half = alloc(4 << 20);
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 5 << 20)), 2);
        free(half);
        free(alloc(8 << 20));
        assert_eq!(code!(cuMemAlloc_v2(&mut address, usize::MAX)), 2);
        end();
    });
}

#[test]
fn frees_of_what_is_none() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (memory, neighbour) = (alloc(4096), alloc(4096));
        let page = pinned(4096);
        assert_eq!(code!(cuMemFree_v2(at(memory, 8))), 1);
        assert_eq!(code!(cuMemFree_v2(CUdeviceptr(page as u64))), 1);
        assert_eq!(code!(cuMemFreeHost(as_host(memory))), 1);
        assert_eq!(code!(cuMemFreeHost(page.wrapping_add(8).cast())), 1);
        free(memory);
        assert_eq!(code!(cuMemFree_v2(memory)), 1);
        assert_eq!(code!(cuMemsetD8_v2(memory, 0, 1)), 1);
        let mut pool = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut pool, 4096, LEGACY));
        assert_eq!(code!(cuMemcpyDtoD_v2(pool, neighbour, 4097)), 1);
        ok!(cuMemFree_v2(pool));
        ok!(cuMemAllocAsync(&mut pool, 4096, LEGACY));
        ok!(cuMemFreeAsync(pool, LEGACY));
        assert_eq!(code!(cuMemFreeAsync(pool, LEGACY)), 1);
        ok!(cuMemFreeAsync(neighbour, LEGACY));
        ok!(cuMemFreeHost(page.cast()));
        end();
        assert_eq!(cuda_sim::finish().count(cuda_sim::FindingKind::Leak), 0);
    });
}

#[test]
fn host_registration() {
    isolated!(Config::new(), || {
        start();
        let memory = alloc(4096);
        let mut pages = vec![1_u8; 5 * 4096];
        let base = pages.as_mut_ptr();
        let page = base.wrapping_add(base.align_offset(4096));
        ok!(cuMemHostRegister_v2(page.wrapping_add(4096).cast(), 4096, 0));
        assert_eq!(code!(cuMemHostRegister_v2(page.cast(), 3 * 4096, 0)), 712);
        assert_eq!(code!(cuMemHostRegister_v2(page.wrapping_add(5000).cast(), 100, 0)), 712);
        assert_eq!(code!(cuMemHostUnregister(page.wrapping_add(5000).cast())), 1);
        assert_eq!(code!(cuMemHostUnregister(page.cast())), 713);
        // Straddling its end, and longer than it; wholly outside.
        assert_eq!(code!(cuMemcpyHtoD_v2(memory, page.wrapping_add(8000).cast(), 1000)), 1);
        assert_eq!(code!(cuMemcpyHtoD_v2(memory, page.wrapping_add(4000).cast(), 1000)), 1);
        ok!(cuMemcpyHtoD_v2(memory, page.cast(), 4096));
        ok!(cuMemHostUnregister(page.wrapping_add(4096).cast()));
        ok!(cuMemHostRegister_v2(page.wrapping_add(3).cast(), 100, 0));
        let mut flags = 0;
        ok!(cuMemHostGetFlags(&mut flags, page.wrapping_add(50).cast()));
        let mut device = CUdeviceptr(0);
        ok!(cuMemHostGetDevicePointer_v2(&mut device, page.wrapping_add(50).cast(), 0));
        assert_eq!(device.0, page as u64 + 50);
        ok!(cuMemHostUnregister(page.wrapping_add(3).cast()));
        assert_eq!(code!(cuMemHostRegister_v2(page.cast(), 0, 0)), 1);
        ok!(cuMemHostRegister_v2(page.cast(), 4096, 8));
        ok!(cuMemHostUnregister(page.cast()));
        // Memory that may only be read.
        static TEXT: [u8; 64] = [7; 64];
        let text: *mut std::ffi::c_void = TEXT.as_ptr().cast_mut().cast();
        assert_eq!(code!(cuMemHostRegister_v2(text, 64, 0)), 1);
        ok!(cuMemHostRegister_v2(text, 64, 8));
        ok!(cuMemHostUnregister(text));
        free(memory);
        end();
    });
}

#[test]
fn an_allocation_at_an_old_address_is_a_new_one() {
    isolated!(Config::new(), || {
        start();
        let identity = |address| {
            let mut value = 0_u64;
            let out: *mut u64 = &mut value;
            let which = CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
            ok!(cuPointerGetAttribute(out.cast(), which, address));
            value
        };
        let memory = alloc(4096);
        let first = identity(memory);
        free(memory);
        assert_eq!(alloc(4096), memory);
        assert!(identity(memory) > first);
        free(memory);
        end();
    });
}

#[test]
fn symbols_by_name() {
    isolated!(Config::new().version(Version::new(12, 4)), || {
        let found = |name: &std::ffi::CStr, version: i32| {
            let (mut function, mut status) = (ptr::null_mut(), CUdriverProcAddressQueryResult(9));
            ok!(cuGetProcAddress_v2(name.as_ptr(), &mut function, version, 0, &mut status));
            (function, status.0)
        };
        let (function, status) = found(c"cuMemAlloc", 12000);
        let expected = TABLE.cuMemAlloc_v2.get().unwrap() as *mut std::ffi::c_void;
        assert_eq!((function, status), (expected, 0));
        assert_ne!(found(c"cuMemAlloc", 2000).0, expected);
        assert_eq!(found(c"cuCtxGetId", 11000), (ptr::null_mut(), 2));
        assert_eq!(found(c"cuNothing", 12000), (ptr::null_mut(), 1));
        // What is newer than the driver is absent.
        assert_eq!(found(c"cuMemcpyBatchAsync", 13000), (ptr::null_mut(), 1));
        assert!(TABLE.cuMemcpyBatchAsync.get().is_err());
        let mut function = ptr::null_mut();
        assert_eq!(code!(cuGetProcAddress(c"cuNothing".as_ptr(), &mut function, 12000, 0)), 500);
        let mut table = ptr::null();
        assert_eq!(code!(cuGetExportTable(&mut table, &CUuuid::zeroed())), 500);
    });
}

#[test]
fn device_memory_is_no_host_memory() {
    isolated!(Config::new(), || {
        start();
        let memory = alloc(4096);
        let address = as_host(memory).addr();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| {
            let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
            let hex = |text| usize::from_str_radix(text, 16).unwrap();
            (hex(start)..hex(end)).contains(&address)
        });
        assert!(line.unwrap().contains(" ---p "), "{line:?}");
        free(memory);
        end();
    });
}
