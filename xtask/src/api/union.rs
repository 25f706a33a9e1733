//! Unites the releases of one library: the newest declaration of each name, and every name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};

use super::headers::{Typedefs, deprecated};
use super::model::Api;
use super::{HeaderSet, names};
use crate::manifest::Library;
use crate::release::Release;

/// Is everything that any release of a library declares.
pub(crate) struct Union {
    pub(crate) releases: Vec<Release>,
    pub(crate) api: Api,
    pub(crate) functions: BTreeMap<String, Provenance>,
    pub(crate) moved: Vec<Moved>,
    /// Constants that are declared but not exposed: name, reason.
    pub(crate) unexposed: Vec<(String, String)>,
    /// Tags whose record has a better name: the tag, and the name.
    pub(crate) tags: BTreeMap<String, String>,
}

/// Is where and since when a function is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Provenance {
    pub(crate) header: String,
    pub(crate) since: Release,
    pub(crate) deprecated: Option<Release>,
}

/// Is a constant whose value changed: each value with the release that first has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) name: String,
    pub(crate) values: Vec<(Release, u32)>,
}

/// Unites what each release declares; `read` is oldest first and has one entry a header set.
pub(crate) fn unite(library: &Library, sets: &[HeaderSet], read: Vec<Api>) -> Result<Union> {
    let releases: Vec<Release> = sets.iter().map(|set| set.release).collect();
    let first_seen = first_seen(&releases, &read);
    let moved = moved(library, &releases, &read);
    let api = newest_of_each(read);
    let functions = provenance(library, sets, &api, &first_seen)?;
    let mut union =
        Union { releases, api, functions, moved, unexposed: Vec::new(), tags: BTreeMap::new() };
    union.hide_unexposed(library);
    names::settle(library, &mut union);
    Ok(union)
}

/// Takes every name's newest declaration.
fn newest_of_each(read: Vec<Api>) -> Api {
    let mut united = Api::default();
    for older in read.into_iter().rev() {
        add_absent(&mut united.functions, older.functions);
        add_absent(&mut united.records, older.records);
        add_absent(&mut united.aliases, older.aliases);
        add_absent(&mut united.constants, older.constants);
        for (tag, old) in older.enums {
            let constants = &mut united.enums.entry(tag).or_default().constants;
            let known: BTreeSet<String> = constants.iter().map(|(name, _)| name.clone()).collect();
            constants.extend(old.constants.into_iter().filter(|(name, _)| !known.contains(name)));
        }
    }
    united
}

fn add_absent<T>(united: &mut BTreeMap<String, T>, older: BTreeMap<String, T>) {
    for (name, declaration) in older {
        united.entry(name).or_insert(declaration);
    }
}

fn first_seen(releases: &[Release], read: &[Api]) -> BTreeMap<String, Release> {
    let mut first = BTreeMap::new();
    for (release, api) in releases.iter().zip(read) {
        for name in api.functions.keys() {
            first.entry(name.clone()).or_insert(*release);
        }
    }
    first
}

/// Lists the constants, of enums and macros, whose value changed from one release to a later one.
fn moved(library: &Library, releases: &[Release], read: &[Api]) -> Vec<Moved> {
    let mut values: BTreeMap<&str, Vec<(Release, u32)>> = BTreeMap::new();
    for (release, api) in releases.iter().zip(read) {
        let of_enums = api.enums.values().flat_map(|e| &e.constants).map(|(n, value)| (n, *value));
        let of_macros = api.constants.iter().filter_map(|(n, c)| Some((n, c.value.parse().ok()?)));
        for (name, value) in of_enums.chain(of_macros) {
            let values = values.entry(name).or_default();
            if values.last().is_none_or(|(_, last)| *last != value) {
                values.push((*release, value));
            }
        }
    }
    let is_expected =
        |name: &str| library.is_end_marker(name) || library.release_names.iter().any(|n| n == name);
    values
        .into_iter()
        .filter(|(name, values)| values.len() > 1 && !is_expected(name))
        .map(|(name, values)| Moved { name: name.to_owned(), values })
        .collect()
}

/// Finds for each function its header, since when it is exported, and since when deprecated.
fn provenance(
    library: &Library,
    sets: &[HeaderSet],
    api: &Api,
    first_seen: &BTreeMap<String, Release>,
) -> Result<BTreeMap<String, Provenance>> {
    let newest = sets.last().context("no header set")?;
    let symbols: BTreeSet<&str> = api.functions.keys().map(String::as_str).collect();
    let typedefs = Typedefs::read(library, newest, &symbols)?;
    let mut first_deprecated: BTreeMap<String, Release> = BTreeMap::new();
    for set in sets {
        for symbol in deprecated(library, set)? {
            first_deprecated.entry(symbol).or_insert(set.release);
        }
    }
    let only_header = library.headers.first().context("a library without headers")?;
    let mut found = BTreeMap::new();
    for name in api.functions.keys() {
        let (since, header) = match typedefs.since.get(name) {
            Some((since, header)) => (*since, header.clone()),
            // No types for its pointers, as for libraries that have no such header: it is there from
            // the first release that declares it.
            None => (first_seen.get(name).copied().unwrap_or(newest.release), only_header.clone()),
        };
        let deprecated = first_deprecated.get(name).copied();
        found.insert(name.clone(), Provenance { header, since, deprecated });
    }
    Ok(found)
}

impl Union {
    /// Takes the constants that the manifest lists out of the enums, and lists them. Macros were
    /// left out when they were read.
    fn hide_unexposed(&mut self, library: &Library) {
        for e in self.api.enums.values_mut() {
            e.constants.retain(|(name, _)| library.unexposed_reason(name).is_none());
        }
        for (reason, names) in &library.unexposed {
            self.unexposed.extend(names.iter().map(|name| (name.clone(), reason.clone())));
        }
        self.unexposed.sort();
    }
}
