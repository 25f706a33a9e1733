//! Everything that one library's headers declare, release by release, with what the C compiler
//! measured of it.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::c::{CType, Declarations};
use super::exceptions::UNSEEN;
use super::facts::{Facts, Value, measure};
use super::preprocess::{Compiler, Mode};
use crate::api::HeaderSet;
use crate::manifest::Library;
use crate::release::Release;

/// Is one library in all releases, oldest first.
pub(crate) struct Survey {
    pub(crate) library: Library,
    pub(crate) editions: Vec<Edition>,
}

/// Is one release of a library.
pub(crate) struct Edition {
    pub(crate) release: Release,
    /// As read with the manifest's definitions: every version of every function.
    pub(crate) declared: Declarations,
    /// As a C program reads it.
    pub(crate) plain: Declarations,
    pub(crate) facts: Facts,
}

/// Is where a function comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) header: String,
    pub(crate) since: Release,
    pub(crate) deprecated: Option<Release>,
}

/// Reads every release, on all cores.
pub(crate) fn survey(compiler: &Compiler, library: &Library, sets: &[HeaderSet]) -> Result<Survey> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = sets.len().div_ceil(cores).max(1);
    let editions: Result<Vec<Edition>> = std::thread::scope(|scope| {
        let read = move |set| edition(compiler, library, set);
        let start = |sets| scope.spawn(move || <[HeaderSet]>::iter(sets).map(read).collect());
        let readers: Vec<_> = sets.chunks(share).map(start).collect();
        let mut all = Vec::new();
        for reader in readers {
            let Ok(read) = reader.join() else { bail!("{}: a reader panicked", library.title) };
            let read: Vec<Result<Edition>> = read;
            all.extend(read);
        }
        all.into_iter().collect()
    });
    Ok(Survey { library: library.clone(), editions: editions? })
}

fn edition(compiler: &Compiler, library: &Library, set: &HeaderSet) -> Result<Edition> {
    let declared = compiler.declarations(library, set, Mode::Every)?;
    let plain = compiler.declarations(library, set, Mode::Plain)?;
    let facts = measure(compiler, library, set, &declared)?;
    Ok(Edition { release: set.release, declared, plain, facts })
}

impl Survey {
    /// Returns the newest declaration of every name of a kind, with the release that has it.
    pub(crate) fn newest<'a, T>(
        &'a self,
        kind: impl Fn(&'a Declarations) -> &'a BTreeMap<String, T>,
    ) -> BTreeMap<&'a str, (&'a Edition, &'a T)> {
        let mut newest = BTreeMap::new();
        for edition in &self.editions {
            for (name, declaration) in kind(&edition.declared) {
                newest.insert(name.as_str(), (edition, declaration));
            }
        }
        newest
    }

    /// Returns the newest value of each enum constant, with its enum.
    pub(crate) fn constants(&self) -> BTreeMap<&str, (&str, i64)> {
        let mut newest = BTreeMap::new();
        for edition in &self.editions {
            for (tag, constants) in &edition.declared.enums {
                for constant in constants {
                    if let Some(value) = edition.facts.constants.get(constant) {
                        newest.insert(constant.as_str(), (tag.as_str(), *value));
                    }
                }
            }
        }
        newest
    }

    /// Returns the constants and macros whose value changed, with the first release of each value.
    pub(crate) fn moved(&self) -> BTreeMap<&str, Vec<(Release, i64)>> {
        let mut values: BTreeMap<&str, Vec<(Release, i64)>> = BTreeMap::new();
        for edition in &self.editions {
            let constants = edition.facts.constants.iter().map(|(name, value)| (name, *value));
            let macros = edition.facts.macros.iter().filter_map(|(name, value)| match value {
                Value::Number(number) => Some((name, *number)),
                Value::Unsigned(number) => Some((name, i64::try_from(*number).ok()?)),
                Value::Pointer(_) | Value::Text(_) => None,
            });
            for (name, value) in constants.chain(macros) {
                let values = values.entry(name).or_default();
                if values.last().is_none_or(|(_, last)| *last != value) {
                    values.push((edition.release, value));
                }
            }
        }
        let library = &self.library;
        let is_expected = |name: &str| {
            library.is_end_marker(name) || library.release_names.iter().any(|n| n == name)
        };
        values.retain(|name, values| values.len() > 1 && !is_expected(name));
        values
    }

    /// Finds for each function its header, since when it is exported, and since when deprecated;
    /// adds to `problems` what doesn't fit.
    pub(crate) fn origins(&self, problems: &mut Vec<String>) -> BTreeMap<&str, Origin> {
        let since = self.since(problems);
        let mut origins = BTreeMap::new();
        for (name, (_, function)) in self.newest(|declared| &declared.functions) {
            let Some(since) = since.get(name) else {
                problems.push(format!("differs: `{name}` has no type in the Typedefs headers"));
                continue;
            };
            let base = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds"));
            let is_deprecated = |edition: &&Edition| {
                // Both twins of a function share its declaration.
                [Some(name), base]
                    .into_iter()
                    .flatten()
                    .any(|name| edition.plain.functions.get(name).is_some_and(|f| f.is_deprecated))
            };
            let deprecated = self.editions.iter().find(is_deprecated).map(|e| e.release);
            let unseen = UNSEEN.iter().find(|unseen| {
                let is_it = unseen.library == self.library.name && !unseen.but.contains(&name);
                is_it && Some(unseen.seen) == deprecated
            });
            let deprecated = unseen.map(|unseen| unseen.said).or(deprecated);
            let header = function.header.clone();
            origins.insert(name, Origin { header, since: *since, deprecated });
        }
        origins
    }

    fn since(&self, problems: &mut Vec<String>) -> BTreeMap<String, Release> {
        let mut since = BTreeMap::new();
        if self.library.typedefs.is_empty() {
            for edition in self.editions.iter().rev() {
                let names = edition.declared.functions.keys();
                since.extend(names.map(|name| (name.clone(), edition.release)));
            }
        } else if let Some(newest) = self.editions.last() {
            pointer_types(&newest.declared, &mut since, problems);
        }
        since
    }
}

/// Reads `PFN_<name>_v<release>[_ptds|_ptsz]`. One name's types, in order of release, are those of
/// its symbols, in order of version; that each pair has one signature shows that the order is right.
fn pointer_types(
    declared: &Declarations,
    since: &mut BTreeMap<String, Release>,
    problems: &mut Vec<String>,
) {
    let mut types: BTreeMap<(&str, &str), BTreeMap<Release, &CType>> = BTreeMap::new();
    for (name, typedef) in &declared.typedefs {
        let Some(rest) = name.strip_prefix("PFN_") else { continue };
        let suffix = ["_ptds", "_ptsz"].into_iter().find(|suffix| rest.ends_with(suffix));
        let suffix = suffix.unwrap_or_default();
        let Some((function, number)) =
            rest.strip_suffix(suffix).and_then(|rest| rest.rsplit_once("_v"))
        else {
            continue;
        };
        if let Ok(number) = number.parse() {
            let release = Release::from_number(number);
            types.entry((function, suffix)).or_default().insert(release, &typedef.target);
        }
    }
    for ((function, suffix), types) in types {
        let plain = std::iter::once(format!("{function}{suffix}"));
        let numbered = (2..10).map(|version| format!("{function}_v{version}{suffix}"));
        let symbols =
            plain.chain(numbered).filter_map(|s| Some((s.clone(), declared.functions.get(&s)?)));
        let symbols: Vec<_> = symbols.collect();
        if symbols.is_empty() && function == "cuWGLGetDevice" {
            continue;
        }
        if symbols.len() != types.len() {
            let (types, symbols) = (types.len(), symbols.len());
            let line =
                format!("differs: {function}{suffix} has {types} types and {symbols} symbols");
            problems.push(line);
        }
        for ((symbol, function), (release, ty)) in symbols.into_iter().zip(types) {
            let want = declared.canonical_signature(&function.signature);
            if declared.canonical(ty) != format!("{want}*") {
                let have = declared.canonical(ty);
                problems
                    .push(format!("differs: {symbol} is `{want}`, its {release} type `{have}`"));
            }
            since.insert(symbol, release);
        }
    }
}
