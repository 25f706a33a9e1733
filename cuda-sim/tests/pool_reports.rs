//! What the simulator tells of programs that use pools wrongly, and of their corrected twins nothing.

mod common;
mod stream_memory;

use common::*;
use cuda_sim::{Config, FindingKind, isolated};
use stream_memory::*;

/// Makes the body of a test: what is found must be of that kind, or nothing.
fn found(kind: Option<FindingKind>, body: fn()) -> impl FnOnce() {
    move || {
        start();
        body();
        ok!(cuCtxSynchronize());
        let report = cuda_sim::report();
        // Work that ran too late is told once more.
        let late = kind.map_or(0, |_| report.count(FindingKind::UseAfterFree));
        let expected = match kind {
            Some(FindingKind::UseAfterFree) => late,
            Some(kind) => report.count(kind) + late,
            None => 0,
        };
        assert_eq!(expected, report.findings.len(), "{report}");
        assert_eq!(kind.is_some(), expected > 0, "{report}");
    }
}

#[test]
fn a_use_beside_the_free() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(
        3,
        found(Some(FindingKind::Race), || {
            let (left, right, pool) = (stream(1), stream(1), create(0, 0));
            let memory = alloc_from(pool, 4096, left);
            ok!(cuStreamSynchronize(left));
            ok!(cuMemsetD8Async(memory, 1, 4096, right));
            free_on(memory, left);
        }),
    );
}

#[test]
fn a_use_after_the_free() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(
        3,
        found(Some(FindingKind::UseAfterFree), || {
            let (left, right, pool) = (stream(1), stream(1), create(0, 0));
            let memory = alloc_from(pool, 4096, left);
            free_on(memory, left);
            assert_eq!(code!(cuMemsetD8Async(memory, 1, 4096, right)), 1);
        }),
    );
}

#[test]
fn a_use_of_memory_that_another_stream_has_got_since() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(
        3,
        found(Some(FindingKind::Race), || {
            let (left, right, pool) = (stream(1), stream(1), create(0, 0));
            let memory = alloc_from(pool, 4096, left);
            free_on(memory, left);
            assert_eq!(alloc_from(pool, 4096, left), memory);
            ok!(cuMemsetD8Async(memory, 1, 4096, right));
        }),
    );
}

#[test]
fn a_use_that_an_event_orders_before_the_free_and_reuse_by_others() {
    isolated!(Config::new()).unchecked().run_on_every_scheduler(
        3,
        found(None, || {
            let (left, right, pool) = (stream(1), stream(1), create(0, 0));
            let (ready, done) = (event(), event());
            for round in 0..5 {
                let memory = alloc_from(pool, 4096, left);
                ok!(cuEventRecord(ready, left));
                ok!(cuStreamWaitEvent(right, ready, 0));
                ok!(cuMemsetD8Async(memory, round, 4096, right));
                ok!(cuEventRecord(done, right));
                ok!(cuStreamWaitEvent(left, done, 0));
                free_on(memory, left);
                // Memory of its own, which may be what the other frees.
                let own = alloc_from(pool, 4096, right);
                ok!(cuMemsetD8Async(own, round, 4096, right));
                free_on(own, right);
            }
        }),
    );
}

#[test]
fn what_is_left_is_told() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let pool = create(0, 0);
        let memory = alloc_from(pool, 4096, LEGACY);
        ok!(cuCtxSynchronize());
        end();
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 2);
        start();
        free_on(memory, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        end();
        assert!(cuda_sim::finish().findings.is_empty());
    });
}
