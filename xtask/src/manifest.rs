//! `libraries.toml`: what is bound of each library, and what is not, with the reason.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::release::Release;

/// The start of the reason that stands above the end markers.
const END_MARKER: &str = "marks the end of its enum";

const TEXT: &str = include_str!("../libraries.toml");

/// Is one library: its headers, how it is found at run time, and the decisions about its names.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Library {
    /// The module of `cuda-sys`, and but for the driver's the feature too.
    pub(crate) name: String,
    /// What a sentence calls it.
    pub(crate) title: String,
    pub(crate) headers: Vec<String>,
    /// Included before the headers, for those that don't include what they use.
    #[serde(default)]
    pub(crate) prelude: Vec<String>,
    #[serde(default)]
    pub(crate) defines: Vec<String>,
    /// Headers of `PFN_<name>_v<release>` types, each beside the header whose functions it names.
    #[serde(default)]
    pub(crate) typedefs: BTreeMap<String, String>,
    /// The word in front of a declaration that marks it as deprecated.
    pub(crate) deprecated_marker: Option<String>,
    /// The start of the name of every function.
    pub(crate) functions: String,
    pub(crate) status: Status,
    pub(crate) load: Load,
    /// Aliases of integers that become types of their own.
    #[serde(default)]
    pub(crate) newtypes: BTreeMap<String, String>,
    /// Enums whose constants combine with `|`.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// Names of records that a later release renamed, and their present names.
    #[serde(default)]
    pub(crate) renamed: BTreeMap<String, String>,
    /// Macros whose value the parser misreads, as a Rust type and value.
    #[serde(default)]
    pub(crate) corrected: BTreeMap<String, (String, String)>,
    /// Macros that say which release the headers are of: they change with each, as they should.
    #[serde(default)]
    pub(crate) release_names: Vec<String>,
    /// Constants that are not exposed, each with its reason.
    #[serde(default)]
    pub(crate) unexposed: BTreeMap<String, Vec<String>>,
}

/// Is the type that most of a library's functions return, and its values that the loader gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Status {
    pub(crate) r#type: String,
    /// The answer when no library was found.
    pub(crate) no_library: String,
    /// The answer when the library lacks the function.
    pub(crate) missing: String,
    /// The answer of a toolkit's stub library.
    pub(crate) stub: Option<u32>,
}

/// Is how a library is found at run time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Load {
    /// The environment variable that names a file to use instead.
    pub(crate) r#override: String,
    pub(crate) sonames: Vec<String>,
    /// The name without a version, tried last: it may be a toolkit's stub.
    pub(crate) development_name: String,
    pub(crate) windows: Vec<String>,
    /// Who installs it: `driver` or `toolkit`. Says which known folders are looked into.
    pub(crate) installed_by: String,
    pub(crate) version_symbol: String,
    /// How that function answers: `number` or `major-minor`.
    pub(crate) version_form: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Libraries {
    library: Vec<Library>,
}

/// Reads the manifest that this tool was built with.
pub(crate) fn libraries() -> Result<Vec<Library>> {
    parse(TEXT)
}

/// Reads a manifest.
pub(crate) fn parse(text: &str) -> Result<Vec<Library>> {
    let libraries: Libraries = toml::from_str(text).context("xtask/libraries.toml")?;
    Ok(libraries.library)
}

/// Returns the library of that name.
pub(crate) fn library(name: &str) -> Result<Library> {
    let mut known = Vec::new();
    for library in libraries()? {
        if library.name == name {
            return Ok(library);
        }
        known.push(library.name);
    }
    bail!("no library `{name}` in xtask/libraries.toml; it has {}", known.join(", "))
}

impl Library {
    /// Tells whether it is the driver, which is always bound and needs no feature.
    pub(crate) fn is_driver(&self) -> bool {
        self.name == "driver"
    }

    /// Returns why a constant is not exposed, if it isn't.
    pub(crate) fn unexposed_reason(&self, constant: &str) -> Option<&str> {
        let listed = |names: &&Vec<String>| names.iter().any(|name| name == constant);
        self.unexposed.iter().find(|(_, names)| listed(names)).map(|(reason, _)| reason.as_str())
    }

    /// Tells whether a constant only marks the end of its enum.
    pub(crate) fn is_end_marker(&self, constant: &str) -> bool {
        self.unexposed_reason(constant).is_some_and(|reason| reason.starts_with(END_MARKER))
    }

    /// Returns the newest release that supersedes `release` among `releases`.
    pub(crate) fn newest(releases: &[Release]) -> Result<Release> {
        releases.iter().copied().max().context("no release of its headers is locked")
    }
}
