//! `cargo xtask operations`: each public function of `cuda-safe` has a test in which its driver calls
//! fail, and docs that name them, or a test which shows that it makes none.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::operations::{self, Comparison};

/// Compare the public functions of cuda-safe with the tests of what they do when the driver fails, and
/// with the driver's functions that their docs name
#[derive(Debug, Args)]
pub(crate) struct Operations;

impl Operations {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Comparison { public, failing, silent, named, excused, problems } =
            operations::compare()?;
        problems.iter().for_each(|problem| println!("{problem}"));
        println!(
            "{public} public functions: of {failing} each driver call fails in a test, {silent} make \
             none, {excused} are excused; {named} name the driver's in their docs"
        );
        Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
