//! Which libclang parses the headers: the one that `LIBCLANG_PATH` names, or the locked wheel's.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::api::holds_libclang;
use crate::fetch::{Cache, Provides, Wheel};

const VARIABLE: &str = "LIBCLANG_PATH";

/// Returns the wheel to fetch: none if the user names a libclang.
pub(crate) fn wheel(wheels: &[Wheel]) -> Result<Option<&Wheel>> {
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(None);
    }
    let fits = |wheel: &&Wheel| wheel.provides == Provides::Libclang && wheel.fits_this_machine();
    let wheel = wheels.iter().find(fits).with_context(|| {
        format!(
            "no libclang is locked for {}; set {VARIABLE} to the folder of an installed one",
            std::env::consts::ARCH
        )
    })?;
    Ok(Some(wheel))
}

/// Makes bindgen use it. The wheel must be in the cache, and no other thread may run.
pub(crate) fn select(cache: &Cache, wheels: &[Wheel]) -> Result<()> {
    let folder = match wheel(wheels)? {
        Some(wheel) => cache.folder_of(wheel, "libclang.so")?,
        None => PathBuf::from(std::env::var_os(VARIABLE).unwrap_or_default()),
    };
    if !holds_libclang(&folder) {
        bail!("no libclang in {} ({VARIABLE})", folder.display());
    }
    set(&folder);
    Ok(())
}

fn set(folder: &Path) {
    // SAFETY: no other thread runs: the downloads have been joined, the parsers start later.
    unsafe { std::env::set_var(VARIABLE, folder) };
}
