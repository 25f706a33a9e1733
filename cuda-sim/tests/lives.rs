//! Contexts that are reset, destroyed and come back; handles of what is gone. Measured but where
//! said otherwise.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated};
use cuda_sys::*;

fn id(context: CUcontext) -> Result<u64, u32> {
    let mut id = 0;
    match code!(cuCtxGetId(context, &mut id)) {
        0 => Ok(id),
        error => Err(error),
    }
}

#[test]
fn reset_does_not_drop_retains() {
    isolated!(Config::new(), || {
        let device = CUdevice(0);
        let context = start();
        ok!(cuDevicePrimaryCtxReset_v2(device));
        let (mut flags, mut active) = (9, 9);
        ok!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active));
        assert_eq!((flags, active), (0, 0));
        let mut again = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut again, device));
        assert_eq!(again, context);
        ok!(cuDevicePrimaryCtxRelease_v2(device));
        ok!(cuDevicePrimaryCtxRelease_v2(device));
        assert_eq!(code!(cuDevicePrimaryCtxRelease_v2(device)), 201);
        ok!(cuDevicePrimaryCtxRetain(&mut again, device));
        ok!(cuDevicePrimaryCtxReset_v2(device));
        ok!(cuDevicePrimaryCtxRelease_v2(device));
        assert_eq!(code!(cuDevicePrimaryCtxRelease_v2(device)), 201);
        ok!(cuDevicePrimaryCtxSetFlags_v2(device, 4));
        ok!(cuDevicePrimaryCtxRetain(&mut again, device));
        assert_eq!(code!(cuDevicePrimaryCtxSetFlags(device, 0)), 708);
        ok!(cuDevicePrimaryCtxGetState(device, &mut flags, &mut active));
        assert_eq!((flags, active), (4, 1));
        ok!(cuDevicePrimaryCtxRelease_v2(device));
    });
}

#[test]
fn a_reset_context_and_its_next_life() {
    isolated!(Config::new()).unchecked().run(|| {
        let device = CUdevice(0);
        let old = start();
        assert_eq!(id(old), Ok(1));
        let (memory, page, stream, event) = (alloc(4096), pinned(4096), stream(0), event());
        let mut registered = vec![0_u8; 64];
        let slice: *mut std::ffi::c_void = registered.as_mut_ptr().cast();
        ok!(cuMemHostRegister_v2(slice, 64, 0));
        let mut pool = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut pool, 16, LEGACY));
        ok!(cuMemsetD8_v2(pool, 3, 16));
        ok!(cuDevicePrimaryCtxReset_v2(device));

        // Reset, not retained again.
        assert_eq!(id(old), Err(709));
        assert_eq!(id(ptr::null_mut()), Err(709));
        let mut current = ptr::null_mut();
        ok!(cuCtxGetCurrent(&mut current));
        assert_eq!(current, old);
        ok!(cuCtxSetCurrent(old));
        let (mut ordinal, mut version) = (CUdevice(9), 0);
        ok!(cuCtxGetDevice(&mut ordinal));
        assert_eq!(code!(cuCtxGetApiVersion(old, &mut version)), 201);
        let mut address = CUdeviceptr(0);
        let (mut other_stream, mut other_event) = (ptr::null_mut(), ptr::null_mut());
        let (mut base, mut size, mut value) = (CUdeviceptr(0), 0, 0_u64);
        let kind = CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID;
        let out: *mut u64 = &mut value;
        let bytes: *mut std::ffi::c_void = ptr::from_mut(&mut [0_u8; 16]).cast();
        let mut handle = CUipcMemHandle::zeroed();
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 16)), 709);
        assert_eq!(code!(cuStreamCreate(&mut other_stream, 0)), 709);
        assert_eq!(code!(cuEventCreate(&mut other_event, 0)), 709);
        assert_eq!(code!(cuCtxSynchronize()), 709);
        assert_eq!(code!(cuMemFree_v2(memory)), 709);
        assert_eq!(code!(cuMemcpyDtoH_v2(bytes, memory, 16)), 709);
        assert_eq!(code!(cuMemcpyHtoD_v2(memory, bytes, 16)), 709);
        assert_eq!(code!(cuMemGetAddressRange_v2(&mut base, &mut size, memory)), 709);
        assert_eq!(code!(cuPointerGetAttribute(out.cast(), kind, memory)), 1);
        assert_eq!(code!(cuIpcGetMemHandle(&mut handle, memory)), 709);
        assert_eq!(code!(cuStreamQuery(stream)), 709);
        assert_eq!(code!(cuEventQuery(event)), 709);
        assert_eq!(code!(cuMemFreeHost(page.cast())), 709);
        assert_eq!(code!(cuMemHostUnregister(slice)), 709);
        assert_eq!(code!(cuMemcpyDtoH_v2(bytes, pool, 16)), 709);
        ok!(cuPointerGetAttribute(out.cast(), kind, pool));
        let elsewhere = old.expose_provenance();
        std::thread::spawn(move || {
            ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(elsewhere)));
            let mut address = CUdeviceptr(0);
            assert_eq!(code!(cuMemAlloc_v2(&mut address, 16)), 709);
        })
        .join()
        .unwrap();

        // Retained again: the handle is the same, the id is not.
        let mut new = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut new, device));
        assert_eq!((new, id(new)), (old, Ok(2)));
        ok!(cuCtxGetApiVersion(old, &mut version));
        assert_eq!(code!(cuMemFree_v2(memory)), 1);
        assert_eq!(code!(cuMemcpyDtoH_v2(bytes, memory, 16)), 1);
        assert_eq!(code!(cuMemGetAddressRange_v2(&mut base, &mut size, memory)), 500);
        assert_eq!(code!(cuPointerGetAttribute(out.cast(), kind, memory)), 1);
        assert_eq!(code!(cuIpcGetMemHandle(&mut handle, memory)), 1);
        // A real driver crashes on these, or some of the time.
        assert_eq!(code!(cuStreamQuery(stream)), 400);
        assert_eq!(code!(cuStreamDestroy_v2(stream)), 400);
        assert_eq!(code!(cuMemsetD8Async(memory, 0, 1, stream)), 400);
        assert_ne!(code!(cuEventQuery(event)), 0);
        assert_eq!(code!(cuMemFreeHost(page.cast())), 1);
        assert_eq!(code!(cuMemHostUnregister(slice)), 713);
        assert_eq!(read(pool, 16), [3; 16]);
        ok!(cuMemFreeAsync(pool, LEGACY));
        assert_eq!(code!(cuMemFreeAsync(pool, LEGACY)), 1);

        // A new buffer has the old address, and the old pointer frees it.
        assert_eq!(alloc(4096), memory);
        ok!(cuMemFree_v2(memory));
        assert_eq!(code!(cuMemFree_v2(memory)), 1);
        ok!(cuDevicePrimaryCtxRelease_v2(device));
        ok!(cuDevicePrimaryCtxRelease_v2(device));
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 0);
        assert!(cuda_sim::report().count(FindingKind::StaleHandle) > 0);
    });
}

#[test]
fn created_contexts_stack() {
    isolated!(Config::new().devices(2)).unchecked().run(|| {
        let primary = start();
        let (mut first, mut second) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuCtxCreate_v2(&mut first, 0, CUdevice(0)));
        ok!(cuCtxCreate_v4(&mut second, ptr::null_mut(), 8, CUdevice(1)));
        let (mut device, mut flags, mut popped) = (CUdevice(9), 0, ptr::null_mut());
        ok!(cuCtxGetDevice(&mut device));
        ok!(cuCtxGetFlags(&mut flags));
        assert_eq!((device, flags), (CUdevice(1), 8));
        ok!(cuCtxPopCurrent_v2(&mut popped));
        assert_eq!(popped, second);
        ok!(cuCtxPushCurrent_v2(second));
        ok!(cuCtxDestroy_v2(second));
        ok!(cuCtxGetCurrent(&mut popped));
        assert_eq!(popped, first);
        // Measured: one that was destroyed can be current, and answers 709.
        ok!(cuCtxSetCurrent(second));
        assert_eq!(code!(cuCtxSynchronize()), 709);
        ok!(cuCtxSetCurrent(first));
        assert_eq!(code!(cuCtxSetCurrent(ptr::without_provenance_mut(4096))), 201);
        assert_eq!(code!(cuCtxDestroy_v2(primary)), 201);
        // Another thread has it current while it goes (manual).
        let handle = first.expose_provenance();
        let (to_thread, told) = std::sync::mpsc::channel();
        let (answer, answered) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(handle)));
            answer.send(()).unwrap();
            told.recv().unwrap();
            assert_eq!(code!(cuCtxSynchronize()), 709);
        });
        answered.recv().unwrap();
        ok!(cuCtxDestroy_v2(first));
        to_thread.send(()).unwrap();
        thread.join().unwrap();
        ok!(cuCtxGetCurrent(&mut popped));
        assert_eq!(popped, primary);
        end();
        assert_eq!(code!(cuCtxPopCurrent_v2(&mut popped)), 201);
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn stale_handles_are_refused_and_reported() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (old_stream, old_event) = (stream(0), event());
        ok!(cuStreamDestroy_v2(old_stream));
        ok!(cuEventDestroy_v2(old_event));
        let (new_stream, new_event) = (stream(0), event());
        assert_ne!((new_stream, new_event), (old_stream, old_event));
        for answer in [
            code!(cuStreamQuery(old_stream)),
            code!(cuStreamSynchronize(old_stream)),
            code!(cuStreamDestroy_v2(old_stream)),
            code!(cuEventRecord(new_event, old_stream)),
            code!(cuEventRecord(old_event, new_stream)),
            code!(cuEventQuery(old_event)),
            code!(cuEventSynchronize(old_event)),
            code!(cuStreamWaitEvent(new_stream, old_event, 0)),
            code!(cuEventDestroy_v2(old_event)),
            code!(cuStreamQuery(ptr::without_provenance_mut(0x7777))),
        ] {
            assert_eq!(answer, 400);
        }
        ok!(cuStreamDestroy_v2(new_stream));
        ok!(cuEventDestroy_v2(new_event));
        end();
        let report = cuda_sim::finish();
        // Each call is named; the handle that never was one is only refused.
        assert_eq!(report.count(FindingKind::StaleHandle), 9, "{report}");
        assert_eq!(report.findings.len(), 9, "{report}");
    });
}

#[test]
fn streams_and_events_of_two_contexts() {
    isolated!(Config::new()).unchecked().run(|| {
        let primary = start();
        let (foreign_stream, foreign_event, memory) = (stream(0), event(), alloc(64));
        let mut other = ptr::null_mut();
        ok!(cuCtxCreate_v2(&mut other, 0, CUdevice(0)));
        let stream = stream(0);
        // Measured: work goes well on another's stream, and is reported; a record does not.
        ok!(cuMemsetD8Async(memory, 0, 64, foreign_stream));
        assert_eq!(code!(cuEventRecord(foreign_event, stream)), 400);
        assert!(!cuda_sim::report().is_clean());
        // Waiting for an event of another context is allowed, and so is its record there.
        ok!(cuEventRecord(foreign_event, foreign_stream));
        ok!(cuStreamWaitEvent(stream, foreign_event, 0));
        let mut context = ptr::null_mut();
        ok!(cuStreamGetCtx(foreign_stream, &mut context));
        assert_eq!(context, primary);
        ok!(cuCtxDestroy_v2(other));
        ok!(cuStreamDestroy_v2(foreign_stream));
        ok!(cuEventDestroy_v2(foreign_event));
        free(memory);
        end();
        let report = cuda_sim::finish();
        assert_eq!(report.count(FindingKind::WrongContext), report.findings.len(), "{report}");
    });
}

#[test]
fn properties_of_streams_and_events() {
    isolated!(Config::new(), || {
        start();
        let mut made = ptr::null_mut();
        ok!(cuStreamCreateWithPriority(&mut made, 1, -99));
        let (mut flags, mut priority, mut first, mut second) = (0, 0, 0, 0);
        ok!(cuStreamGetFlags(made, &mut flags));
        ok!(cuStreamGetPriority(made, &mut priority));
        assert_eq!((flags, priority), (1, -5));
        ok!(cuStreamGetId(made, &mut first));
        ok!(cuStreamGetId(LEGACY, &mut second));
        assert_ne!(first, second);
        assert_eq!(code!(cuStreamCreate(&mut made.clone(), 2)), 1);
        let mut timed = ptr::null_mut();
        assert_eq!(code!(cuEventCreate(&mut timed, 4)), 1);
        ok!(cuEventCreate(&mut timed, 0));
        let (mut milliseconds, untimed) = (-1.0, event());
        assert_eq!(code!(cuEventElapsedTime(&mut milliseconds, timed, timed)), 400);
        // Never recorded, it is done.
        ok!(cuEventQuery(timed));
        ok!(cuEventSynchronize(timed));
        ok!(cuStreamWaitEvent(made, timed, 0));
        ok!(cuEventRecord(timed, made));
        ok!(cuEventRecord(untimed, made));
        ok!(cuEventElapsedTime(&mut milliseconds, timed, timed));
        assert_eq!(milliseconds, 0.0);
        assert_eq!(code!(cuEventElapsedTime(&mut milliseconds, timed, untimed)), 400);
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL);
        ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        assert_eq!(mode, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED);
        ok!(cuStreamDestroy_v2(made));
        ok!(cuEventDestroy_v2(timed));
        ok!(cuEventDestroy_v2(untimed));
        end();
    });
}
