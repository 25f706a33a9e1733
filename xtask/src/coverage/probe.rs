//! A crate that refers to everything that `cuda-sys` must have. The compiler's complaints are the
//! coverage's.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::items::Item;
use crate::workspace;

/// How often the compiler is asked again without what it has complained about: names that are
/// missing hide types that differ, and those hide values that do.
const ROUNDS: usize = 5;

/// Is the compiler's complaint about one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The item's place in the list.
    pub(crate) item: usize,
    /// The thing isn't there; else it is another.
    pub(crate) is_missing: bool,
    pub(crate) text: String,
}

/// Is a crate beside a copy of `cuda-sys`.
pub(crate) struct Probe {
    /// The probe's own folder, below the one that all probes build in.
    folder: PathBuf,
    crate_folder: PathBuf,
    /// The libraries whose lists of functions are looked at.
    libraries: Vec<String>,
    /// How often the compiler is asked.
    pub(crate) rounds: usize,
}

impl Probe {
    /// Prepares a probe of the crate in `crate_folder`. Two at a time need two names.
    pub(crate) fn new(name: &str, crate_folder: &Path, libraries: &[String]) -> Self {
        Self {
            folder: workspace::target().join("coverage").join(name),
            crate_folder: crate_folder.to_owned(),
            libraries: libraries.to_vec(),
            rounds: ROUNDS,
        }
    }

    /// Compiles every item against the crate, and returns the complaints by item.
    pub(crate) fn check(&self, items: &[Item]) -> Result<Vec<Complaint>> {
        let mut complaints: BTreeMap<usize, Complaint> = BTreeMap::new();
        for _ in 0..self.rounds {
            let skipped: BTreeSet<usize> = complaints.keys().copied().collect();
            let found = self.round(items, &skipped)?;
            if found.is_empty() {
                return Ok(complaints.into_values().collect());
            }
            for complaint in found {
                complaints.entry(complaint.item).or_insert(complaint);
            }
        }
        Ok(complaints.into_values().collect())
    }

    fn round(&self, items: &[Item], skipped: &BTreeSet<usize>) -> Result<Vec<Complaint>> {
        let (text, first_line) = self.source(items, skipped)?;
        let folder = &self.folder;
        std::fs::create_dir_all(folder.join("src"))?;
        write_if_other(&folder.join("src/lib.rs"), &text)?;
        write_if_other(&folder.join("Cargo.toml"), &self.manifest()?)?;
        // The versions that the workspace is built with, so that none has to be looked for.
        std::fs::copy(workspace::root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["check", "--quiet", "--message-format=json", "--manifest-path"])
            .arg(folder.join("Cargo.toml"))
            .arg("--target-dir")
            .arg(workspace::target().join("coverage/build"))
            // What the caller asks of the compiler is no matter of the probe.
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .context("cargo could not be started")?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let messages = stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut complaints = Vec::new();
        for message in messages.filter(is_error) {
            if !is_of_probe(&message) {
                bail!("cuda-sys does not compile: {}", first_words(&message));
            }
            let line = line_in_probe(&message).and_then(|line| line.checked_sub(first_line));
            let Some(item) = line.filter(|item| *item < items.len()) else {
                // The last error only counts the others.
                if complaints.is_empty() && code(&message).is_some() {
                    bail!("the probe does not compile: {}", first_words(&message));
                }
                continue;
            };
            let is_missing = code(&message).is_some_and(is_absence);
            complaints.push(Complaint { item, is_missing, text: first_words(&message) });
        }
        if complaints.is_empty() && !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let line = stderr.lines().find(|line| line.starts_with("error"));
            bail!("cargo check failed: {}", line.unwrap_or("without a word"));
        }
        Ok(complaints)
    }

    /// Returns the crate's text, and the line (from 1) of the first item.
    fn source(&self, items: &[Item], skipped: &BTreeSet<usize>) -> Result<(String, usize)> {
        let mut text = PRELUDE.to_owned();
        for library in &self.libraries {
            writeln!(
                text,
                "pub mod listed_{library} {{ cuda_sys::for_each_{library}_function!(super::listed); }}"
            )?;
        }
        let first_line = text.lines().count() + 1;
        for (index, item) in items.iter().enumerate() {
            // A line stays where it is, whatever is left out above it.
            let code = if skipped.contains(&index) { "" } else { &item.code };
            writeln!(text, "{code}")?;
        }
        Ok((text, first_line))
    }

    fn manifest(&self) -> Result<String> {
        let features: Vec<&String> = self.libraries.iter().filter(|l| *l != "driver").collect();
        let folder = std::fs::canonicalize(&self.crate_folder)
            .with_context(|| format!("no crate in {}", self.crate_folder.display()))?;
        Ok(format!(
            "[package]\nname = \"cuda-sys-coverage\"\nversion = \"0.0.0\"\nedition = \
             \"2024\"\n\n[dependencies]\ncuda-sys = {{ path = {folder:?}, features = {features:?} \
             }}\n\n[workspace]\n"
        ))
    }
}

/// What the lines use. It must be `const`, since the probe is never run.
const PRELUDE: &str = r#"#![allow(warnings)]
use core::ffi::*;
pub struct Listed { header: &'static str, deprecated: u32, parameters: &'static str }
macro_rules! listed {
    ($([$header:literal $since:literal $deprecated:literal]
        $name:ident($($first:ident: $t:ty $(, $parameter:ident: $ty:ty)*)?) -> $output:ty;)*) => {
        use super::Listed;
        $(pub const $name: Listed = Listed { header: $header, deprecated: $deprecated, parameters:
            concat!($(stringify!($first) $(, ",", stringify!($parameter))*)?) };)*
        pub const COUNT: usize = [$(stringify!($name)),*].len();
    };
}
use listed;
const fn is_bytes(have: &[u8], want: &[u8]) -> bool {
    let mut index = 0;
    while index < have.len() && index < want.len() && have[index] == want[index] { index += 1; }
    index == have.len() && index == want.len()
}
const fn is_text(have: &str, want: &str) -> bool { is_bytes(have.as_bytes(), want.as_bytes()) }
const fn is_number<T: Copy>(have: T, want: i128) -> bool {
    let at = &raw const have;
    let bits = match size_of::<T>() {
        1 => unsafe { *at.cast::<u8>() as i128 },
        2 => unsafe { *at.cast::<u16>() as i128 },
        4 => unsafe { *at.cast::<u32>() as i128 },
        8 => unsafe { *at.cast::<u64>() as i128 },
        _ => return false,
    };
    let range = 1_i128 << (8 * size_of::<T>());
    want >= -range / 2 && want < range && bits == want & (range - 1)
}
const fn is_unexposed(have: &[cuda_sys::Unexposed], name: &str, reason: &str) -> bool {
    let mut index = 0;
    while index < have.len() && !is_text(have[index].name, name) { index += 1; }
    index < have.len() && is_text(have[index].reason, reason)
}
const fn is_moved(have: &[cuda_sys::Moved], name: &str, want: &[(u32, u32)]) -> bool {
    let mut index = 0;
    while index < have.len() && !is_text(have[index].name, name) { index += 1; }
    if index == have.len() || have[index].values.len() != want.len() { return false; }
    let mut value = 0;
    while value < want.len() {
        let (version, number) = have[index].values[value];
        if version.number() != want[value].0 || number != want[value].1 { return false; }
        value += 1;
    }
    true
}
"#;

/// Writes a file only if its text is another, so that cargo doesn't think that it changed.
fn write_if_other(file: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(file).is_ok_and(|have| have == text) {
        return Ok(());
    }
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn is_error(message: &Value) -> bool {
    message.pointer("/message/level").and_then(Value::as_str) == Some("error")
}

fn is_of_probe(message: &Value) -> bool {
    message.pointer("/target/name").and_then(Value::as_str) == Some("cuda_sys_coverage")
}

fn code(message: &Value) -> Option<&str> {
    message.pointer("/message/code/code").and_then(Value::as_str)
}

/// Tells whether an error of that code says that a name isn't there.
fn is_absence(code: &str) -> bool {
    [
        "E0405", "E0412", "E0423", "E0425", "E0432", "E0433", "E0531", "E0574", "E0576", "E0599",
        "E0609",
    ]
    .contains(&code)
}

/// Returns the line of the probe that the error is about, perhaps through a macro.
fn line_in_probe(message: &Value) -> Option<usize> {
    let spans = message.pointer("/message/spans")?.as_array()?;
    let primary = spans.iter().filter(|span| span.get("is_primary") == Some(&Value::Bool(true)));
    primary.chain(spans).find_map(|span| {
        let mut span = Some(span);
        while let Some(here) = span {
            let file = here.get("file_name")?.as_str()?;
            let outer = here.pointer("/expansion/span");
            if file == "src/lib.rs" && outer.is_none() {
                return usize::try_from(here.get("line_start")?.as_u64()?).ok();
            }
            span = outer;
        }
        None
    })
}

/// Returns the error's first line and what its place is labelled with.
fn first_words(message: &Value) -> String {
    let text = |pointer| message.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let words = text("/message/message").lines().next().unwrap_or_default();
    let label = text("/message/spans/0/label").lines().next().unwrap_or_default();
    let words = words.strip_prefix("evaluation panicked: ").unwrap_or(words);
    match label.is_empty() || label.contains("evaluation of") {
        true => words.to_owned(),
        false => format!("{words}: {label}"),
    }
}
