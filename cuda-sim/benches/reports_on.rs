//! What calls cost with reports, as they are unless told otherwise.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark may panic")]

mod calls;
#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/programs/mod.rs"]
mod programs;

use cuda_sim::Config;

fn main() {
    calls::measure("reports on", Config::new());
}
