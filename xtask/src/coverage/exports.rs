//! The release of each function against the names that real libraries export.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::exceptions::Excuses;
use super::survey::Origin;
use crate::release::Release;
use crate::workspace;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    list: Vec<List>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    file: String,
    library: String,
    release: Release,
}

/// Is the exports of one real library.
pub(crate) struct Exports {
    /// `driver-535.261.03`.
    pub(crate) name: String,
    pub(crate) release: Release,
    pub(crate) symbols: BTreeSet<String>,
}

/// Reads the lists of one library.
pub(crate) fn exports(library: &str) -> Result<Vec<Exports>> {
    let folder = workspace::root().join("xtask/data");
    let text = std::fs::read_to_string(folder.join("drivers.toml"))?;
    let lists: Lists = toml::from_str(&text).context("xtask/data/drivers.toml")?;
    let own = lists.list.into_iter().filter(|list| list.library == library);
    let read = |list: List| {
        let file = folder.join("exports").join(&list.file);
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let symbols = text.lines().map(str::to_owned).collect();
        let name = list.file.trim_end_matches(".txt").to_owned();
        Ok(Exports { name, release: list.release, symbols })
    };
    own.map(read).collect()
}

/// Lists where a real library's exports are not the functions up to its release.
///
/// `is_exact` says that the releases are those of the functions themselves; else they are of the
/// first header that was read, and a library may export more.
pub(crate) fn compare(
    exports: &Exports,
    origins: &BTreeMap<&str, Origin>,
    is_exact: bool,
    excuses: &mut Excuses,
) -> Vec<String> {
    let (name, release) = (&exports.name, exports.release);
    let mut problems = Vec::new();
    for symbol in &exports.symbols {
        match origins.get(symbol.as_str()) {
            None if excuses.undeclared(symbol) => {}
            None => problems.push(format!("missing: {symbol}, which {name} exports")),
            Some(origin) if is_exact && origin.since > release => problems.push(format!(
                "differs: {symbol} is of {}, but {name} of {release} exports it",
                origin.since
            )),
            Some(_) => {}
        }
    }
    for (symbol, origin) in origins {
        let is_absent = origin.since <= release && !exports.symbols.contains(*symbol);
        if is_absent && !excuses.unexported(symbol, name, release) {
            let since = origin.since;
            problems
                .push(format!("differs: {symbol} is of {since}, but {name} of {release} lacks it"));
        }
    }
    problems
}
