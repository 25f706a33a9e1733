//! `cargo xtask reports`: of each bug that was reported elsewhere, the tests here, or why there are none.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::reports::{self, Comparison};

/// List the bugs of docs/reports.toml, each with how many tests there are, or why there are none
#[derive(Debug, Args)]
pub(crate) struct Reports {
    /// Print the totals only
    #[arg(long)]
    totals: bool,
}

impl Reports {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Comparison { lines, totals, problems } = reports::compare()?;
        if !self.totals {
            lines.iter().for_each(|line| println!("{line}"));
        }
        problems.iter().for_each(|problem| println!("{problem}"));
        println!("{:<36} {:>6} {:>8}", "section", "tested", "excused");
        let (mut tested, mut excused) = (0, 0);
        for (title, its_tested, its_excused) in totals {
            println!("{title:<36} {its_tested:>6} {its_excused:>8}");
            (tested, excused) = (tested + its_tested, excused + its_excused);
        }
        println!("{:<36} {tested:>6} {excused:>8}", "together");
        Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
