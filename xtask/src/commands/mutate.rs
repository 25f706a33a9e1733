//! `cargo xtask mutate`: the gates and the steps of the checked calls, broken one at a time, to see
//! that some test notices each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use serde::Deserialize;

use crate::workspace;

/// Break each gate and each pair of steps, in a copy of the workspace; some test must notice
#[derive(Debug, Args)]
pub(crate) struct Mutate {
    /// Only the changes whose description holds one of these
    #[arg(value_name = "TEXT")]
    only: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    tests: BTreeMap<String, Vec<String>>,
    steps: Steps,
    mutation: Vec<Mutation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    file: PathBuf,
    /// What stands before a step's name, on a line of its own.
    before: String,
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    file: PathBuf,
    old: String,
    new: Vec<String>,
}

/// Is one change of one file.
struct Change {
    what: String,
    file: PathBuf,
    text: String,
    tests: &'static [&'static str],
}

/// Says how a change was noticed.
enum Noticed {
    /// What uses it doesn't compile.
    ByTheCompiler,
    /// A test of that group fails.
    By(&'static str),
    Not,
}

impl Mutate {
    pub(super) fn run(self) -> Result<ExitCode> {
        let text = std::fs::read_to_string(workspace::root().join("xtask/mutations.toml"))?;
        let list: List = toml::from_str(&text).context("xtask/mutations.toml")?;
        let tree = copy()?;
        let chosen = |change: &Change| {
            self.only.is_empty() || self.only.iter().any(|only| change.what.contains(only.as_str()))
        };
        let changes: Vec<Change> =
            changes(&list, &tree)?.into_iter().filter(|change| chosen(change)).collect();
        for group in list.tests.values() {
            let passes = cargo(&tree, group, &[])?;
            ensure!(passes, "the tests {group:?} fail as it stands");
        }
        let (mut unnoticed, mut by_compiler) = (0, 0);
        for change in &changes {
            let said = match noticed(&list, &tree, change)? {
                Noticed::ByTheCompiler => {
                    by_compiler += 1;
                    "does not compile"
                }
                Noticed::By(group) => group,
                Noticed::Not => {
                    unnoticed += 1;
                    "NOT NOTICED"
                }
            };
            println!("{said:16} {}", change.what);
        }
        println!(
            "{} changes, {} noticed by a test, {by_compiler} by the compiler, {unnoticed} by nobody",
            changes.len(),
            changes.len() - by_compiler - unnoticed
        );
        Ok(if unnoticed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Copies what is under version control, or would be, below the target folder.
fn copy() -> Result<PathBuf> {
    let tree = workspace::target().join("mutate/tree");
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace::root())
        .output()
        .context("git could not be started")?;
    ensure!(output.status.success(), "git does not list the files");
    let names = String::from_utf8(output.stdout)?;
    for name in names.split_terminator('\0') {
        let (from, to) = (workspace::root().join(name), tree.join(name));
        let Ok(text) = std::fs::read(&from) else { continue };
        // What is the same keeps its time, so that cargo builds little.
        if std::fs::read(&to).is_ok_and(|have| have == text) {
            continue;
        }
        std::fs::create_dir_all(to.parent().unwrap_or(&tree))?;
        std::fs::write(&to, text).with_context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(tree)
}

/// Lists every change.
fn changes(list: &List, tree: &Path) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for Mutation { file, old, new } in &list.mutation {
        let text = read(&tree.join(file))?;
        ensure!(text.matches(old.as_str()).count() == 1, "{}: not once: {old}", file.display());
        let what = |new: &String| format!("{}: {} -> {}", file.display(), old.trim(), new.trim());
        changes.extend(new.iter().map(|new| Change {
            what: what(new),
            file: file.clone(),
            text: text.replace(old.as_str(), new),
            tests: &["quick", "slow"],
        }));
    }
    let Steps { file, before, names } = &list.steps;
    let text = read(&tree.join(file))?;
    let line = |name: &str| format!("\n{before}{name}\n");
    for (index, first) in names.iter().enumerate() {
        for second in names.iter().skip(index + 1) {
            let (one, other) = (line(first), line(second));
            for step in [&one, &other] {
                ensure!(text.matches(step.as_str()).count() == 1, "not once: {}", step.trim());
            }
            let swapped =
                text.replace(&one, "\n\0\n").replace(&other, &one).replace("\n\0\n", &other);
            changes.push(Change {
                what: format!("{}: {first} and {second} swapped", file.display()),
                file: file.clone(),
                text: swapped,
                tests: &["steps"],
            });
        }
    }
    Ok(changes)
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Makes the change, runs the tests, and takes it back.
fn noticed(list: &List, tree: &Path, change: &Change) -> Result<Noticed> {
    let file = tree.join(&change.file);
    let original = read(&file)?;
    std::fs::write(&file, &change.text)?;
    let noticed = look(list, tree, change);
    std::fs::write(&file, original)?;
    noticed
}

fn look(list: &List, tree: &Path, change: &Change) -> Result<Noticed> {
    for group in change.tests {
        let Some(arguments) = list.tests.get(*group) else { bail!("no tests are called {group}") };
        if !cargo(tree, arguments, &["--no-run"])? {
            return Ok(Noticed::ByTheCompiler);
        }
        if !cargo(tree, arguments, &[])? {
            return Ok(Noticed::By(group));
        }
    }
    Ok(Noticed::Not)
}

/// Runs tests of the copy, and tells whether all pass.
fn cargo(tree: &Path, arguments: &[String], further: &[&str]) -> Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(tree)
        .args(["test", "--quiet"])
        .args(arguments)
        .args(further)
        .env("CARGO_TARGET_DIR", workspace::target().join("mutate/build"))
        .output()
        .context("cargo could not be started")?;
    Ok(output.status.success())
}
