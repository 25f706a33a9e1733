//! What calls cost without reports.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark may panic")]

mod calls;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/programs/mod.rs"]
mod programs;

use cuda_sim::Config;

fn main() {
    calls::measure("reports off", Config::new().reports(false));
}
