//! Errors that stay: in a context, or those of kernels in all; calls answer them, queued work is dropped.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;
use cuda_sim::{Config, Scheduler, isolated};
use cuda_sys::*;

fn broken_by(symbol: &str, nth: u64) -> Config {
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    Config::new().scheduler(Scheduler::Lazy).break_context(symbol, nth, code)
}

#[test]
fn an_error_stays_in_its_context_and_what_frees_still_frees() {
    isolated!(broken_by("cuMemsetD8Async", 2), || {
        start();
        let (mine, done, memory, page) = (stream(1), event(), alloc(64), pinned(64));
        ok!(cuMemsetD8Async(memory, 1, 64, mine));
        ok!(cuEventRecord(done, mine));
        assert_eq!(code!(cuMemsetD8Async(memory, 2, 64, mine)), 700);
        let (mut number, mut other) = (0, CUdeviceptr(0));
        assert_eq!(code!(cuMemAlloc_v2(&mut other, 4)), 700);
        assert_eq!(code!(cuCtxSynchronize()), 700);
        assert_eq!(code!(cuStreamQuery(mine)), 700);
        assert_eq!(code!(cuStreamSynchronize(mine)), 700);
        assert_eq!(code!(cuEventQuery(done)), 700);
        assert_eq!(code!(cuEventRecord(done, mine)), 700);
        // Devices and the thread's stack have no part in it.
        ok!(cuDeviceGetCount(&mut number));
        let mut context = ptr::null_mut();
        ok!(cuCtxGetCurrent(&mut context));
        ok!(cuCtxPopCurrent_v2(&mut context));
        ok!(cuCtxPushCurrent_v2(context));
        assert_eq!(code!(cuStreamDestroy_v2(mine)), 700);
        assert_eq!(code!(cuEventDestroy_v2(done)), 700);
        assert_eq!(code!(cuMemFree_v2(memory)), 700);
        assert_eq!(code!(cuMemFreeHost(page.cast())), 700);
        ok!(cuCtxPopCurrent_v2(&mut context));
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
        // A primary context does not recover.
        ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
        ok!(cuCtxPushCurrent_v2(context));
        assert_eq!(code!(cuMemAlloc_v2(&mut other, 4)), 700);
        ok!(cuCtxPopCurrent_v2(&mut context));
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

extern "system" fn count(_: *mut c_void) {
    CALLS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn another_context_goes_on_and_queued_work_is_dropped() {
    isolated!(broken_by("cuCtxGetFlags", 1), || {
        let primary = start();
        let memory = alloc(64);
        write(memory, &[3; 64]);
        let mut second = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut second, 0, CUdevice(0)));
        let (theirs, elsewhere) = (stream(1), alloc(64));
        ok!(cuMemsetD8Async(elsewhere, 1, 64, theirs));
        ok!(cuLaunchHostFunc(theirs, Some(count), ptr::null_mut()));
        let mut flags = 0;
        assert_eq!(code!(cuCtxGetFlags(&mut flags)), 700);
        assert_eq!(code!(cuStreamSynchronize(theirs)), 700);
        ok!(cuCtxSetCurrent(primary));
        ok!(cuMemsetD8Async(memory, 4, 64, LEGACY));
        assert_eq!(read(memory, 64), [4; 64]);
        ok!(cuCtxSynchronize());
        // The handle says whose stream it is.
        assert_eq!(code!(cuStreamQuery(theirs)), 700);
        free(memory);
        ok!(cuCtxPushCurrent_v2(second));
        assert_eq!(code!(cuCtxDestroy_v2(second)), 700);
        assert_eq!(CALLS.load(Ordering::SeqCst), 0);
        // A new context has no error.
        ok!(cuCtxCreate_v2(&mut second, 0, CUdevice(0)));
        free(alloc(64));
        ok!(cuCtxDestroy_v2(second));
        end();
    });
}

#[test]
fn an_error_of_a_kernel_strikes_every_context_of_every_device() {
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    let config = Config::new().devices(2).kernel("*", CUresult::CUDA_SUCCESS).kernel("bad", code);
    isolated!(config).unchecked().run(|| {
        let primary = start();
        let module = module(".visible .entry bad() { ret; } .visible .entry good() { ret; }");
        let (memory, mut other, mut second) = (alloc(4), ptr::null_mut(), ptr::null_mut());
        ok!(cuDevicePrimaryCtxRetain(&mut other, CUdevice(1)));
        ok!(cuCtxCreate_v2(&mut second, 0, CUdevice(0)));
        ok!(cuCtxSetCurrent(primary));
        assert_eq!(launch(function(module, c"good"), [1, 1], LEGACY, &[]), 0);
        ok!(cuCtxSynchronize());
        assert_eq!(launch(function(module, c"bad"), [1, 1], LEGACY, &[]), 0);
        assert_eq!(code!(cuCtxSynchronize()), 700);
        let mut more = CUdeviceptr(0);
        for context in [primary, second, other] {
            ok!(cuCtxSetCurrent(context));
            assert_eq!(code!(cuMemAlloc_v2(&mut more, 4)), 700);
        }
        ok!(cuCtxSetCurrent(primary));
        assert_eq!(code!(cuMemFree_v2(memory)), 700);
        let (mut id, mut third) = (0, ptr::null_mut());
        ok!(cuCtxGetId(primary, &mut id));
        assert_eq!(code!(cuCtxCreate_v2(&mut third, 0, CUdevice(1))), 700);
        // What ends a context does not tell of it, and nothing begins anew.
        ok!(cuCtxDestroy_v2(second));
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(0)));
        assert_eq!(code!(cuMemAlloc_v2(&mut more, 4)), 709);
        assert_eq!(code!(cuDevicePrimaryCtxRetain(&mut other, CUdevice(0))), 700);
        let report = cuda_sim::report();
        assert_eq!(report.count(cuda_sim::FindingKind::IllegalAddress), 1, "{report}");
    });
}
