//! Planted races, each with its corrected twin. The race is found, and names both sides; run late,
//! it gives wrong bytes, and so do some of a hundred random orders. The twin is silent and right.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the counts are printed, and what several tests use is a test too"
)]

mod between;
#[path = "../common/mod.rs"]
mod common;
mod kinds;
#[path = "../remote/mod.rs"]
mod remote;

use std::path::{Path, PathBuf};

use between::{Order, beside_another};
use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, Side, isolated, peer, role};
use kinds::Kind;

/// Runs a kind's program, and tells whether its bytes are right.
fn program(kind: &Kind, corrected: bool) -> bool {
    start();
    let right = (kind.program)(corrected);
    ok!(cuCtxSynchronize());
    right
}

/// Tells whether a side says all that it can.
fn is_complete(side: &Side, call: &str) -> bool {
    side.call == call && !side.operand.is_empty() && side.stream.is_some() && side.access.is_some()
}

/// Runs a race under the scheduler of this process.
fn check_race(kind: &Kind, wrong: bool) {
    let right = program(kind, false);
    let report = cuda_sim::report();
    assert!(!wrong || !right, "the bytes are right though a wait is missing");
    if let Some((earlier, later)) = kind.sides {
        let races = report.findings.iter().filter(|finding| finding.kind == FindingKind::Race);
        let mut named = races.map(|race| (race.earlier.as_ref().unwrap(), &race.later));
        assert!(
            named.any(|(first, second)| is_complete(first, earlier) && is_complete(second, later)),
            "{report}"
        );
    }
}

/// Runs a twin under the scheduler of this process.
fn check_twin(kind: &Kind) {
    assert!(program(kind, true), "the twin's bytes are wrong");
    let report = cuda_sim::report();
    assert!(report.findings.is_empty(), "{report}");
}

/// Counts in how many of a hundred orders the bytes of a program are wrong.
fn count_wrong(name: &str, is_right: impl FnOnce() -> bool) {
    if role().is_some() {
        std::process::exit(if is_right() { 0 } else { 77 });
    }
    let wrong = (1..=100).filter(|&seed| {
        let config = Config::new().scheduler(Scheduler::Seeded(seed));
        let mut peer = peer("seed").unwrap();
        let peer = peer.env(cuda_sim::ENVIRONMENT, config.to_text());
        let status = peer.output().unwrap().status.code();
        assert!(matches!(status, Some(0 | 77)), "seed {seed}: {status:?}");
        status == Some(77)
    });
    let wrong = wrong.count();
    std::fs::write(count_file(name), wrong.to_string()).unwrap();
    assert!(wrong > 0, "no order showed it");
}

/// Returns where the count of a kind is left for the process that prints it.
fn count_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("race-{name}"))
}

/// Prints how often the bytes of a kind were wrong.
fn print_count(name: &str) {
    if let Ok(wrong) = std::fs::read_to_string(count_file(name)) {
        println!("{name}: wrong in {wrong} of 100 orders");
    }
}

macro_rules! races {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn is_found_when_eager() {
                isolated!(Config::new()).unchecked().run(|| check_race(&kinds::$name(), false));
            }

            #[test]
            fn is_wrong_when_lazy() {
                let config = Config::new().scheduler(Scheduler::Lazy);
                isolated!(config).unchecked().run(|| check_race(&kinds::$name(), true));
            }

            #[test]
            fn is_wrong_under_some_seeds() {
                isolated!(Config::new())
                    .unchecked()
                    .run(|| count_wrong(stringify!($name), || program(&kinds::$name(), false)));
                print_count(stringify!($name));
            }

            #[test]
            fn corrected_is_silent_when_eager() {
                isolated!(Config::new()).unchecked().run(|| check_twin(&kinds::$name()));
            }

            #[test]
            fn corrected_is_silent_when_lazy() {
                let config = Config::new().scheduler(Scheduler::Lazy);
                isolated!(config).unchecked().run(|| check_twin(&kinds::$name()));
            }

            #[test]
            fn corrected_is_silent_when_seeded() {
                let config = Config::new().scheduler(Scheduler::Seeded(5));
                isolated!(config).unchecked().run(|| check_twin(&kinds::$name()));
            }
        }
    )*};
}

races! {
    event_recorded_too_early
    event_recorded_again
    event_of_the_wrong_stream
    legacy_against_non_blocking
    partial_overlap
    freed_in_use
    pool_memory_reused
    host_read
    host_function
}

/// The memory is another process's, and so is one of the two sides.
mod across_processes {
    use super::*;

    fn schedulers() -> [Config; 3] {
        [Scheduler::Eager, Scheduler::Lazy, Scheduler::Seeded(5)]
            .map(|scheduler| Config::new().scheduler(scheduler))
    }

    /// Runs a body for each order, each in processes of its own, whose role says which it is.
    fn for_each(orders: &[Order], configs: &[Config], body: fn(Order)) {
        beside_another(|| match role().and_then(|role| role.parse::<usize>().ok()) {
            Some(number) => body(orders[number]),
            None => {
                for (number, order) in orders.iter().enumerate() {
                    for config in configs {
                        let mut peer = peer(&number.to_string()).unwrap();
                        let peer = peer.env(cuda_sim::ENVIRONMENT, config.to_text());
                        let output = peer.output().unwrap();
                        let text = String::from_utf8_lossy(&output.stderr);
                        let status = output.status;
                        assert!(status.success(), "{order:?} ({status}): {text}");
                    }
                }
            }
        });
    }

    #[test]
    fn is_found_when_eager() {
        isolated!(Config::new()).unchecked().run(|| {
            for_each(&Order::RACES, &[Config::new()], |order| between::check_race(order, false));
        });
    }

    #[test]
    fn is_wrong_when_lazy() {
        isolated!(Config::new()).unchecked().run(|| {
            let lazy = Config::new().scheduler(Scheduler::Lazy);
            for_each(&Order::RACES, &[lazy], |order| between::check_race(order, true));
        });
    }

    #[test]
    fn is_wrong_under_some_seeds() {
        isolated!(Config::new()).unchecked().run(|| {
            beside_another(|| {
                count_wrong("across_processes", || {
                    between::written_here_and_read_there(Order::Nothing).is_right
                });
            });
        });
        print_count("across_processes");
    }

    #[test]
    fn corrected_is_silent() {
        isolated!(Config::new()).unchecked().run(|| {
            for_each(&Order::TWINS, &schedulers(), between::check_twin);
        });
    }

    #[test]
    fn the_exporter_finds_it_too() {
        isolated!(Config::new()).unchecked().run(|| beside_another(|| between::check_here(false)));
    }

    #[test]
    fn the_exporters_twin_is_silent() {
        isolated!(Config::new()).unchecked().run(|| beside_another(|| between::check_here(true)));
    }
}
