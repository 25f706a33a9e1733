//! What the runs of a program showed, and the table of all programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Scheduler;
use super::program::{Program, Run};

/// Is what the runs of one program showed so far.
#[derive(Default)]
pub(super) struct Tally {
    /// The tests that state their scheduler, or use none.
    pub(super) once: BTreeSet<String>,
    /// The tests that take the run's scheduler.
    pub(super) repeated: BTreeSet<String>,
    pub(super) ignored: BTreeSet<String>,
    /// How many times a test passed.
    pub(super) passed: usize,
    /// The tests that failed, with the schedulers that show it.
    pub(super) failed: BTreeMap<String, Vec<String>>,
}

impl Tally {
    /// Adds one run. The first is eager, and is of every test.
    pub(super) fn add(&mut self, run: Run, scheduler: Scheduler) {
        self.passed += run.passed.len();
        if matches!(scheduler, Scheduler::Eager) {
            let ran = run.passed.iter().chain(&run.failed);
            self.once = ran.filter(|&test| !run.took.contains(test)).cloned().collect();
            self.ignored = run.ignored;
            self.repeated = run.took;
        }
        for test in run.failed {
            self.failed.entry(test).or_default().push(scheduler.to_string());
        }
    }
}

/// Writes the table of all programs, what failed, and what was ignored.
pub(super) fn page(programs: &[(Program, Tally)], seeds: u64) -> String {
    let times = seeds.saturating_add(2);
    let mut page = format!(
        "| program | tests run {times} times | once | passed | failed | ignored |\n|---|--:|--:|--:|--:|--:|\n"
    );
    let mut sums = [0; 5];
    for (program, tally) in programs {
        let Tally { once, repeated, ignored, passed, failed } = tally;
        let failures = failed.values().map(Vec::len).sum();
        let row = [repeated.len(), once.len(), *passed, failures, ignored.len()];
        sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        line(&mut page, &format!("`{}`", program.name), row);
    }
    line(&mut page, "all", sums);
    for (program, tally) in programs {
        for (test, schedulers) in &tally.failed {
            let schedulers = schedulers.join(", ");
            // Writing to a string does not fail.
            let _ = write!(page, "\nfailed under {schedulers}: `{}::{test}`\n", program.name);
        }
        for test in &tally.ignored {
            let _ = write!(page, "\nignored: `{}::{test}`\n", program.name);
        }
    }
    page
}

fn line(page: &mut String, name: &str, counts: [usize; 5]) {
    page.push_str(&format!("| {name} |"));
    for count in counts {
        page.push_str(&format!(" {count} |"));
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_first_run_tells_which_tests_are_repeated() {
        let mut tally = Tally::default();
        let first = Run {
            passed: set(&["states_its_own", "takes"]),
            ignored: set(&["long"]),
            took: set(&["takes"]),
            ..Run::default()
        };
        tally.add(first, Scheduler::Eager);
        assert_eq!(tally.once, set(&["states_its_own"]));
        let next = Run { failed: set(&["takes"]), took: set(&["takes"]), ..Run::default() };
        tally.add(next, Scheduler::Seeded(3));
        assert_eq!(tally.repeated, set(&["takes"]));
        assert_eq!(tally.ignored, set(&["long"]));
        assert_eq!(tally.passed, 2);
        let failed = BTreeMap::from([("takes".to_owned(), vec!["seeded:3".to_owned()])]);
        assert_eq!(tally.failed, failed);
    }
}
