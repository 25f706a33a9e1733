//! `cargo xtask vectors`: layout cases from files.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::workspace;

/// Run layout cases and print each that differs
#[derive(Debug, Args)]
pub(crate) struct Vectors {
    /// Files of cases; their form is that of cuda-safe/tests/data/layout-vectors.json
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

impl Vectors {
    pub(super) fn run(self) -> Result<ExitCode> {
        Ok(if pass(&self.files)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs the cases of files, prints what differs, and tells whether nothing does.
pub(super) fn pass(files: &[PathBuf]) -> Result<bool> {
    let status = workspace::cargo()
        .args(["run", "--quiet", "--package=cuda-safe", "--no-default-features"])
        .args(["--example=vectors", "--"])
        .args(files)
        .status()
        .context("cargo could not be started")?;
    Ok(status.success())
}
