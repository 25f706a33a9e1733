//! The tests of the workspace by file and name, and those of rows by the rows' numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::workspace;

/// The folders of the members.
const MEMBERS: [&str; 6] = ["codegen", "cuda-ipc", "cuda-safe", "cuda-sim", "cuda-sys", "xtask"];

/// What the names of tests of rows begin with.
const PREFIXES: [&str; 2] = ["row_", "reports_"];

/// Is every test of the workspace.
#[derive(Debug, Default)]
pub(super) struct Tests {
    /// Each as `file: name`.
    names: BTreeSet<String>,
    of_rows: BTreeMap<u32, BTreeSet<String>>,
    /// The files that have an example in their documentation.
    examples: BTreeSet<String>,
}

impl Tests {
    /// Reads every Rust file of the members.
    pub(super) fn read() -> Result<Self> {
        let mut tests = Self::default();
        for member in MEMBERS {
            tests.read_folder(&workspace::root().join(member))?;
        }
        Ok(tests)
    }

    fn read_folder(&mut self, folder: &Path) -> Result<()> {
        let context = || folder.display().to_string();
        for entry in std::fs::read_dir(folder).with_context(context)? {
            let path = entry?.path();
            if path.is_dir() {
                self.read_folder(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).with_context(context)?;
                let file = path.strip_prefix(workspace::root()).unwrap_or(&path);
                self.add(&file.display().to_string(), &text);
            }
        }
        Ok(())
    }

    /// Notes the tests in a file: functions that are marked so and not ignored; and below `tests` the
    /// names of rows as texts, which tests with a harness of their own have.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        let has_harness = file.split('/').nth(1) == Some("tests");
        let (mut is_test, mut is_ignored) = (false, false);
        for line in text.lines().map(str::trim) {
            if line.starts_with("#[") {
                is_test |= line == "#[test]";
                is_ignored |= line.starts_with("#[ignore");
            } else if let Some(function) = line.strip_prefix("fn ") {
                if is_test && !is_ignored {
                    self.note(file, name(function));
                }
                (is_test, is_ignored) = (false, false);
            }
            for text in line.split('"').skip(1).step_by(2).filter(|_| has_harness) {
                if !rows(text).is_empty() && name(text) == text {
                    self.note(file, text);
                }
            }
            if ["/// ```", "//! ```"].iter().any(|fence| line.starts_with(fence)) {
                self.examples.insert(file.to_owned());
            }
        }
    }

    fn note(&mut self, file: &str, name: &str) {
        let test = format!("{file}: {name}");
        for row in rows(name) {
            self.of_rows.entry(row).or_default().insert(test.clone());
        }
        self.names.insert(test);
    }

    /// Tells whether there is a test of such a name, or an example in the file that is named.
    pub(super) fn has(&self, test: &str) -> bool {
        let example = test.strip_suffix(": example");
        self.names.contains(test) || example.is_some_and(|file| self.examples.contains(file))
    }

    pub(super) fn of_row(&self, number: u32) -> Vec<&str> {
        self.of_rows.get(&number).into_iter().flatten().map(String::as_str).collect()
    }

    /// Goes through the tests of rows, by the rows' numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (&u32, &str)> {
        let pairs = |(number, tests)| tests_of(number, tests);
        self.of_rows.iter().flat_map(pairs)
    }
}

fn tests_of<'a>(
    number: &'a u32,
    tests: &'a BTreeSet<String>,
) -> impl Iterator<Item = (&'a u32, &'a str)> {
    tests.iter().map(move |test| (number, test.as_str()))
}

/// Returns the name that a text begins with.
fn name(text: &str) -> &str {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).next().unwrap_or_default()
}

/// Returns the numbers that the name of a test of rows begins with.
fn rows(name: &str) -> Vec<u32> {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    let parts = rest.into_iter().flat_map(|rest| rest.split('_'));
    let numbers = parts.map(|part| if part == "and" { Ok(None) } else { part.parse().map(Some) });
    numbers.map_while(Result::ok).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_rows() {
        assert_eq!(rows("row_44_padding"), [44]);
        assert_eq!(rows("reports_06_07_versioned"), [6, 7]);
        assert_eq!(rows("reports_05_and_21_no_driver"), [5, 21]);
        assert_eq!(rows("row_region"), Vec::<u32>::new());
        assert_eq!(rows("other_1"), Vec::<u32>::new());
    }

    #[test]
    fn only_tests_count() {
        let mut tests = Tests::default();
        let code = "/// ```\n#[test]\n#[ignore = \"slow\"]\nfn row_1_a() {}\nfn row_2_b() {}\n\
                    #[test]\nfn row_3_c() {}\ncase(\"reports_4_d\", || ());\n\
                    #[test]\nfn plain() {}\nsay(\"row_5 is long\");\n";
        tests.add("a/tests/b.rs", code);
        tests.add("a/src/c.rs", "assert_eq!(rows(\"row_7_b\"), [7]);\n");
        let numbered: Vec<_> = tests.numbered().collect();
        assert_eq!(numbered, [(&3, "a/tests/b.rs: row_3_c"), (&4, "a/tests/b.rs: reports_4_d")]);
        let has = |name: &str| tests.has(&format!("a/tests/b.rs: {name}"));
        assert!(has("plain") && has("example") && !has("row_1_a") && !tests.has("c.rs: plain"));
    }
}
