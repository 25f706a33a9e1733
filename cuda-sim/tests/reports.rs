//! What the simulator tells of programs that are wrong, and of their corrected twins nothing.

mod common;

use common::*;
use cuda_sim::{AccessKind, Config, FindingKind, Scheduler, isolated};
use cuda_sys::*;

/// Runs a body under each scheduler, each in a process of its own: `cargo test` sees three tests.
macro_rules! under_each_scheduler {
    ($($name:ident: $kind:expr, $body:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn eager() {
                isolated!(Config::new()).unchecked().run(|| found($kind, $body));
            }

            #[test]
            fn lazy() {
                let config = Config::new().scheduler(Scheduler::Lazy);
                isolated!(config).unchecked().run(|| found($kind, $body));
            }

            #[test]
            fn seeded() {
                let config = Config::new().scheduler(Scheduler::Seeded(11));
                isolated!(config).unchecked().run(|| found($kind, $body));
            }
        }
    )*};
}

/// Runs the planted mistake, which must be the only finding, or its twin, of which there is none.
fn found(kind: Option<FindingKind>, body: fn()) {
    start();
    body();
    ok!(cuCtxSynchronize());
    let report = cuda_sim::report();
    match kind {
        Some(kind) => {
            assert!(report.count(kind) > 0, "{report}");
            assert_eq!(report.count(kind), report.findings.len(), "{report}");
        }
        None => assert!(report.findings.is_empty(), "{report}"),
    }
}

fn streams() -> (CUstream, CUstream, CUdeviceptr) {
    (stream(1), stream(1), alloc(4096))
}

under_each_scheduler! {
    no_event: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    an_event: None, || {
        let (left, right, memory) = streams();
        let done = event();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuEventRecord(done, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    an_event_recorded_too_early: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let done = event();
        ok!(cuEventRecord(done, left));
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemcpyDtoDAsync_v2(at(memory, 2048), memory, 64, right));
    };
    an_event_of_the_wrong_stream: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let done = event();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuEventRecord(done, right));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    an_event_that_was_recorded_again: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let (third, done) = (stream(1), event());
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuEventRecord(done, left));
        ok!(cuEventRecord(done, third));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    an_event_recorded_again_after_the_wait: None, || {
        let (left, right, memory) = streams();
        let done = event();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuEventRecord(done, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuEventRecord(done, left));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    legacy_against_non_blocking: Some(FindingKind::Race), || {
        let (left, _, memory) = streams();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuMemsetD8_v2(memory, 2, 64));
    };
    legacy_against_blocking: None, || {
        let memory = alloc(64);
        ok!(cuMemsetD8Async(memory, 1, 64, stream(0)));
        ok!(cuMemsetD8_v2(memory, 2, 64));
        ok!(cuMemsetD8Async(memory, 1, 64, stream(0)));
    };
    partial_overlap: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD2D8Async(memory, 64, 1, 33, 16, left));
        ok!(cuMemsetD2D8Async(at(memory, 32), 64, 2, 32, 16, right));
    };
    interleaved_halves: None, || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD2D8Async(memory, 64, 1, 32, 16, left));
        ok!(cuMemsetD2D8Async(at(memory, 32), 64, 2, 32, 16, right));
    };
    two_readers: None, || {
        let (left, right, memory) = streams();
        let (first, second) = (alloc(64), alloc(64));
        ok!(cuMemcpyDtoDAsync_v2(first, memory, 64, left));
        ok!(cuMemcpyDtoDAsync_v2(second, memory, 64, right));
    };
    a_writer_after_one_of_two_readers: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let (first, second, writer, done) = (alloc(64), alloc(64), stream(1), event());
        ok!(cuMemcpyDtoDAsync_v2(first, memory, 64, left));
        ok!(cuMemcpyDtoDAsync_v2(second, memory, 64, right));
        ok!(cuEventRecord(done, right));
        ok!(cuStreamWaitEvent(writer, done, 0));
        ok!(cuMemsetD8Async(memory, 0, 64, writer));
    };
    the_host_waits_between: None, || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        ok!(cuStreamSynchronize(left));
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    a_fill_without_a_stream_is_no_wait: Some(FindingKind::Race), || {
        let (left, _, memory) = streams();
        ok!(cuMemsetD8_v2(memory, 1, 64));
        ok!(cuMemsetD8Async(memory, 2, 64, left));
    };
    pool_memory_freed_in_use: Some(FindingKind::Race), || {
        let (left, right, _) = streams();
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 64, left));
        ok!(cuStreamSynchronize(left));
        ok!(cuMemsetD8Async(memory, 1, 64, right));
        ok!(cuMemFreeAsync(memory, left));
    };
    pool_memory_used_before_it_is_there: Some(FindingKind::Race), || {
        let (left, right, _) = streams();
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 64, left));
        ok!(cuMemsetD8Async(memory, 1, 64, right));
        ok!(cuStreamSynchronize(right));
        ok!(cuMemFreeAsync(memory, left));
    };
    pool_memory_used_in_order: None, || {
        let (left, right, _) = streams();
        let (mut memory, done) = (CUdeviceptr(0), event());
        ok!(cuMemAllocAsync(&mut memory, 64, left));
        ok!(cuEventRecord(done, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        ok!(cuMemsetD8Async(memory, 1, 64, right));
        ok!(cuEventRecord(done, right));
        ok!(cuStreamWaitEvent(left, done, 0));
        ok!(cuMemFreeAsync(memory, left));
        ok!(cuMemAllocAsync(&mut memory, 64, left));
        ok!(cuMemFreeAsync(memory, left));
    };
    memory_used_after_its_free: Some(FindingKind::UseAfterFree), || {
        let memory = alloc(64);
        free(memory);
        assert_eq!(code!(cuMemsetD8_v2(at(memory, 8), 1, 8)), 1);
    };
    memory_freed_twice: Some(FindingKind::DoubleFree), || {
        let memory = alloc(64);
        free(memory);
        assert_eq!(code!(cuMemFree_v2(memory)), 1);
    };
    freed_while_pending_is_advice: Some(FindingKind::FreedWhilePending), || {
        let (left, _, memory) = streams();
        let page = pinned(64);
        ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), 64, left));
        ok!(cuMemFreeHost(page.cast()));
        assert!(cuda_sim::report().is_clean());
        free(memory);
    };
    pinned_memory_of_two_copies: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let page = pinned(64);
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, 64, left));
        ok!(cuMemcpyHtoDAsync_v2(at(memory, 64), page.cast(), 64, right));
    };
}

#[test]
fn a_race_names_both_sides() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (left, right, memory) = streams();
        ok!(cuMemsetD2D8Async(memory, 64, 1, 32, 4, left));
        let page = pinned(4096);
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, 100, right));
        let report = cuda_sim::report();
        let [race] = &report.findings[..] else { panic!("{report}") };
        let earlier = race.earlier.as_ref().unwrap();
        assert_eq!((earlier.call, earlier.operand), ("cuMemsetD2D8Async", "dstDevice"));
        let (kind, area) = earlier.access.unwrap();
        assert_eq!(kind, AccessKind::Write);
        assert_eq!((area.base, area.pitch, area.width, area.height), (memory.0, 64, 32, 4));
        assert_eq!((race.later.call, race.later.operand), ("cuMemcpyDtoHAsync_v2", "srcDevice"));
        assert_eq!(race.later.access.unwrap().0, AccessKind::Read);
        assert_ne!(earlier.stream, race.later.stream);
        let text = report.to_string();
        assert!(text.contains("non-blocking stream #"), "{text}");
        assert!(text.contains("4 rows of 32 bytes, 64 apart"), "{text}");
    });
}

#[test]
fn leaks_are_named() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let _ = (alloc(100), pinned(200), stream(0), event());
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 300, LEGACY));
        let report = cuda_sim::finish();
        let calls: Vec<_> = report.findings.iter().map(|finding| finding.later.call).collect();
        for call in [
            "cuMemAlloc_v2",
            "cuMemHostAlloc",
            "cuMemAllocAsync",
            "cuStreamCreate",
            "cuEventCreate",
            "cuDevicePrimaryCtxRetain",
        ] {
            assert_eq!(calls.iter().filter(|&&other| other == call).count(), 1, "{report}");
        }
        assert_eq!(report.count(FindingKind::Leak), 6);
        assert!(report.to_string().contains("300 bytes at 0x"), "{report}");
    });
}

#[test]
fn calls_are_logged() {
    isolated!(Config::new().log(true)).unchecked().run(|| {
        ok!(cuInit(0));
        let mut address = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut address, 16)), 201);
        let calls = cuda_sim::calls();
        assert_eq!(calls.len(), 2);
        assert_eq!(cuda_sim::call_count(), 2);
        assert_eq!(calls[0].to_string(), "cuInit(flags=0) -> CUDA_SUCCESS");
        assert_eq!((calls[1].function, calls[1].answer.0), ("cuMemAlloc_v2", 201));
        assert!(calls[1].arguments.ends_with("bytes=16"));
    });
}

#[inline(never)]
fn fill_here(memory: CUdeviceptr, value: u8, stream: CUstream) {
    ok!(cuMemsetD8Async(memory, value, 64, stream));
}

#[test]
fn a_finding_says_where_both_calls_were_made() {
    let config = Config::new().scheduler(Scheduler::Lazy).call_sites(true);
    isolated!(config).unchecked().run(|| {
        start();
        let (left, right, memory) = streams();
        fill_here(memory, 1, left);
        ok!(cuMemsetD8Async(memory, 2, 64, right));
        let report = cuda_sim::report();
        let finding = &report.findings[0];
        let frames = |side: &cuda_sim::Side| side.site.as_ref().unwrap().frames();
        let earlier = frames(finding.earlier.as_ref().unwrap());
        let later = frames(&finding.later);
        assert!(earlier[0].contains("fill_here"), "{earlier:?}");
        assert!(later[0].contains("a_finding_says_where"), "{later:?}");
        assert!(report.to_string().contains("fill_here"), "{report}");
    });
}

#[test]
fn without_being_asked_no_call_site_is_kept() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        alloc(64);
        assert_eq!(cuda_sim::finish().findings[0].later.site, None);
    });
}

#[test]
fn a_function_for_per_thread_streams_means_the_threads_own() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        start();
        let memory = alloc(64);
        let stream = stream(1);
        ok!(cuMemsetD8Async_ptsz(memory, 1, 64, LEGACY));
        ok!(cuMemsetD8Async_ptsz(memory, 2, 64, LEGACY));
        ok!(cuMemsetD8Async(memory, 3, 64, LEGACY));
        ok!(cuMemsetD8Async_ptsz(memory, 4, 64, LEGACY));
        assert!(cuda_sim::report().is_clean());
        ok!(cuMemsetD8Async_ptsz(memory, 5, 64, stream));
        let report = cuda_sim::report();
        assert!(report.to_string().contains("per-thread stream"), "{report}");
    });
}
