//! The chores, by name.

mod coverage;
mod gpu;
mod lock;
mod mutate;
mod numpy;
mod operations;
mod outside;
pub(crate) mod regen;
mod reports;
mod seeds;
mod simulator;
mod test;
mod vectors;

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
    Vectors(vectors::Vectors),
    Numpy(numpy::Numpy),
    Operations(operations::Operations),
    Reports(reports::Reports),
    Outside(outside::Outside),
    Gpu(gpu::Gpu),
    Simulator(simulator::Simulator),
    Mutate(mutate::Mutate),
    Seeds(seeds::Seeds),
}

impl Chore {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Self::Regen(chore) => chore.run(),
            Self::Lock(chore) => chore.run(),
            Self::Coverage(chore) => chore.run(),
            Self::Test(chore) => chore.run(),
            Self::Vectors(chore) => chore.run(),
            Self::Numpy(chore) => chore.run(),
            Self::Operations(chore) => chore.run(),
            Self::Reports(chore) => chore.run(),
            Self::Outside(chore) => chore.run(),
            Self::Gpu(chore) => chore.run(),
            Self::Simulator(chore) => chore.run(),
            Self::Mutate(chore) => chore.run(),
            Self::Seeds(chore) => chore.run(),
        }
    }
}
