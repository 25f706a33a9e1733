//! `cargo xtask gpu`: the tests as a bundle for a machine with a GPU and no Rust, and what it says.
//!
//! The bundle holds the test programs as they are. `CUDA_TEST_ON=device` tells them to use the real
//! driver instead of the simulator; each test that uses a device runs in a process of its own, so
//! that a crash or a sticky error ends one test.

mod bundle;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

/// Bundle the tests for a machine with a GPU, or report what they said there
#[derive(Debug, Args)]
pub(crate) struct Gpu {
    /// Read the results that the bundle's `run` left in DIR
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

impl Gpu {
    pub(super) fn run(self) -> Result<ExitCode> {
        match self.report {
            Some(folder) => report::report(&folder),
            None => bundle::bundle(),
        }
    }
}
