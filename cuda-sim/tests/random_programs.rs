//! Random programs of copies, fills, host functions, frees, and streams that come and go: in order,
//! nothing is found and the bytes are the model's; with one wait less, a race is found exactly if an
//! oracle says that two steps are in no order.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "what several tests use is a test too"
)]

mod common;
mod programs;

use cuda_sim::{Config, FindingKind, Scheduler, isolated};
use programs::{Step, of_seed, run, step_of};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

const STREAMS: usize = 4;

/// Makes programs of up to 60 steps of which proptest knows how to make shorter ones.
fn any_program() -> impl Strategy<Value = Vec<Step>> {
    let step = prop::collection::vec(any::<u16>(), 8).prop_map(|numbers| {
        let mut numbers = numbers.into_iter().map(usize::from);
        step_of(|bound| numbers.next().unwrap_or(0) % bound.max(1), STREAMS)
    });
    prop::collection::vec(step, 1..60)
}

fn cases(cases: u32) -> TestRunner {
    TestRunner::new(Cases { cases, failure_persistence: None, ..Cases::default() })
}

/// Returns how many findings there were, and how many of them races.
fn found() -> (usize, usize) {
    let report = cuda_sim::report();
    assert_eq!(report.left_out, 0);
    (report.findings.len(), report.count(FindingKind::Race))
}

/// Runs ordered programs.
fn ordered() {
    cases(48)
        .run(&any_program(), |steps| {
            let outcome = run(&steps, STREAMS, None, true);
            prop_assert!(outcome.is_right && !outcome.races && !outcome.races_with_host);
            prop_assert_eq!(found(), (0, 0), "{}", cuda_sim::report());
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_is_in_order_is_right_when_eager() {
    isolated!(Config::new(), ordered);
}

#[test]
fn what_is_in_order_is_right_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), ordered);
}

#[test]
fn what_is_in_order_is_right_when_seeded() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(9)), ordered);
}

#[test]
fn what_is_in_order_is_right_without_reports() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(10)).reports(false)).run(|| {
        for seed in 0..30 {
            assert!(run(&of_seed(seed, 60, STREAMS), STREAMS, None, false).is_right, "{seed}");
        }
    });
}

/// Runs programs with one wait less: a race is found exactly if there is one.
fn one_wait_less() {
    let (mut races, mut needless) = (0, 0);
    for seed in 0..12 {
        // What runs when a host function does is known to the host then, which no oracle foretells.
        let mut steps = of_seed(seed, 30, STREAMS);
        steps.retain(|step| !matches!(step, Step::Host { .. }));
        let waits = run(&steps, STREAMS, None, true).waits;
        for skipped in (0..waits).step_by(3) {
            let before = found().1;
            let outcome = run(&steps, STREAMS, Some(skipped), true);
            assert_eq!(found().1 > before, outcome.races, "seed {seed}, wait {skipped}");
            *if outcome.races { &mut races } else { &mut needless } += 1;
        }
    }
    assert!(races > 30 && needless > 5, "{races} races, {needless} needless waits");
}

#[test]
fn one_wait_less_is_found_when_eager() {
    isolated!(Config::new()).unchecked().run(one_wait_less);
}

#[test]
fn one_wait_less_is_found_when_lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(one_wait_less);
}
