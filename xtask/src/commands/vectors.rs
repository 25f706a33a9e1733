//! `cargo xtask vectors`: layout cases from files.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

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
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["run", "--quiet", "--package=cuda-safe", "--no-default-features"])
            .args(["--example=vectors", "--manifest-path"])
            .arg(workspace::root().join("Cargo.toml"))
            .arg("--")
            .args(self.files)
            .status()
            .context("cargo could not be started")?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
