//! The tool as a user runs it, by the row of the log of public reports that a test answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().unwrap()
}

/// Returns the include folders of the driver's headers in the cache.
fn cached_headers() -> Vec<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cache"));
    let mut found = Vec::new();
    let mut folders = vec![base.join("cuda-in-rust")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        folders.extend(entries.filter(|path| path.is_dir()));
        if folder.join("cuda.h").is_file() {
            found.push(folder);
        }
    }
    found
}

fn cuda_version(folder: &Path) -> u32 {
    let text = String::from_utf8_lossy(&std::fs::read(folder.join("cuda.h")).unwrap()).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("#define CUDA_VERSION "));
    line.unwrap().trim().parse().unwrap()
}

/// A toolkit that is newer than every release we know is taken, and that is said.
#[test]
fn reports_14_a_newer_toolkit_is_taken_and_said() {
    // Brings the headers into the cache.
    assert!(xtask(&["regen", "--diff", "13.4", "13.5"]).status.success());
    let newest = cached_headers().into_iter().max_by_key(|folder| cuda_version(folder)).unwrap();
    let known = cuda_version(&newest);

    let toolkit = tempfile::tempdir().unwrap();
    let include = toolkit.path().join("include");
    std::fs::create_dir(&include).unwrap();
    for entry in std::fs::read_dir(&newest).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if name.to_string_lossy().starts_with("cuda") && path.is_file() {
            std::fs::copy(path, include.join(name)).unwrap();
        }
    }
    let header = include.join("cuda.h");
    let text = String::from_utf8_lossy(&std::fs::read(&header).unwrap()).into_owned();
    let (old, new) = (format!("CUDA_VERSION {known}"), format!("CUDA_VERSION {}", known + 990));
    std::fs::write(&header, text.replacen(&old, &new, 1)).unwrap();

    let folder = toolkit.path().display().to_string();
    let output = xtask(&["regen", "--check", "--headers", &folder]);
    let (said, complained) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    let said = String::from_utf8(said).unwrap();
    let release = format!("CUDA {}.{}", (known + 990) / 1000, (known + 990) % 1000 / 10);
    assert!(said.contains(&format!("{release} is newer than any locked release")), "{said}");
    // The files say which releases they are of, so that they differ.
    assert!(said.contains("run `cargo xtask regen`"), "{said}");
    assert!(!complained.contains("error"), "{complained}");
}
