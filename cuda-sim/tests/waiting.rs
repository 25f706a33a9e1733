//! What waits for work on an unrelated stream, and what does not; measured on a real driver.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, Scheduler, isolated};
use cuda_sys::*;

/// Queues work on a stream that is unrelated to all else, calls, and tells whether the work ran.
fn waits(call: impl FnOnce()) -> bool {
    let (unrelated, memory) = (stream(1), alloc(64));
    ok!(cuMemsetD8Async(memory, 1, 64, unrelated));
    assert_eq!(code!(cuStreamQuery(LEGACY)), 0);
    let before = cuda_sim::report().pending;
    assert_eq!(before, 1);
    call();
    let after = cuda_sim::report().pending;
    ok!(cuStreamSynchronize(unrelated));
    ok!(cuCtxSynchronize());
    ok!(cuStreamDestroy_v2(unrelated));
    free(memory);
    after == 0
}

#[test]
fn frees_and_unregistrations_wait() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        start();
        let (memory, page) = (alloc(4096), pinned(4096));
        let mut bytes = vec![0_u8; 4096];
        let slice: *mut std::ffi::c_void = bytes.as_mut_ptr().cast();
        ok!(cuMemHostRegister_v2(slice, 4096, 0));
        assert!(waits(|| free(memory)));
        assert!(waits(|| ok!(cuMemFreeHost(page.cast()))));
        assert!(waits(|| ok!(cuMemHostUnregister(slice))));
        assert!(waits(|| ok!(cuCtxSynchronize())));
        end();
    });
}

#[test]
fn most_calls_do_not() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        start();
        let (memory, other, page) = (alloc(4096), alloc(4096), pinned(4096));
        let mut bytes = vec![0_u8; 4096];
        let slice: *mut std::ffi::c_void = bytes.as_mut_ptr().cast();
        let (mut pool, mut fresh, mut made) = (CUdeviceptr(0), CUdeviceptr(0), ptr::null_mut());
        let mut more = ptr::null_mut();
        ok!(cuMemAllocAsync(&mut pool, 64, LEGACY));
        ok!(cuCtxSynchronize());
        assert!(!waits(|| ok!(cuMemAlloc_v2(&mut fresh, 4096))));
        assert!(!waits(|| ok!(cuMemHostAlloc(&mut more, 4096, 0))));
        assert!(!waits(|| ok!(cuMemHostRegister_v2(slice, 4096, 0))));
        assert!(!waits(|| ok!(cuStreamCreate(&mut made, 0))));
        assert!(!waits(|| ok!(cuStreamDestroy_v2(made))));
        assert!(!waits(|| ok!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), memory))));
        assert!(!waits(|| ok!(cuMemFreeAsync(pool, LEGACY))));
        assert!(!waits(|| ok!(cuMemcpyHtoD_v2(memory, page.cast(), 4096))));
        assert!(!waits(|| ok!(cuMemcpyDtoH_v2(page.cast(), memory, 4096))));
        assert!(!waits(|| ok!(cuMemcpyDtoD_v2(other, memory, 4096))));
        assert!(!waits(|| ok!(cuMemsetD8_v2(memory, 1, 4096))));
        ok!(cuMemHostUnregister(slice));
        for address in [memory, other, fresh] {
            free(address);
        }
        ok!(cuMemFreeHost(more));
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

#[test]
fn a_fill_returns_before_the_work_that_a_copy_waits_for() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        start();
        let (blocking, memory) = (stream(0), alloc(64));
        ok!(cuMemsetD8Async(memory, 1, 64, blocking));
        ok!(cuMemsetD8_v2(memory, 2, 64));
        assert_eq!(cuda_sim::report().pending, 2);
        assert_eq!(read(memory, 64), [2; 64]);
        assert_eq!(cuda_sim::report().pending, 0);
        ok!(cuStreamDestroy_v2(blocking));
        free(memory);
        end();
    });
}

#[test]
fn long_pageable_copies_wait_for_what_is_before_them() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        start();
        let (mine, memory, other) = (stream(1), alloc(4 << 20), alloc(64));
        let bytes = vec![3_u8; 4 << 20];
        for (size, pending) in [(2 << 20, 2), (4 << 20, 1)] {
            ok!(cuMemsetD8Async(other, 1, 64, mine));
            ok!(cuMemcpyHtoDAsync_v2(memory, bytes.as_ptr().cast(), size, mine));
            assert_eq!(cuda_sim::report().pending, pending);
            ok!(cuStreamSynchronize(mine));
        }
        ok!(cuStreamDestroy_v2(mine));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn a_free_from_another_context_waits_for_the_memory_s_own() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        let primary = start();
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        let (theirs, memory) = (stream(1), alloc(64));
        ok!(cuMemsetD8Async(memory, 1, 64, theirs));
        ok!(cuCtxSetCurrent(primary));
        free(memory);
        assert_eq!(cuda_sim::report().pending, 0);
        ok!(cuCtxDestroy_v2(other));
        end();
    });
}
