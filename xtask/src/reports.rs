//! Bugs that users of other libraries reported, beside the tests that hold the same here.
//!
//! `docs/reports.toml` lists the rows. A test says by its name which rows it is of: `row_44_…`,
//! `reports_06_07_…`; of a test by another name, the row says so.

mod tests_by_name;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::workspace;
use tests_by_name::Tests;

/// The list, below the root of the workspace.
const LIST: &str = "docs/reports.toml";

/// Is the list of what was reported.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    sections: Vec<Section>,
}

/// Is what belongs together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    rows: Vec<Row>,
}

/// Is one kind of bug.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    number: u32,
    /// Where it was reported: project and number.
    reported: String,
    /// What a test holds instead.
    held: String,
    /// Tests by other names: `file: name`, or `file: example` for one in the documentation.
    #[serde(default)]
    tests: Vec<String>,
    /// Why there is no test.
    excuse: Option<String>,
    /// What no test here can try, beside what they do.
    untried: Option<String>,
}

/// Is the list compared with the tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// One line a row.
    pub(crate) lines: Vec<String>,
    /// For each section how many rows are tested, and how many excused.
    pub(crate) totals: Vec<(String, usize, usize)>,
    pub(crate) problems: Vec<String>,
}

/// Compares the list with the tests of all members.
pub(crate) fn compare() -> Result<Comparison> {
    let file = workspace::root().join(LIST);
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let list: List = toml::from_str(&text).with_context(|| file.display().to_string())?;
    Ok(comparison(&list, &Tests::read()?))
}

fn comparison(list: &List, tests: &Tests) -> Comparison {
    let mut compared = Comparison::default();
    let mut known: BTreeMap<u32, usize> = BTreeMap::new();
    for Section { title, rows } in &list.sections {
        let (mut tested, mut excused) = (0, 0);
        for row in rows {
            *known.entry(row.number).or_default() += 1;
            compared.problems.extend(problems(row, tests));
            let count = tests.of_row(row.number).len() + row.tests.len();
            let Row { number, reported, held, excuse, untried, .. } = row;
            let state = if count > 0 {
                tested += 1;
                let untried = untried.iter().map(|what| format!(", but {what}"));
                let tests = if count == 1 { "test" } else { "tests" };
                format!("{count} {tests}{}", untried.collect::<String>())
            } else {
                excused += 1;
                format!("excused: {}", excuse.as_deref().unwrap_or("?"))
            };
            compared.lines.push(format!("{number:>3}  {held} ({reported}): {state}"));
        }
        compared.totals.push((title.clone(), tested, excused));
    }
    for (number, count) in &known {
        if *count > 1 {
            compared.problems.push(format!("row {number} is listed {count} times"));
        }
    }
    for (number, test) in tests.numbered() {
        if !known.contains_key(number) {
            compared.problems.push(format!("{test} is of row {number}, which is not listed"));
        }
    }
    compared
}

/// Returns what is wrong with a row.
fn problems(row: &Row, tests: &Tests) -> Vec<String> {
    let Row { number, tests: named, excuse, untried, .. } = row;
    let mut problems: Vec<String> = named
        .iter()
        .filter(|name| !tests.has(name))
        .map(|name| format!("row {number}: there is no test {name}"))
        .collect();
    let is_tested = !named.is_empty() || !tests.of_row(*number).is_empty();
    match (is_tested, excuse) {
        (false, None) => problems.push(format!("row {number} is neither tested nor excused")),
        (true, Some(_)) => problems.push(format!("row {number} is tested, and needs no excuse")),
        (false, Some(_)) if untried.is_some() => {
            problems.push(format!("row {number} has nothing tested, and so an excuse only"));
        }
        _ => {}
    }
    let reasons = [excuse, untried].into_iter().flatten();
    problems.extend(
        reasons
            .filter(|reason| reason.trim().is_empty())
            .map(|_| format!("row {number}: an excuse says what is missing")),
    );
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = r#"
        [[sections]]
        title = "Layouts"
        [[sections.rows]]
        number = 1
        reported = "one#1"
        held = "it is so"
        [[sections.rows]]
        number = 2
        reported = "two#2"
        held = "it is not so"
        excuse = "needs a device of two legs"
    "#;

    fn tests(code: &str) -> Tests {
        let mut tests = Tests::default();
        tests.add("a.rs", code);
        tests
    }

    const SOUND: &str = "#[test]\nfn row_01_it_is_so() {}\n";

    #[test]
    fn rows_are_tested_or_excused() {
        let compared = comparison(&toml::from_str(ROWS).unwrap(), &tests(SOUND));
        assert_eq!(compared.problems, Vec::<String>::new());
        assert_eq!(compared.totals, [("Layouts".to_owned(), 1, 1)]);
        assert_eq!(
            compared.lines,
            [
                "  1  it is so (one#1): 1 test",
                "  2  it is not so (two#2): excused: needs a device of two legs",
            ]
        );
    }

    #[test]
    fn gaps_and_stale_names_are_told() {
        let list = ROWS.replace("it is so\"", "it is so\"\ntests = [\"a.rs: gone\"]");
        let list = list.replace(
            "number = 2",
            "number = 3\nreported = \"\"\nheld = \"\"\n[[sections.rows]]\nnumber = 2",
        );
        let code = "#[test]\nfn row_02_it_is_not_so() {}\n#[test]\nfn row_09_nowhere() {}\n";
        let compared = comparison(&toml::from_str(&list).unwrap(), &tests(code));
        assert_eq!(
            compared.problems,
            [
                "row 1: there is no test a.rs: gone",
                "row 3 is neither tested nor excused",
                "row 2 is tested, and needs no excuse",
                "a.rs: row_09_nowhere is of row 9, which is not listed",
            ]
        );
    }
}
