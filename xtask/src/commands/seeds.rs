//! `cargo xtask seeds`: the tests on the simulator under each of its schedulers, and many seeds.
//!
//! `CUDA_TEST_SCHEDULER` gives a test the scheduler that it doesn't state itself, and the test notes
//! that it took it. So the first run, eager, which is of every test, shows which tests can go another
//! way under another scheduler; those are run again under each.

mod program;
mod tally;

use std::fmt::{self, Display};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;

use crate::test_programs;
use crate::workspace;
use program::Program;
use tally::Tally;

/// The members whose tests run on the simulator, and are not its own.
const MEMBERS: [&str; 2] = ["cuda-ipc", "cuda-safe"];

/// Run the tests of `cuda-safe` and `cuda-ipc` on the simulator under each scheduler
#[derive(Debug, Args)]
pub(crate) struct Seeds {
    /// How many seeds the random scheduler is given, from 0 on
    #[arg(long, value_name = "N", default_value_t = 50)]
    seeds: u64,
    /// Only the tests whose name, as MEMBER::PROGRAM::TEST, holds one of these
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
}

/// Is the scheduler of a run.
#[derive(Clone, Copy)]
enum Scheduler {
    Eager,
    Lazy,
    Seeded(u64),
}

impl Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eager => f.pad("eager"),
            Self::Lazy => f.pad("lazy"),
            Self::Seeded(seed) => f.pad(&format!("seeded:{seed}")),
        }
    }
}

impl Seeds {
    pub(super) fn run(self) -> Result<ExitCode> {
        let folder = workspace::target().join("seeds");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        let built = test_programs::build(&MEMBERS)?;
        let tests = built.into_iter().filter(|program| !program.is("example"));
        let mut programs = Vec::new();
        for built in tests {
            let program = Program::new(built, &folder)?.only(&self.only);
            if !program.tests.is_empty() {
                programs.push((program, Tally::default()));
            }
        }
        ensure!(!programs.is_empty(), "no test is called so");
        programs.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let start = Instant::now();
        let others = (0..self.seeds).map(Scheduler::Seeded);
        for scheduler in [Scheduler::Eager, Scheduler::Lazy].into_iter().chain(others) {
            run_all(&mut programs, scheduler)?;
        }
        let page = tally::page(&programs, self.seeds);
        println!("\n{page}\n{:.0} s", start.elapsed().as_secs_f64());
        let file = folder.join("suite-simulator.md");
        std::fs::write(&file, page)?;
        println!("the table: {}", file.display());
        let holds = programs.iter().all(|(_, tally)| tally.failed.is_empty());
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Runs what is to be run under a scheduler, and says at once what fails.
fn run_all(programs: &mut [(Program, Tally)], scheduler: Scheduler) -> Result<()> {
    let start = Instant::now();
    let (mut passed, mut failed) = (0, 0);
    for (program, tally) in programs {
        let tests = match scheduler {
            Scheduler::Eager => program.tests.clone(),
            Scheduler::Lazy | Scheduler::Seeded(_) => tally.repeated.clone(),
        };
        if tests.is_empty() {
            continue;
        }
        let run = program.run(&tests, scheduler)?;
        for test in &run.failed {
            println!("FAILED  {}::{test} under {scheduler}", program.name);
            println!("        {}", program.repeat(test, scheduler));
            println!("        {}", run.output.display());
        }
        passed += run.passed.len();
        failed += run.failed.len();
        tally.add(run, scheduler);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{scheduler:<10} {passed:>4} passed {failed:>4} failed {seconds:>6.1} s");
    Ok(())
}
