//! `headers.lock`: every wheel that is fetched, pinned by hash.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::release::Release;

const TEXT: &str = include_str!("../../headers.lock");

/// Above this many bytes a wheel is fetched only when its library is asked for.
const LARGE: u64 = 8_000_000;

/// Is what a wheel is fetched for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provides {
    /// The parser behind bindgen.
    Libclang,
    /// NVIDIA's own declarations under Apache-2.0, to compare with.
    CudaBindings,
    /// NumPy, whose answers layouts are compared with.
    Numpy,
    /// The headers of the library of that name.
    #[serde(untagged)]
    Headers(String),
}

/// Is one wheel of the lock file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wheel {
    pub(crate) provides: Provides,
    pub(crate) release: Option<Release>,
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) file: String,
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    wheel: Vec<Wheel>,
}

/// Reads the lock file that this tool was built with.
pub(crate) fn wheels() -> Result<Vec<Wheel>> {
    let lock: Lock = toml::from_str(TEXT).context("xtask/headers.lock")?;
    Ok(lock.wheel)
}

impl Wheel {
    /// Tells whether it holds headers of that library, of that release if one is given.
    pub(crate) fn is_headers_of(&self, library: &str, release: Option<Release>) -> bool {
        matches!(&self.provides, Provides::Headers(name) if name == library)
            && (release.is_none() || self.release == release)
    }

    /// Tells whether it is fetched only on request.
    pub(crate) fn is_large(&self) -> bool {
        self.size > LARGE
    }

    /// Tells whether programs in it run on this machine.
    pub(crate) fn fits_this_machine(&self) -> bool {
        self.file.contains(std::env::consts::ARCH)
    }
}
