//! A program that is not ours, in Python, by NVIDIA's own binding.
//!
//! `cargo xtask test` brings the binding and names its folder. Without it the test is listed as
//! ignored, and says so: what could not run has not passed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use support::{Place, errors};

/// Names the folder that holds the packages of `python/requirements.txt`.
const PACKAGES: &str = "CUDA_SIM_PYTHON_PACKAGES";

fn main() -> ExitCode {
    let trial = |name: &str, config: &'static str| {
        Trial::ignorable_test(format!("a_python_program_runs_{name}"), move || run(config))
    };
    let trials = vec![
        trial("as_soon_as_possible", "scheduler=eager"),
        trial("as_late_as_possible", "scheduler=lazy"),
        trial("at_random", "scheduler=seeded:7"),
        trial("on_two_devices", "devices=2"),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn run(config: &str) -> Result<Completion, Failed> {
    let Some(packages) = std::env::var_os(PACKAGES).filter(|folder| !folder.is_empty()) else {
        return Ok(Completion::ignored_with(format!(
            "not run: {PACKAGES} names no folder; `cargo xtask test` does"
        )));
    };
    let place = Place::new();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/program.py");
    let mut command = Command::new("python3");
    command.arg(program).env("PYTHONPATH", packages).env("CUDA_SIM", config);
    command.env("CUDA_SIM_EXIT_STATUS", "23").env_remove("CUDA_VISIBLE_DEVICES");
    place.search(&mut command);
    place.report_to_file(&mut command);
    let output = command.output()?;
    let report = std::fs::read_to_string(place.report()).unwrap_or_default();
    if !output.status.success() {
        return Err(format!("{}: {}\n{report}", output.status, errors(&output)).into());
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("cuda-bindings: all well"));
    // The program and the second process that it starts.
    assert_eq!(report.matches("cuda-sim: nothing was found").count(), 2, "{report}");
    Ok(Completion::Completed)
}
