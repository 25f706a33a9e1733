//! The chores, by name.

mod coverage;
mod lock;
mod regen;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// The workspace's chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version, about)]
pub(crate) enum Chore {
    Regen(regen::Regen),
    Lock(lock::Lock),
    Coverage(coverage::Coverage),
    Test(test::Test),
}

impl Chore {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Regen(chore) => chore.run(),
            Self::Lock(chore) => chore.run(),
            Self::Coverage(chore) => chore.run(),
            Self::Test(chore) => chore.run(),
        }
    }
}
