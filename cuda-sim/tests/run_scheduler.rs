//! The scheduler of a run of tests, as `CUDA_TEST_SCHEDULER` names it: who takes it, and who doesn't.
//!
//! Each test starts this program again with the variable, for one of the tests that only tell what they
//! see.

#![expect(clippy::unwrap_used, reason = "what several tests use is a test too")]

mod common;

use std::io::Write as _;
use std::process::{Command, Output};

use common::*;
use cuda_sim::{Config, Scheduler, for_each_failure, isolated, on_every_scheduler};
use cuda_sys::*;

/// Names the file for what was seen.
const SEEN: &str = "RUN_SCHEDULER_SEEN";

/// Adds to the file whether work runs at once.
fn look() {
    start();
    let (queue, memory) = (stream(1), alloc(64));
    ok!(cuMemsetD8Async(memory, 1, 64, queue));
    let pending = cuda_sim::report().pending;
    ok!(cuStreamSynchronize(queue));
    ok!(cuStreamDestroy_v2(queue));
    free(memory);
    end();
    tell(if pending == 0 { "at once" } else { "late" });
}

fn tell(seen: &str) {
    let Some(file) = std::env::var_os(SEEN) else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    writeln!(file, "{seen}").unwrap();
}

#[test]
#[ignore = "tells what it sees"]
fn states_none() {
    isolated!(Config::new(), look);
}

#[test]
#[ignore = "tells what it sees"]
fn states_eager() {
    isolated!(Config::new().scheduler(Scheduler::Eager), look);
}

#[test]
#[ignore = "tells what it sees"]
fn states_every() {
    on_every_scheduler!(Config::new(), look);
}

#[test]
#[ignore = "tells what it sees"]
fn states_failures() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_UNKNOWN, || {
        tell(if std::env::var("CUDA_SIM").unwrap().contains("scheduler=lazy") {
            "late"
        } else {
            "at once"
        });
        // SAFETY: the call takes no pointer.
        match unsafe { cuInit(0) } {
            CUresult::CUDA_SUCCESS => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}

/// A test's second process runs as the test does.
#[test]
#[ignore = "tells what it sees"]
fn has_a_peer() {
    isolated!(Config::new(), || {
        if cuda_sim::role().is_none() {
            assert!(cuda_sim::peer("second").unwrap().status().unwrap().success());
        }
        look();
    });
}

/// Runs one of the tests above; returns how it ended, what it saw, and what it noted.
fn run(test: &str, scheduler: Option<&str>) -> (Output, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let (seen, notes) = (folder.path().join("seen"), folder.path().join("notes"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored"]).env(SEEN, &seen);
    command.env("CUDA_TEST_RESULTS", &notes).env_remove("CUDA_TEST_SCHEDULER");
    if let Some(scheduler) = scheduler {
        command.env("CUDA_TEST_SCHEDULER", scheduler);
    }
    let output = command.output().unwrap();
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    (output, read(seen), read(notes))
}

#[test]
fn a_test_that_states_none_takes_the_runs() {
    let (output, seen, notes) = run("states_none", Some("lazy"));
    assert!(output.status.success());
    assert_eq!(seen, "late\n");
    assert_eq!(notes, "{\"test\": \"states_none\", \"scheduler\": \"lazy\"}\n");
    let (_, seen, notes) = run("states_none", Some("seeded:7"));
    assert!(!seen.is_empty());
    assert_eq!(notes, "{\"test\": \"states_none\", \"scheduler\": \"seeded:7\"}\n");
}

#[test]
fn a_run_without_one_changes_nothing() {
    let (_, seen, notes) = run("states_none", None);
    assert_eq!((seen.as_str(), notes.as_str()), ("at once\n", ""));
    let (_, seen, _) = run("states_every", None);
    assert_eq!(seen.lines().count(), 5, "{seen}");
    assert_eq!(seen.lines().take(2).collect::<Vec<_>>(), ["at once", "late"]);
}

#[test]
fn a_test_that_states_one_keeps_it() {
    let (output, seen, notes) = run("states_eager", Some("lazy"));
    assert!(output.status.success());
    assert_eq!((seen.as_str(), notes.as_str()), ("at once\n", ""));
}

#[test]
fn a_test_of_every_scheduler_takes_the_runs_alone() {
    let (_, seen, _) = run("states_every", Some("lazy"));
    assert_eq!(seen, "late\n");
}

#[test]
fn a_test_of_every_failure_takes_the_runs_each_time() {
    let (output, seen, _) = run("states_failures", Some("lazy"));
    assert!(output.status.success());
    // One process without a failure, and one in which `cuInit` fails.
    assert_eq!(seen, "late\nlate\n");
    assert_eq!(run("states_failures", None).1, "at once\nat once\n");
}

#[test]
fn a_second_process_takes_it_too() {
    assert_eq!(run("has_a_peer", Some("lazy")).1, "late\nlate\n");
    assert_eq!(run("has_a_peer", None).1, "at once\nat once\n");
}

#[test]
fn what_is_no_scheduler_fails_the_test_and_is_named() {
    for text in ["slow", "seeded", "seeded:x", "eager:1", ""] {
        let (output, seen, _) = run("states_none", Some(text));
        assert!(!output.status.success() && seen.is_empty(), "{text}");
        let said = [output.stdout, output.stderr].concat();
        let expected = format!("CUDA_TEST_SCHEDULER is {text:?}, and not eager, lazy or seeded:");
        assert!(String::from_utf8(said).unwrap().contains(&expected), "{text}");
    }
}

/// The variable is for tests in processes of their own: a program's configuration stays its own.
#[test]
#[ignore = "tells what it sees"]
fn installs_by_itself() {
    cuda_sim::install(Config::new()).unwrap();
    look();
}

#[test]
fn who_installs_by_himself_is_left_alone() {
    assert_eq!(run("installs_by_itself", Some("lazy")).1, "at once\n");
}
