//! Runs files of layout cases: `vectors FILE…` prints each difference, then how many passed.
//!
//! Exits with 1 if a case failed or a file could not be read.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a report")]

#[path = "../tests/vectors/mod.rs"]
mod vectors;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: vectors FILE…");
        return ExitCode::FAILURE;
    }
    let (mut passed, mut failed, mut unread) = (0, 0, 0);
    for file in &files {
        match vectors::run_file(file) {
            Ok(report) => {
                for difference in &report.differences {
                    println!("{difference}");
                }
                passed += report.passed;
                failed += report.differences.len();
            }
            Err(error) => {
                eprintln!("error: {error}");
                unread += 1;
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && unread == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
