//! Tests that run unchanged on a real device: they are told so by their environment.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The variable that tells tests what to run on: `device`, or else the simulator.
const ON: &str = "CUDA_TEST_ON";

/// The variable that names a file for what tests note of themselves, as that they could not run there.
const RESULTS: &str = "CUDA_TEST_RESULTS";

/// Tells whether tests use the real driver and device: the variable `CUDA_TEST_ON` is `device`.
pub fn is_on_device() -> bool {
    std::env::var_os(ON).is_some_and(|on| on == "device")
}

/// Notes that a test could not run on the device, and why; it has not passed there.
///
/// The note is a line of JSON in the file that the variable `CUDA_TEST_RESULTS` names.
pub fn not_run(test: &str, reason: &str) {
    note(&format!("{{\"test\": {test:?}, \"not_run\": {reason:?}}}\n"));
}

/// Adds a line to the file for what was noted.
pub(crate) fn note(line: &str) {
    let Some(file) = std::env::var_os(RESULTS) else { return };
    let file = OpenOptions::new().create(true).append(true).open(file);
    // Without a note a test counts as passed on the device, which whoever reads the file can see.
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
