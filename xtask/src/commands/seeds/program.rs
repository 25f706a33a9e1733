//! One test program, and one run of some of its tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::Scheduler;
use crate::test_programs::{Outcome, TestProgram, outcomes};
use crate::workspace;

/// Stands in the place of a test's name where a program ends badly and no test of it failed.
const NO_TEST: &str = "(the program itself)";

/// Is a test program with the names of its tests.
pub(super) struct Program {
    built: TestProgram,
    /// The member and the target: `cuda-safe::order`.
    pub(super) name: String,
    /// The tests that are asked for.
    pub(super) tests: BTreeSet<String>,
    all: BTreeSet<String>,
    /// Where it leaves what it prints and notes.
    folder: PathBuf,
}

/// Is what one run of a program showed.
#[derive(Default)]
pub(super) struct Run {
    pub(super) passed: BTreeSet<String>,
    pub(super) failed: BTreeSet<String>,
    pub(super) ignored: BTreeSet<String>,
    /// The tests that took the run's scheduler.
    pub(super) took: BTreeSet<String>,
    /// What the program printed.
    pub(super) output: PathBuf,
}

/// Is what a test notes that took the run's scheduler.
#[derive(Deserialize)]
struct Note {
    test: String,
    #[serde(rename = "scheduler")]
    _scheduler: String,
}

impl Program {
    /// Asks a program for its tests.
    pub(super) fn new(built: TestProgram, folder: &Path) -> Result<Self> {
        let output = Command::new(&built.file).args(["--list", "--format", "terse"]).output()?;
        ensure!(output.status.success(), "{} lists no tests", built.file.display());
        let text = String::from_utf8(output.stdout)?;
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        let all: BTreeSet<String> = tests.map(str::to_owned).collect();
        let target = if built.is("test") { built.target.as_str() } else { "src" };
        let name = format!("{}::{target}", built.member);
        Ok(Self { name, built, tests: all.clone(), all, folder: folder.to_owned() })
    }

    /// Keeps the tests whose name holds one of some texts; all, if there are none.
    pub(super) fn only(mut self, texts: &[String]) -> Self {
        let name = &self.name;
        self.tests.retain(|test| {
            let whole = format!("{name}::{test}");
            texts.is_empty() || texts.iter().any(|text| whole.contains(text))
        });
        self
    }

    /// Runs some tests in the member's folder, as cargo does. The others are skipped by name: that is
    /// what every harness takes more than one name for.
    pub(super) fn run(&self, tests: &BTreeSet<String>, scheduler: Scheduler) -> Result<Run> {
        let stem = format!("{}-{scheduler}", self.name).replace(':', "-");
        let notes = self.folder.join(format!("{stem}.jsonl"));
        let program = Command::new(&self.built.file)
            .current_dir(workspace::root().join(&self.built.member))
            .arg("--exact")
            .args(self.all.difference(tests).flat_map(|other| ["--skip", other]))
            .env("CUDA_TEST_SCHEDULER", scheduler.to_string())
            .env("CUDA_TEST_RESULTS", &notes)
            .env_remove("CUDA_TEST_ON")
            .output()
            .with_context(|| format!("{} could not be started", self.built.file.display()))?;
        let (stdout, stderr) = (program.stdout, program.stderr);
        let mut run = read(&String::from_utf8_lossy(&stdout), tests, program.status.success());
        run.output = self.folder.join(format!("{stem}.txt"));
        std::fs::write(&run.output, [stdout, stderr].concat())?;
        // Where no test took the scheduler there is no file.
        run.took = took(&std::fs::read_to_string(notes).unwrap_or_default());
        Ok(run)
    }

    /// Returns the command that runs a test once more as it ran.
    pub(super) fn repeat(&self, test: &str, scheduler: Scheduler) -> String {
        let TestProgram { member, target, .. } = &self.built;
        let program =
            if self.built.is("test") { format!("--test {target}") } else { "--lib".to_owned() };
        let test = if test == NO_TEST { String::new() } else { format!(" -- --exact {test}") };
        format!(
            "CUDA_TEST_SCHEDULER={scheduler} cargo test -p {member} --all-features {program}{test}"
        )
    }
}

/// Reads what a harness printed of some tests: one of which it says nothing failed.
fn read(text: &str, tests: &BTreeSet<String>, ended_well: bool) -> Run {
    let mut run = Run::default();
    for (name, outcome) in outcomes(text) {
        let list = match outcome {
            Outcome::Passed => &mut run.passed,
            Outcome::Failed => &mut run.failed,
            Outcome::Ignored => &mut run.ignored,
        };
        list.insert(name.to_owned());
    }
    let is_told = |test: &&String| run.passed.contains(*test) || run.ignored.contains(*test);
    let untold: Vec<String> = tests.iter().filter(|test| !is_told(test)).cloned().collect();
    run.failed.extend(untold);
    if !ended_well && run.failed.is_empty() {
        run.failed.insert(NO_TEST.to_owned());
    }
    run
}

/// Reads which tests took the run's scheduler.
fn took(lines: &str) -> BTreeSet<String> {
    let read = |line| serde_json::from_str::<Note>(line).ok();
    lines.lines().filter_map(read).map(|note| note.test).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_test_that_says_nothing_failed() {
        let text = "test a ... ok\ntest b ... ignored\ntest c ... FAILED\n";
        let run = read(text, &set(&["a", "b", "c", "d"]), false);
        assert_eq!(run.passed, set(&["a"]));
        assert_eq!(run.ignored, set(&["b"]));
        assert_eq!(run.failed, set(&["c", "d"]));
    }

    #[test]
    fn a_program_that_ends_badly_failed() {
        let run = read("test a ... ok\n", &set(&["a"]), false);
        assert_eq!(run.failed, set(&[NO_TEST]));
        assert!(read("test a ... ok\n", &set(&["a"]), true).failed.is_empty());
    }

    #[test]
    fn other_notes_are_passed_over() {
        let lines = "{\"test\": \"a\", \"scheduler\": \"lazy\"}\n\
                     {\"test\": \"b\", \"not_run\": \"why\"}\nrubbish\n";
        assert_eq!(took(lines), set(&["a"]));
    }
}
