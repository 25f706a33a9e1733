//! Tests of the chores against the real headers, in the cache or fetched into it. What they share.

mod headers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::api::{self, HeaderSet};
use crate::commands::regen;
use crate::fetch::{self, Cache, Wheel};
use crate::manifest::{self, Library};
use crate::workspace;

/// Is the cache with the headers of the libraries that are not large.
pub(crate) struct Fetched {
    pub(crate) cache: Cache,
    pub(crate) wheels: Vec<Wheel>,
}

pub(crate) static FETCHED: LazyLock<Fetched> = LazyLock::new(|| {
    let (cache, wheels) = (Cache::open().unwrap(), fetch::wheels().unwrap());
    let libraries = ["driver", "nvml"].map(|name| manifest::library(name).unwrap());
    regen::prepare(&cache, &wheels, &libraries).unwrap();
    crate::coverage::prepare(&cache, &wheels, &libraries).unwrap();
    Fetched { cache, wheels }
});

/// Returns a library and its locked header sets.
pub(crate) fn locked(name: &str) -> (Library, Vec<HeaderSet>) {
    let library = manifest::library(name).unwrap();
    let sets = api::locked(&FETCHED.cache, &FETCHED.wheels, &library).unwrap();
    (library, sets)
}

/// Copies cuda-sys into a workspace of its own below the target folder; returns the crate's folder.
pub(crate) fn copy_of_cuda_sys(name: &str) -> PathBuf {
    let copy = workspace::target().join("coverage").join(name);
    let _ = std::fs::remove_dir_all(&copy);
    copy_folder(&workspace::root().join("cuda-sys"), &copy.join("cuda-sys"));
    let manifest = std::fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
    let (before, rest) = manifest.split_once("members = [").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    let manifest = format!("{before}members = [\"cuda-sys\"]{after}");
    // The profiles name packages that only the whole workspace has.
    let manifest = manifest.split("[profile.dev.package").next().unwrap();
    std::fs::write(copy.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(workspace::root().join("Cargo.lock"), copy.join("Cargo.lock")).unwrap();
    copy.join("cuda-sys")
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if from.is_dir() {
            copy_folder(&from, &to.join(name));
        } else {
            std::fs::copy(&from, to.join(name)).unwrap();
        }
    }
}

/// Compiles the crate in `folder`; returns what the compiler says if it doesn't.
pub(crate) fn check(folder: &Path) -> Result<(), String> {
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--lib", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(workspace::target().join("coverage/build"))
        .output()
        .unwrap();
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said()) }
}
