//! When queued work runs, and that a correct program doesn't notice.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "bodies that several tests run are tests too"
)]

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated};
use cuda_sys::*;

/// A program that orders all that it does: two streams, an event, pinned memory.
fn correct_program() {
    start();
    let (left, right, done) = (stream(1), stream(1), event());
    let (source, target) = (alloc(1 << 16), alloc(1 << 16));
    let (up, down) = (pinned(1 << 16), pinned(1 << 16));
    for round in 1..20_u8 {
        ok!(cuMemsetD8_v2(CUdeviceptr(up as u64), round, 1 << 16));
        ok!(cuMemcpyHtoDAsync_v2(source, up.cast(), 1 << 16, left));
        ok!(cuMemsetD8Async(at(source, 100), round + 1, 100, left));
        ok!(cuEventRecord(done, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemcpyDtoDAsync_v2(target, source, 1 << 16, right));
        ok!(cuMemcpyDtoHAsync_v2(down.cast(), target, 1 << 16, right));
        ok!(cuEventRecord(done, right));
        ok!(cuEventSynchronize(done));
        let host = read(CUdeviceptr(down as u64), 1 << 16);
        assert!(host[..100].iter().all(|&byte| byte == round));
        assert!(host[100..200].iter().all(|&byte| byte == round + 1));
        assert!(host[200..].iter().all(|&byte| byte == round));
        ok!(cuStreamWaitEvent(left, done, 0));
    }
    ok!(cuStreamDestroy_v2(left));
    ok!(cuStreamDestroy_v2(right));
    ok!(cuEventDestroy_v2(done));
    free(source);
    free(target);
    ok!(cuMemFreeHost(up.cast()));
    ok!(cuMemFreeHost(down.cast()));
    end();
}

#[test]
fn a_correct_program_is_right_when_eager() {
    isolated!(Config::new(), correct_program);
}

#[test]
fn a_correct_program_is_right_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), correct_program);
}

#[test]
fn a_correct_program_is_right_under_seed_1() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(1)), correct_program);
}

#[test]
fn a_correct_program_is_right_under_seed_2() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(2)), correct_program);
}

#[test]
fn lazy_work_runs_when_it_is_waited_for() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        start();
        let (mine, other) = (stream(1), stream(1));
        let memory = alloc(64);
        let page = pinned(64);
        ok!(cuMemsetD8Async(memory, 1, 64, mine));
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, 64, mine));
        ok!(cuStreamSynchronize(other));
        let host = CUdeviceptr(page as u64);
        // The destination is poisoned until the copy is done.
        assert_eq!(cuda_sim::report().pending, 2);
        // SAFETY: the page is 64 bytes of this process.
        assert_eq!(unsafe { page.read_volatile() }, 0xDB);
        // A query answers, and then lets one piece run: a loop of queries ends.
        assert_eq!(code!(cuStreamQuery(mine)), 600);
        assert_eq!(code!(cuStreamQuery(mine)), 600);
        ok!(cuStreamQuery(mine));
        assert_eq!(read(host, 64), [1; 64]);
        ok!(cuStreamDestroy_v2(mine));
        ok!(cuStreamDestroy_v2(other));
        free(memory);
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

#[test]
fn pinned_sources_are_read_late_and_pageable_ones_at_once() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        start();
        let mine = stream(1);
        let memory = alloc(8);
        let page = pinned(8);
        let mut bytes = [1_u8; 8];
        ok!(cuMemcpyHtoDAsync_v2(memory, bytes.as_ptr().cast(), 8, mine));
        bytes.fill(2);
        ok!(cuStreamSynchronize(mine));
        assert_eq!((read(memory, 8), bytes), (vec![1; 8], [2; 8]));
        assert!(cuda_sim::report().is_clean());
        // SAFETY: the page is 8 bytes of this process.
        unsafe { page.write_bytes(3, 8) };
        ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), 8, mine));
        // SAFETY: as above.
        unsafe { page.write_bytes(4, 8) };
        ok!(cuStreamSynchronize(mine));
        assert_eq!(read(memory, 8), [4; 8]);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::HostSourceChanged), 1, "{report}");
        // A pageable destination has the data on return.
        ok!(cuMemsetD8Async(memory, 5, 8, mine));
        ok!(cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), memory, 8, mine));
        assert_eq!(bytes, [5; 8]);
        // The host writes where a copy is about to.
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, 8, mine));
        // SAFETY: as above.
        unsafe { page.write_bytes(6, 8) };
        ok!(cuStreamSynchronize(mine));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::HostDestinationChanged), 1, "{report}");
        assert_eq!(report.findings.len(), 2, "{report}");
    });
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_only() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        start();
        let (blocking, free_running) = (stream(0), stream(1));
        let (first, second) = (alloc(8), alloc(8));
        write(first, &[0; 8]);
        write(second, &[0; 8]);
        ok!(cuMemsetD8Async(first, 1, 8, blocking));
        ok!(cuMemsetD8Async(second, 1, 8, free_running));
        // A synchronous copy is on the legacy stream.
        assert_eq!(read(first, 8), [1; 8]);
        assert!(cuda_sim::report().is_clean());
        assert_eq!(read(second, 8), [0; 8]);
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 1);
        ok!(cuStreamSynchronize(free_running));
        // The per-thread stream blocks; a blocking stream waits for the legacy one.
        let per_thread: CUstream = CU_STREAM_PER_THREAD;
        ok!(cuMemsetD8Async(first, 2, 8, per_thread));
        ok!(cuMemsetD8Async(first, 3, 8, LEGACY));
        ok!(cuMemcpyDtoDAsync_v2(second, first, 8, blocking));
        ok!(cuStreamSynchronize(blocking));
        assert_eq!(read(second, 8), [3; 8]);
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 1, "{}", cuda_sim::report());
        // What is queued on a destroyed stream still runs, in its order.
        ok!(cuMemsetD8Async(first, 4, 8, blocking));
        ok!(cuStreamDestroy_v2(blocking));
        assert_eq!(read(first, 8), [4; 8]);
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

extern "system" fn count(data: *mut c_void) {
    assert_eq!(data.addr(), 77);
    let mut context = ptr::null_mut();
    // Manual: no driver calls in a host function.
    let refused = code!(cuCtxGetCurrent(&mut context)) + code!(cuCtxSynchronize());
    CALLS.fetch_add(refused, Ordering::SeqCst);
}

fn host_functions() {
    start();
    let mine = stream(1);
    let memory = alloc(8);
    for _ in 0..3 {
        ok!(cuMemsetD8Async(memory, 9, 8, mine));
        ok!(cuLaunchHostFunc(mine, Some(count), ptr::without_provenance_mut(77)));
    }
    ok!(cuStreamSynchronize(mine));
    assert_eq!(CALLS.load(Ordering::SeqCst), 3 * 1600);
    assert_eq!(code!(cuLaunchHostFunc(mine, None, ptr::null_mut())), 1);
    ok!(cuStreamDestroy_v2(mine));
    free(memory);
    end();
}

#[test]
fn host_functions_run_in_order_when_eager() {
    isolated!(Config::new(), host_functions);
}

#[test]
fn host_functions_run_in_order_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), host_functions);
}

#[test]
fn host_functions_run_in_order_when_seeded() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(5)), host_functions);
}

type Gate = (mpsc::Sender<()>, mpsc::Receiver<()>);

extern "system" fn gate(data: *mut c_void) {
    let gate: *mut Gate = data.cast();
    // SAFETY: the test passes a gate, and keeps it until the stream is done.
    let (reached, open) = unsafe { &*gate };
    reached.send(()).unwrap();
    open.recv().unwrap();
}

/// A host function holds a stream; the program goes on, and waits for it outside of the driver.
fn held_stream() {
    start();
    let (held, other) = (stream(1), stream(1));
    let (memory, elsewhere) = (alloc(8), alloc(8));
    let (reached, is_reached) = mpsc::channel();
    let (open, opened) = mpsc::channel();
    let mut held_by: Gate = (reached, opened);
    ok!(cuLaunchHostFunc(held, Some(gate), ptr::from_mut(&mut held_by).cast()));
    ok!(cuMemsetD8Async(memory, 1, 8, held));
    is_reached.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(code!(cuStreamQuery(held)), 600);
    ok!(cuMemsetD8Async(elsewhere, 2, 8, other));
    ok!(cuStreamSynchronize(other));
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        open.send(()).unwrap();
    });
    ok!(cuStreamSynchronize(held));
    opener.join().unwrap();
    assert_eq!((read(memory, 8), read(elsewhere, 8)), (vec![1; 8], vec![2; 8]));
    ok!(cuStreamDestroy_v2(held));
    ok!(cuStreamDestroy_v2(other));
    free(memory);
    free(elsewhere);
    end();
}

#[test]
fn a_host_function_holds_its_stream_when_eager() {
    isolated!(Config::new(), held_stream);
}

#[test]
fn a_host_function_holds_its_stream_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), held_stream);
}

#[test]
fn the_same_seed_is_the_same_order() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(3))).unchecked().run(|| {
        start();
        let streams = [stream(1), stream(1), stream(1)];
        let memory = alloc(64);
        for round in 0..30 {
            ok!(cuMemsetD8Async(memory, round, 64, streams[usize::from(round) % 3]));
        }
        ok!(cuCtxSynchronize());
        let order = cuda_sim::report().order.to_string();
        if cuda_sim::role().is_some() {
            std::fs::write(std::env::var_os("ORDER_FILE").unwrap(), order).unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("order");
        let mut again = cuda_sim::peer("again").unwrap();
        assert!(again.env("ORDER_FILE", &file).status().unwrap().success());
        assert_eq!(std::fs::read_to_string(file).unwrap(), order);
    });
}
