//! Test programs: where cargo builds them, and what their harness prints.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::workspace;

/// Is a program that cargo built: a test, the tests inside of a crate, or an example.
pub(crate) struct TestProgram {
    pub(crate) file: PathBuf,
    /// The folder of the member, below the root.
    pub(crate) member: String,
    pub(crate) target: String,
    pub(crate) kinds: Vec<String>,
}

impl TestProgram {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kinds.iter().any(|its| its == kind)
    }
}

/// Is one line of cargo's messages.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Builds the tests and examples of members, with all features.
pub(crate) fn build(members: &[&str]) -> Result<Vec<TestProgram>> {
    let output = workspace::cargo()
        .args(["test", "--no-run", "--all-features", "--message-format=json", "--quiet"])
        .args(members.iter().map(|member| format!("--package={member}")))
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    ensure!(output.status.success(), "the tests do not build");
    let lines = String::from_utf8(output.stdout)?;
    let messages = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
    Ok(messages.filter_map(program).collect())
}

/// Returns what a message says was built, if that is a program of a member.
fn program(message: Message) -> Option<TestProgram> {
    let folder = message.manifest_path?.parent()?.strip_prefix(workspace::root()).ok()?.to_owned();
    let Target { name, kind } = message.target?;
    let (file, member) = (message.executable?, folder.to_str()?.to_owned());
    Some(TestProgram { file, member, target: name, kinds: kind })
}

/// Is how a test ended, as its harness says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Ignored,
}

/// Reads a harness' lines: `test NAME ... ok`.
pub(crate) fn outcomes(text: &str) -> impl Iterator<Item = (&str, Outcome)> {
    text.lines().filter_map(|line| {
        let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let outcome = match outcome.trim() {
            "ok" => Outcome::Passed,
            outcome if outcome.starts_with("ignored") => Outcome::Ignored,
            _ => Outcome::Failed,
        };
        Some((name.trim(), outcome))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_harness_prints_is_read() {
        let text = "running 4 tests\ntest copies ... ok\ntest padded   ... FAILED\n\
                    test long ... ignored, takes minutes\ntest result: FAILED. 1 passed\n";
        let read: Vec<_> = outcomes(text).collect();
        let expected =
            [("copies", Outcome::Passed), ("padded", Outcome::Failed), ("long", Outcome::Ignored)];
        assert_eq!(read, expected);
    }
}
