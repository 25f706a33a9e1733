//! Events shared between two real processes; the answers are measured.

#![expect(clippy::unwrap_used, reason = "what several tests use is a test too")]

mod common;
mod remote;

use std::ffi::c_void;
use std::ptr;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use common::*;
use cuda_sim::{Config, Scheduler, isolated};
use cuda_sys::*;
use remote::*;

extern "system" fn wait(data: *mut c_void) {
    let gate: *const Receiver<()> = data.cast();
    // SAFETY: the test keeps the receiver until the stream is done.
    unsafe { &*gate }.recv().unwrap();
}

#[test]
fn answers() {
    two_processes!(|| {
        start();
        let mut plain = CUipcEventHandle::zeroed();
        let (own, (shared, handle)) = (event(), shared_event());
        assert_eq!(code!(cuIpcGetEventHandle(&mut plain, own)), 400);
        assert_eq!(open_event(handle).0, 201);
        let mut remote = Remote::start();
        let theirs = remote.open_event(handle);
        for order in ["event-query", "event-wait", "event-record", "event-synchronize"] {
            assert_eq!(remote.code(&format!("{order} {theirs}")), 0, "{order}");
        }
        assert_eq!(remote.code(&format!("event-handle {theirs}")), 400);
        assert_eq!(remote.code(&format!("event-elapsed {theirs}")), 400);
        ok!(cuEventQuery(shared));
        ok!(cuEventDestroy_v2(shared));
        assert_eq!(remote.code(&format!("event-query {theirs}")), 0);
        assert_eq!(remote.code(&format!("event-record {theirs}")), 0);
        assert_eq!(remote.code(&format!("event-destroy {theirs}")), 0);
        ok!(cuEventDestroy_v2(own));
        remote.end();
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn so_many_can_live_at_once() {
    isolated!(Config::new(), || {
        start();
        let events: Vec<_> = (0..4096).map(|_| shared_event().0).collect();
        let mut more = ptr::null_mut();
        assert_eq!(code!(cuEventCreate(&mut more, 6)), 2);
        ok!(cuEventDestroy_v2(events[77]));
        ok!(cuEventCreate(&mut more, 6));
        ok!(cuEventDestroy_v2(more));
        for (index, event) in events.into_iter().enumerate() {
            if index != 77 {
                ok!(cuEventDestroy_v2(event));
            }
        }
        end();
    });
}

/// A record behind a held stream; the other process waits for it.
fn a_wait_across_processes() {
    start();
    let (memory, held) = (alloc(64), stream(1));
    ok!(cuMemsetD8_v2(memory, 1, 64));
    ok!(cuCtxSynchronize());
    let (shared, handle) = shared_event();
    let mut remote = Remote::start();
    let theirs = remote.open_event(handle);
    let (_, there) = remote.open(handle_of(memory).1);
    let (open, gate) = mpsc::channel();
    ok!(cuLaunchHostFunc(held, Some(wait), ptr::from_ref(&gate).cast_mut().cast()));
    ok!(cuMemsetD8Async(memory, 2, 64, held));
    ok!(cuEventRecord(shared, held));
    assert_eq!(remote.code(&format!("event-query {theirs}")), 600);
    assert_eq!(remote.code(&format!("event-wait {theirs}")), 0);
    assert_eq!(remote.code("stream-query"), 600);
    let opener = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        open.send(()).unwrap();
    });
    // The synchronous copy is behind the wait. Here, nobody waits for the record.
    assert_eq!(remote.read(there), 2);
    assert_eq!(remote.code(&format!("event-query {theirs}")), 0);
    opener.join().unwrap();
    ok!(cuStreamSynchronize(held));
    assert_eq!(remote.code(&format!("close {there}")), 0);
    assert_eq!(remote.code(&format!("event-destroy {theirs}")), 0);
    ok!(cuStreamDestroy_v2(held));
    ok!(cuEventDestroy_v2(shared));
    free(memory);
    remote.end();
    end();
    assert!(cuda_sim::finish().is_clean());
}

#[test]
fn a_wait_when_eager() {
    two_processes!(a_wait_across_processes);
}

#[test]
fn a_wait_when_lazy() {
    two_processes!(Config::new().scheduler(Scheduler::Lazy), a_wait_across_processes);
}

#[test]
fn a_recorder_that_is_killed_is_waited_for_in_vain() {
    two_processes!(Config::new().host_function_patience(Duration::from_secs(100)), || {
        start();
        let (shared, handle) = shared_event();
        let mut remote = Remote::start();
        let theirs = remote.open_event(handle);
        // Its record is pending: the stream waits for an event of this process that is held.
        let (held, (before, before_handle)) = (stream(1), shared_event());
        let (open, gate) = mpsc::channel();
        ok!(cuLaunchHostFunc(held, Some(wait), ptr::from_ref(&gate).cast_mut().cast()));
        ok!(cuEventRecord(before, held));
        let before_there = remote.open_event(before_handle);
        assert_eq!(remote.code(&format!("event-wait {before_there}")), 0);
        assert_eq!(remote.code(&format!("event-record {theirs}")), 0);
        assert_eq!(code!(cuEventQuery(shared)), 600);
        remote.kill();
        open.send(()).unwrap();
        ok!(cuStreamSynchronize(held));
        ok!(cuEventQuery(before));
        assert_eq!(code!(cuEventQuery(shared)), 600);
        // A new record waits for the one before; other streams go on.
        let (stuck, free_running, memory) = (stream(1), stream(1), alloc(64));
        ok!(cuEventRecord(shared, stuck));
        assert_eq!(code!(cuStreamQuery(stuck)), 600);
        ok!(cuMemsetD8Async(memory, 1, 64, free_running));
        ok!(cuStreamSynchronize(free_running));
        ok!(cuStreamDestroy_v2(stuck));
        ok!(cuEventDestroy_v2(shared));
        // Freeing hangs, as does synchronising the context.
        let address = memory.0;
        let context = {
            let mut context = ptr::null_mut();
            ok!(cuCtxGetCurrent(&mut context));
            context.expose_provenance()
        };
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(context)));
            free(CUdeviceptr(address));
            done.send(()).unwrap();
        });
        assert!(is_done.recv_timeout(Duration::from_millis(300)).is_err());
    });
}
