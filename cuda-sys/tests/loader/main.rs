//! The loader against fake drivers, each case in a process of its own: a process has one driver.
//!
//! A case prepares an environment, then runs its body in a child that has it. Cases named
//! `reports_NN` are rows of the project's log of public reports.

#![expect(clippy::print_stderr, reason = "a test harness talks")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod absent;
mod answers;
mod choice;

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

/// The variable that tells a child which case it is.
const CASE: &str = "CUDA_SYS_TEST_CASE";

/// Is one case.
struct Case {
    name: &'static str,
    /// Prepares a scratch folder and returns the variables of the child's environment.
    prepare: fn(&Path) -> Vec<(&'static str, String)>,
    /// Runs in the child.
    body: fn(),
    /// Runs a second time under valgrind.
    is_watched: bool,
}

fn cases() -> Vec<Case> {
    [absent::cases(), answers::cases(), choice::cases()].into_iter().flatten().collect()
}

fn main() -> ExitCode {
    if let Some(name) = std::env::var_os(CASE) {
        let case = cases().into_iter().find(|case| *case.name == *name);
        let Some(case) = case else {
            eprintln!("no case {}", name.display());
            return ExitCode::FAILURE;
        };
        (case.body)();
        return ExitCode::SUCCESS;
    }
    let mut trials: Vec<Trial> = Vec::new();
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    for case in cases() {
        if case.is_watched {
            let (prepare, name) = (case.prepare, case.name);
            let watched = Trial::test(format!("{name}_under_valgrind"), move || {
                run(name, prepare, &["valgrind", "--quiet", "--error-exitcode=9"])
            });
            // What could not run has not passed: it is listed as ignored.
            trials.push(watched.with_ignored_flag(!has_valgrind));
        }
        trials.push(Trial::test(case.name, move || run(case.name, case.prepare, &[])));
    }
    trials.extend(absent::properties());
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs a case's body in a child, perhaps under another program.
fn run(
    name: &str,
    prepare: fn(&Path) -> Vec<(&'static str, String)>,
    under: &[&str],
) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    run_with(name, prepare(scratch.path()), under)
}

/// Runs a case's body in a child with that environment.
fn run_with(
    name: &str,
    environment: Vec<(&'static str, String)>,
    under: &[&str],
) -> Result<(), Failed> {
    let this = std::env::current_exe()?;
    let mut command = match under {
        [] => Command::new(this),
        [program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments).arg(this);
            command
        }
    };
    for variable in ["CUDA_SYS_DRIVER", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    let output = command.env(CASE, name).envs(environment).output()?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}\n{stderr}", output.status).into())
}
