//! The generator on header sets other than all of the locked ones. Tests are named by the rows of
//! the log of public reports that they answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{check, copy_of_cuda_sys, locked};
use crate::api::{self, Api};
use crate::commands::regen;
use crate::{emit, manifest};

/// The oldest, a middle and the newest header set generate on their own, and the output compiles.
#[test]
fn reports_12_each_release_alone_generates_a_crate() {
    let (mut library, sets) = locked("driver");
    // Before 13.0 there is no status for an absent function.
    library.status.missing = "CUDA_ERROR_NOT_FOUND".to_owned();
    let crate_folder = copy_of_cuda_sys("one-release");
    // What is written by hand is written for all releases together.
    std::fs::write(crate_folder.join("src/driver.rs"), "").unwrap();
    for set in [&sets[0], &sets[sets.len() / 2], &sets[sets.len() - 1]] {
        let one = std::slice::from_ref(set);
        let union = regen::read_and_unite(&library, one).unwrap();
        assert!(union.functions.len() > 400, "{}: {}", set.release, union.functions.len());
        let files = emit::emit(&[(library.clone(), union)]).unwrap();
        for (path, text) in files {
            std::fs::write(crate_folder.join("src/generated").join(path), text).unwrap();
        }
        check(&crate_folder).unwrap_or_else(|said| panic!("{}: {said}", set.release));
    }
}

fn write_header(folder: &Path, version: u32) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("cuda.h"), format!("#define CUDA_VERSION {version}\n")).unwrap();
}

/// Of a toolkit for two targets, the headers of this machine's are taken.
#[test]
fn reports_13_a_toolkit_for_two_targets() {
    let toolkit = tempfile::tempdir().unwrap();
    let own = format!("targets/{}-linux/include", std::env::consts::ARCH);
    // An ARM server's folder sorts before x86-64's.
    let other = if cfg!(target_arch = "x86_64") { "sbsa-linux" } else { "x86_64-linux" };
    write_header(&toolkit.path().join("targets").join(other).join("include"), 12000);
    write_header(&toolkit.path().join(&own), 13000);
    let library = manifest::library("driver").unwrap();
    let set = api::installed(toolkit.path(), &library).unwrap().unwrap();
    assert_eq!(set.release.to_string(), "13.0");
    assert_eq!(set.folders, [toolkit.path().join(own)]);
}

/// A folder without headers is one line that lists where they were looked for.
#[test]
fn reports_13_a_folder_without_headers() {
    let empty = tempfile::tempdir().unwrap();
    let library = manifest::library("driver").unwrap();
    let line = format!("{:#}", api::installed(empty.path(), &library).unwrap_err());
    assert_eq!(line.lines().count(), 1);
    for place in [
        ".".to_owned(),
        "include".to_owned(),
        format!("targets/{}-linux/include", std::env::consts::ARCH),
    ] {
        let probed = empty.path().join(place).display().to_string();
        assert!(line.contains(&probed), "{line} lacks {probed}");
    }
}

/// What may differ between platforms, each with its reason.
const PLATFORMS: &[(&str, &str)] =
    &[("cuWGLGetDevice", "declared on Windows only, where OpenGL numbers devices by its handles")];

/// The declarations are the same for every platform, so that one generated file serves all.
#[test]
fn reports_19_every_platform_has_the_same_declarations() {
    for name in ["driver", "nvml"] {
        let (library, sets) = locked(name);
        let newest = sets.last().unwrap();
        let read = |target| api::read_for(&library, newest, target).unwrap();
        let here = declarations(&read("x86_64-unknown-linux-gnu"));
        for target in ["x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu"] {
            let there = declarations(&read(target));
            let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
            let both = names.into_iter().map(|name| (name, here.get(name), there.get(name)));
            let is_listed = |name: &String| PLATFORMS.iter().any(|(listed, _)| listed == name);
            let different: Vec<_> =
                both.filter(|(name, a, b)| a != b && !is_listed(name)).collect();
            assert!(different.is_empty(), "{target}: {different:#?}");
        }
    }
}

fn declarations(api: &Api) -> BTreeMap<String, String> {
    let functions = api.functions.iter().map(|(name, f)| (name.clone(), format!("{f:?}")));
    let records = api.records.iter().map(|(name, r)| (name.clone(), format!("{r:?}")));
    let enums = api.enums.iter().map(|(name, e)| (name.clone(), format!("{e:?}")));
    functions.chain(records).chain(enums).collect()
}
