//! What the headers declare, as plain data: read by bindgen, united over all releases.
//!
//! How it is written as Rust is not decided here; see `emit`.

mod constants;
mod diff;
mod headers;
mod model;
mod names;
mod parse;
mod union;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

pub(crate) use diff::diff;
pub(crate) use headers::HeaderText;
pub(crate) use model::{Api, Enum, Record};
pub(crate) use parse::holds_libclang;
pub(crate) use union::{Union, unite};

use crate::fetch::{Cache, Wheel};
use crate::manifest::Library;
use crate::release::Release;

/// Is one release's headers of one library, on disk.
#[derive(Clone, Debug)]
pub(crate) struct HeaderSet {
    pub(crate) release: Release,
    pub(crate) folders: Vec<PathBuf>,
}

impl HeaderSet {
    /// Returns the file of that header, if this release has it.
    pub(crate) fn file(&self, header: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(header)).find(|file| file.is_file())
    }

    /// Returns those of the library's headers that this release has; cudaProfiler.h is a wheel of
    /// its own, which 11.7 lacks.
    pub(crate) fn present<'a>(&self, library: &'a Library) -> Vec<&'a str> {
        let present = |header: &&str| self.file(header).is_some();
        library.headers.iter().map(String::as_str).filter(present).collect()
    }
}

/// Returns the locked header sets of a library, oldest first. Their wheels must be in the cache.
pub(crate) fn locked(cache: &Cache, wheels: &[Wheel], library: &Library) -> Result<Vec<HeaderSet>> {
    let mut releases: Vec<Release> = wheels
        .iter()
        .filter(|wheel| wheel.is_headers_of(&library.name, None))
        .filter_map(|wheel| wheel.release)
        .collect();
    releases.sort_unstable();
    releases.dedup();
    if releases.is_empty() {
        bail!("xtask/headers.lock has no wheel that provides `{}`", library.name);
    }
    let set = |release| {
        let folders = cache.include_folders(wheels, &library.name, release, &library.headers)?;
        Ok(HeaderSet { release, folders })
    };
    releases.into_iter().map(set).collect()
}

/// Finds the headers of an installed toolkit in `folder`, and its release.
///
/// A toolkit for several targets has one include folder for each; the one of this machine is taken.
pub(crate) fn installed(folder: &std::path::Path, library: &Library) -> Result<Option<HeaderSet>> {
    let target = format!("targets/{}-linux/include", std::env::consts::ARCH);
    let server_arm = "targets/sbsa-linux/include".to_owned();
    let mut places = vec![".".to_owned(), "include".to_owned(), target];
    if cfg!(target_arch = "aarch64") {
        places.push(server_arm);
    }
    let probed: Vec<PathBuf> = places.iter().map(|place| folder.join(place)).collect();
    let version = probed.iter().find(|place| place.join("cuda.h").is_file());
    let Some(version) = version else {
        let probed: Vec<String> = probed.iter().map(|place| place.display().to_string()).collect();
        bail!("--headers: no cuda.h in any of {}", probed.join(", "));
    };
    let text = HeaderText::read(&version.join("cuda.h"))?;
    let release = text.cuda_version().context("--headers: cuda.h defines no CUDA_VERSION")?;
    let set = HeaderSet { release, folders: vec![version.clone()] };
    Ok((!set.present(library).is_empty()).then_some(set))
}

/// Reads one release of a library.
pub(crate) fn read(library: &Library, headers: &HeaderSet) -> Result<Api> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    read_for(library, headers, &target)
}

/// Reads one release of a library as a compiler for `target` would.
pub(crate) fn read_for(library: &Library, headers: &HeaderSet, target: &str) -> Result<Api> {
    let context = || format!("{} {}", library.title, headers.release);
    let mut api = parse::parse(library, headers, target).with_context(context)?;
    constants::complete(library, headers, &mut api).with_context(context)?;
    Ok(api)
}
