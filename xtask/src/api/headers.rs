//! What bindgen doesn't tell: a header's macros, its deprecations, and the releases in the
//! `…Typedefs.h` headers. Read from the text, without comments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::HeaderSet;
use crate::manifest::Library;
use crate::release::Release;

/// Is a header's text without comments, one logical line a line.
pub(crate) struct HeaderText {
    lines: Vec<String>,
}

impl HeaderText {
    /// Reads a header.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(Self::new(&String::from_utf8_lossy(&bytes)))
    }

    fn new(text: &str) -> Self {
        let joined = without_comments(text).replace("\\\r\n", " ").replace("\\\n", " ");
        Self { lines: joined.lines().map(|line| line.trim().to_owned()).collect() }
    }

    /// Returns every macro without parameters that has a value, and the value's text.
    pub(crate) fn macros(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.iter().filter_map(|line| {
            let rest = line.strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
            let (name, value) = rest.split_once(char::is_whitespace)?;
            let value = value.trim();
            (!name.contains('(') && !value.is_empty()).then_some((name, value))
        })
    }

    /// Returns the value of `CUDA_VERSION`.
    pub(crate) fn cuda_version(&self) -> Option<Release> {
        let (_, value) = self.macros().find(|(name, _)| *name == "CUDA_VERSION")?;
        Some(Release::from_number(value.parse().ok()?))
    }

    /// Returns the names of the functions whose declaration starts with `marker`, which may have an
    /// argument, and a line of its own.
    fn marked<'a>(&'a self, marker: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().enumerate().filter_map(move |(index, line)| {
            let rest = line.strip_prefix(marker)?;
            let rest = match rest.strip_prefix('(') {
                Some(argument) => after_argument(argument)?,
                None => rest.strip_prefix(char::is_whitespace)?,
            };
            let below = || self.lines.get(index + 1).map(String::as_str);
            let rest = if rest.trim().is_empty() { below()? } else { rest };
            rest.split('(').next()?.split_whitespace().next_back()
        })
    }
}

/// Returns what follows a macro's argument, which may be a text.
fn after_argument(argument: &str) -> Option<&str> {
    let text = argument.strip_prefix('"').and_then(|text| text.split_once('"'));
    let rest = text.map_or(argument, |(_, rest)| rest);
    rest.split_once(')').map(|(_, rest)| rest)
}

/// Returns the functions that a release marks as deprecated, by symbol.
pub(crate) fn deprecated(library: &Library, headers: &HeaderSet) -> Result<BTreeSet<String>> {
    let mut symbols = BTreeSet::new();
    let Some(marker) = &library.deprecated_marker else {
        return Ok(symbols);
    };
    for header in headers.present(library) {
        let Some(file) = headers.file(header) else { continue };
        let text = HeaderText::read(&file)?;
        let symbol_of = renamings(&text);
        for name in text.marked(marker).filter(|name| name.starts_with(&library.functions)) {
            let symbol = symbol_of.get(name).copied().unwrap_or(name);
            // The default-stream twins of a function share its declaration.
            symbols.extend(["", "_ptds", "_ptsz"].map(|suffix| format!("{symbol}{suffix}")));
        }
    }
    Ok(symbols)
}

/// Returns which symbol a name stands for where the header renames it: `#define cuX cuX_v2`, or
/// `#define cuX __CUDA_API_PTDS(cuX_v2)`.
fn renamings(text: &HeaderText) -> BTreeMap<&str, &str> {
    text.macros()
        .filter_map(|(name, value)| {
            let inner = value.split_once('(').map_or(value, |(_, inner)| inner);
            let symbol = inner.trim_end_matches(')').trim();
            symbol.starts_with(name).then_some((name, symbol))
        })
        .collect()
}

/// Is what the `…Typedefs.h` headers say: by symbol, the release it is exported from, and the
/// header that declares it.
pub(crate) struct Typedefs {
    pub(crate) since: BTreeMap<String, (Release, String)>,
}

impl Typedefs {
    /// Reads one `PFN_<name>_v<release>` type a symbol.
    ///
    /// The releases of one name, in order, are those of its symbols, in order: `name`, `name_v2`,
    /// `name_v3`. The default-stream twins are numbered on their own.
    pub(crate) fn read(
        library: &Library,
        headers: &HeaderSet,
        symbols: &BTreeSet<&str>,
    ) -> Result<Self> {
        let mut since = BTreeMap::new();
        for (typedefs, header) in &library.typedefs {
            let Some(file) = headers.file(typedefs) else { continue };
            let text = HeaderText::read(&file)?;
            let mut releases: BTreeMap<(String, &str), BTreeSet<Release>> = BTreeMap::new();
            for line in &text.lines {
                if let Some((name, suffix, release)) = pointer_type(line) {
                    releases.entry((name.to_owned(), suffix)).or_default().insert(release);
                }
            }
            for ((name, suffix), releases) in releases {
                let versions = versions(&name, suffix, symbols);
                for (symbol, release) in versions.into_iter().zip(releases) {
                    since.insert(symbol, (release, header.clone()));
                }
            }
        }
        Ok(Self { since })
    }
}

/// Takes `PFN_<name>_v<release><suffix>` out of a type's line.
fn pointer_type(line: &str) -> Option<(&str, &'static str, Release)> {
    let (_, rest) = line.strip_prefix("typedef")?.split_once("PFN_")?;
    let (name, _) = rest.split_once(')')?;
    let (name, suffix) = ["_ptds", "_ptsz"]
        .into_iter()
        .find_map(|suffix| Some((name.strip_suffix(suffix)?, suffix)))
        .unwrap_or((name, ""));
    let (name, release) = name.rsplit_once("_v")?;
    Some((name, suffix, Release::from_number(release.parse().ok()?)))
}

/// Returns the symbols of one name in order of their versions, oldest first.
fn versions(name: &str, suffix: &str, symbols: &BTreeSet<&str>) -> Vec<String> {
    let plain = std::iter::once(format!("{name}{suffix}"));
    let numbered = (2..10).map(|version| format!("{name}_v{version}{suffix}"));
    plain.chain(numbered).filter(|symbol| symbols.contains(symbol.as_str())).collect()
}

/// Replaces every comment by a space; strings hold no comments in these headers.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once('/') {
        code.push_str(before);
        if let Some(comment) = comment.strip_prefix('*') {
            code.push(' ');
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if let Some(comment) = comment.strip_prefix('/') {
            rest = comment.find('\n').map_or("", |end| comment.get(end..).unwrap_or_default());
        } else {
            code.push('/');
            rest = comment;
        }
    }
    code.push_str(rest);
    code
}
