use std::ffi::c_void;
use std::ptr;

use cuda_sys::*;

use crate::common::busy::Busy;
use crate::common::*;
use crate::pointer_attributes::Virtual;
use crate::table;

const EMPTY: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n\0";

#[test]
fn what_waits() {
    table!("what waits for a kernel on an unrelated stream", |rows| {
        start();
        let busy = Busy::load();
        let (small, large) = (alloc(4096), alloc(4 << 20));
        let mut managed = CUdeviceptr(0);
        ok!(cuMemAllocManaged(&mut managed, 4096, 1));
        let page = pinned(4096);
        let mut host = vec![1_u8; 8192];
        let base = host.as_mut_ptr();
        let registered: *mut c_void = base.wrapping_add(base.align_offset(4096)).cast();
        ok!(cuMemHostRegister_v2(registered, 4096, 0));
        let mut module = ptr::null_mut();
        rows.is("cuMemFree of 4 KiB", busy.is_waited_for(|| free(small)), true);
        rows.is("cuMemFree of 4 MiB", busy.is_waited_for(|| free(large)), true);
        rows.is("cuMemFree of managed", busy.is_waited_for(|| free(managed)), true);
        rows.is("cuMemFreeHost", busy.is_waited_for(|| ok!(cuMemFreeHost(page.cast()))), true);
        let waited = busy.is_waited_for(|| ok!(cuMemHostUnregister(registered)));
        rows.is("cuMemHostUnregister", waited, true);
        let source = EMPTY.as_ptr().cast();
        let waited = busy.is_waited_for(|| ok!(cuModuleLoadData(&mut module, source)));
        rows.is("cuModuleLoadData", waited, true);
        let waited = busy.is_waited_for(|| ok!(cuModuleUnload(module)));
        rows.is("cuModuleUnload", waited, true);
        end();
    });
}

#[test]
fn what_does_not() {
    table!("what does not wait for a kernel on an unrelated stream", |rows| {
        start();
        let busy = Busy::load();
        let (memory, other) = (alloc(4096), alloc(4096));
        let mut host = vec![1_u8; 8192];
        let base = host.as_mut_ptr();
        let aligned: *mut c_void = base.wrapping_add(base.align_offset(4096)).cast();
        let (mut new, mut page, mut managed) = (CUdeviceptr(0), ptr::null_mut(), CUdeviceptr(0));
        let (mut made, mut pool, mut shared) = (LEGACY, ptr::null_mut(), ptr::null_mut());
        let mut ordered = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut ordered, 4096, LEGACY));
        ok!(cuCtxSynchronize());
        let mut properties = CUmemPoolProps::zeroed();
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = CUmemLocation::device(0);
        let mut bytes = [0_u8; 64];
        let mut does_not = |row: &str, call: &mut dyn FnMut()| {
            rows.is(row, busy.is_waited_for(call), false);
        };
        does_not("cuMemAlloc", &mut || ok!(cuMemAlloc_v2(&mut new, 4096)));
        does_not("cuMemHostAlloc", &mut || ok!(cuMemHostAlloc(&mut page, 1 << 20, 0)));
        does_not("cuMemHostRegister", &mut || ok!(cuMemHostRegister_v2(aligned, 4096, 0)));
        does_not("cuMemAllocManaged", &mut || ok!(cuMemAllocManaged(&mut managed, 4096, 1)));
        let none = CUmemAllocationHandleType(0);
        let mut made_virtual = None;
        does_not("virtual memory: create, map", &mut || {
            made_virtual = Some(Virtual::new(2 << 20, none));
        });
        does_not("virtual memory: unmap, release", &mut || {
            made_virtual.take().unwrap().end();
        });
        does_not("cuMemFreeAsync", &mut || ok!(cuMemFreeAsync(ordered, LEGACY)));
        does_not("cuMemPoolCreate", &mut || ok!(cuMemPoolCreate(&mut pool, &properties)));
        does_not("cuMemPoolDestroy", &mut || ok!(cuMemPoolDestroy(pool)));
        does_not("cuIpcGetMemHandle", &mut || {
            ok!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), memory));
        });
        does_not("cuEventCreate, interprocess", &mut || ok!(cuEventCreate(&mut shared, 6)));
        does_not("cuEventDestroy, interprocess", &mut || ok!(cuEventDestroy_v2(shared)));
        does_not("cuStreamCreate", &mut || ok!(cuStreamCreate(&mut made, 1)));
        does_not("cuStreamDestroy", &mut || ok!(cuStreamDestroy_v2(made)));
        let host = bytes.as_mut_ptr().cast();
        does_not("cuMemcpyHtoD", &mut || ok!(cuMemcpyHtoD_v2(memory, host, 64)));
        does_not("cuMemcpyDtoH", &mut || ok!(cuMemcpyDtoH_v2(host, memory, 64)));
        does_not("cuMemcpyDtoD", &mut || ok!(cuMemcpyDtoD_v2(other, memory, 64)));
        does_not("cuMemsetD8", &mut || ok!(cuMemsetD8_v2(memory, 1, 64)));
        ok!(cuMemHostUnregister(aligned));
        ok!(cuMemFreeHost(page));
        for address in [memory, other, new, managed] {
            free(address);
        }
        end();
    });
}

#[test]
fn behind_a_blocking_stream() {
    table!("behind a kernel on a blocking stream", |rows| {
        start();
        let busy = Busy::load();
        let memory = alloc(4096);
        let mut bytes = [0_u8; 64];
        let host = bytes.as_mut_ptr().cast();
        let waited = busy.is_waited_for_on(0, || ok!(cuMemcpyDtoH_v2(host, memory, 64)));
        rows.is("cuMemcpyDtoH waits", waited, true);
        let waited = busy.is_waited_for_on(0, || ok!(cuMemsetD8_v2(memory, 1, 64)));
        rows.is("cuMemsetD8 waits", waited, false);
        free(memory);
        end();
    });
}
