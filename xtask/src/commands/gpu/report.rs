//! Reads what the bundle's programs left, and prints it by program and outcome.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::test_programs::{Outcome, outcomes};

/// Is one test as a test's own process told it: a test that ran says nothing there.
#[derive(Deserialize)]
struct Note {
    test: String,
    not_run: String,
}

/// Is one row of a table of answers, as a test compared it.
#[derive(Deserialize, Serialize)]
struct Row {
    table: String,
    row: String,
    have: String,
    measured: String,
    holds: bool,
    /// Why the simulator answers otherwise, if it does.
    simulator_differs: Option<String>,
}

/// Is everything that was read, for `results.json`.
#[derive(Serialize)]
struct Results {
    commit: String,
    device: String,
    rows: Vec<Row>,
    programs: BTreeMap<String, Program>,
}

#[derive(Default, Serialize)]
struct Program {
    passed: Vec<String>,
    failed: Vec<String>,
    not_run: BTreeMap<String, String>,
    exit_status: String,
}

pub(super) fn report(folder: &Path) -> Result<ExitCode> {
    let read = |name: &str| {
        let file = folder.join(name);
        std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    };
    let outcomes = read("outcomes.jsonl").unwrap_or_default();
    let notes = notes(&outcomes);
    let mut results = Results {
        commit: read("commit")?.trim().to_owned(),
        device: read("device")?.trim().to_owned(),
        rows: rows(&outcomes),
        programs: BTreeMap::new(),
    };
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(program) = name.strip_suffix(".txt") {
            results.programs.insert(program.to_owned(), parse(&read(&name)?, &notes));
        } else if name.ends_with(".part") {
            bail!("{name}: the program was still running; its results are not whole");
        }
    }
    if results.programs.is_empty() {
        bail!("no results in {}", folder.display());
    }
    let failures = print(&results);
    if !results.rows.is_empty() {
        print_rows(&results.rows);
        std::fs::write(folder.join("rows.md"), page(&results))?;
    }
    std::fs::write(folder.join("results.json"), serde_json::to_string_pretty(&results)? + "\n")?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn notes(lines: &str) -> BTreeMap<String, String> {
    let read = |line| serde_json::from_str::<Note>(line).ok();
    lines.lines().filter_map(read).map(|note| (note.test, note.not_run)).collect()
}

fn rows(lines: &str) -> Vec<Row> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Prints how many rows of each table hold, and each that does not or where the simulator differs.
fn print_rows(rows: &[Row]) {
    let mut tables: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let (all, hold) = tables.entry(&row.table).or_default();
        *all += 1;
        *hold += usize::from(row.holds);
    }
    println!("\n{:<60} {:>5} {:>5}", "table of answers", "rows", "hold");
    tables.iter().for_each(|(table, (all, hold))| println!("{table:<60} {all:>5} {hold:>5}"));
    for Row { table, row, have, measured, .. } in rows.iter().filter(|row| !row.holds) {
        println!("  {table}: {row}: have {have}, expected {measured}");
    }
    for row in rows {
        if let Some(reason) = &row.simulator_differs {
            println!("  the simulator differs: {}: {}: {reason}", row.table, row.row);
        }
    }
}

/// Writes every row as a page.
fn page(results: &Results) -> String {
    let hold = results.rows.iter().filter(|row| row.holds).count();
    let mut page = format!(
        "# The answers of a real driver, row by row\n\n{}, commit {}. {hold} of {} rows are as they \
         were measured before.\n",
        results.device,
        results.commit,
        results.rows.len()
    );
    let mut table = "";
    for row in &results.rows {
        if row.table != table {
            table = &row.table;
            page += &format!("\n## {table}\n\n| row | answer | |\n|---|---|---|\n");
        }
        let holds = if row.holds { String::new() } else { format!("expected {}", row.measured) };
        let differs = row.simulator_differs.as_deref().unwrap_or_default();
        page += &format!("| {} | {} | {holds}{differs} |\n", row.row, row.have);
    }
    page
}

/// Reads what a program printed, and its exit status.
fn parse(text: &str, notes: &BTreeMap<String, String>) -> Program {
    let mut program = Program::default();
    for line in text.lines() {
        if let Some(status) = line.strip_prefix("exit status: ") {
            status.clone_into(&mut program.exit_status);
        }
    }
    for (name, outcome) in outcomes(text) {
        let its_note = notes.get(name);
        let name = name.to_owned();
        match (outcome, its_note) {
            (Outcome::Passed, Some(reason)) => drop(program.not_run.insert(name, reason.clone())),
            (Outcome::Passed, None) => program.passed.push(name),
            (Outcome::Ignored, _) => {
                drop(program.not_run.insert(name, "what it needs is not there".to_owned()));
            }
            (Outcome::Failed, _) => program.failed.push(name),
        }
    }
    program
}

/// Prints the table; returns how many tests and programs failed.
fn print(results: &Results) -> usize {
    println!("commit {}\ndevice {}\n", results.commit, results.device);
    println!("{:<32} {:>7} {:>7} {:>8}", "program", "passed", "failed", "not run");
    let mut failures = 0;
    for (name, program) in &results.programs {
        let Program { passed, failed, not_run, exit_status } = program;
        println!("{name:<32} {:>7} {:>7} {:>8}", passed.len(), failed.len(), not_run.len());
        failures += failed.len();
        if failed.is_empty() && exit_status != "0" {
            println!("  ended with status {exit_status}");
            failures += 1;
        }
        failed.iter().for_each(|test| println!("  failed: {test}"));
        not_run.iter().for_each(|(test, why)| println!("  not run: {test}: {why}"));
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_beside_notes() {
        let row = r#"{"table": "small calls", "row": "cuMemAlloc(0)", "have": "1",
            "measured": "1", "holds": true, "simulator_differs": null}"#;
        let lines = format!("{}\n{{\"test\": \"a\", \"not_run\": \"b\"}}\n", row.replace('\n', ""));
        let rows = rows(&lines);
        assert_eq!(rows.len(), 1);
        assert!(rows[0].holds && rows[0].simulator_differs.is_none());
        assert_eq!(notes(&lines).len(), 1);
    }

    #[test]
    fn outcomes_are_told_apart() {
        let notes =
            notes("{\"test\": \"faults\", \"not_run\": \"needs the simulator\"}\nrubbish\n");
        let text = "running 4 tests\ntest copies ... ok\ntest faults ... ok\n\
                    test peers ... ignored\ntest races ... FAILED\nexit status: 101\n";
        let program = parse(text, &notes);
        assert_eq!(program.passed, ["copies"]);
        assert_eq!(program.failed, ["races"]);
        assert_eq!(program.not_run.keys().collect::<Vec<_>>(), ["faults", "peers"]);
        assert_eq!(program.exit_status, "101");
    }
}
