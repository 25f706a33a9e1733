//! What the lists say of the tests, compared with the tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

/// Runs a chore, and fails with what it printed if it finds something.
fn holds(chore: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).arg(chore).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn every_public_function_has_a_test_of_failing_calls() {
    holds("operations");
}

#[test]
fn every_reported_bug_is_tested_or_excused() {
    holds("reports");
}
