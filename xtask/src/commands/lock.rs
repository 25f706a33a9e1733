//! `cargo xtask lock`: the lock lines of one more wheel.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::fetch;

/// Print the entry of a wheel for xtask/headers.lock
#[derive(Debug, Args)]
pub(crate) struct Lock {
    /// The package and its version: nvidia-nvfatbin==13.4.92
    requirement: String,
    /// The library of libraries.toml whose headers it holds
    #[arg(long)]
    provides: String,
    /// The CUDA release of those headers: 13.4
    #[arg(long)]
    release: Option<String>,
}

impl Lock {
    pub(super) fn run(self) -> Result<ExitCode> {
        let entry = fetch::describe(&self.requirement, &self.provides, self.release.as_deref())?;
        print!("{entry}");
        Ok(ExitCode::SUCCESS)
    }
}
