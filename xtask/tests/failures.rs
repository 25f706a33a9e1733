//! What can go wrong in `cargo xtask regen`: one clear line each, and nothing half written.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

/// Runs the tool; returns its only line of complaint.
fn complaint(arguments: &[&str], variables: &[(&str, &Path)]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let complaints: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(complaints.len(), 1, "{stderr}");
    complaints.concat()
}

/// Returns the variables that leave pip with nothing but a folder of files.
fn offline<'a>(cache: &'a Path, files: &'a Path) -> Vec<(&'static str, &'a Path)> {
    vec![
        ("XDG_CACHE_HOME", cache),
        ("PIP_CONFIG_FILE", Path::new("/dev/null")),
        ("PIP_NO_INDEX", Path::new("1")),
        ("PIP_FIND_LINKS", files),
    ]
}

fn is_empty(cache: &Path) -> bool {
    std::fs::read_dir(cache.join("cuda-in-rust")).unwrap().next().is_none()
}

#[test]
fn without_a_network_the_first_wheel_is_named_and_the_cache_stays_empty() {
    let (cache, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let line = complaint(&["regen"], &offline(cache.path(), files.path()));
    assert!(line.starts_with("error: cannot fetch "), "{line}");
    assert!(is_empty(cache.path()));
}

#[test]
fn a_bad_hash_is_called_one() {
    let (cache, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let locked = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/headers.lock"));
    for line in locked.unwrap().lines() {
        if let Some(name) = line.strip_prefix("file = ") {
            std::fs::write(files.path().join(name.trim_matches('"')), "another file").unwrap();
        }
    }
    let line = complaint(&["regen"], &offline(cache.path(), files.path()));
    assert!(line.contains("bad hash"), "{line}");
    assert!(is_empty(cache.path()));
}

#[test]
fn without_pip_it_says_what_is_wanted() {
    let cache = tempfile::tempdir().unwrap();
    let nowhere = Path::new("/nowhere");
    let line = complaint(&["regen"], &[("XDG_CACHE_HOME", cache.path()), ("PATH", nowhere)]);
    assert!(line.contains("neither python3 nor python has it"), "{line}");
}

#[test]
fn a_folder_without_libclang_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let line = complaint(&["regen", "--check"], &[("LIBCLANG_PATH", folder.path())]);
    assert!(line.starts_with("error: no libclang in "), "{line}");
}

#[test]
fn a_header_that_does_not_parse_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#define CUDA_VERSION 13050\nint broken(;\n";
    std::fs::write(folder.path().join("cuda.h"), text).unwrap();
    let headers = folder.path().display().to_string();
    let line = complaint(&["regen", "--check", "--headers", &headers], &[]);
    assert!(line.contains("CUDA driver 13.5: "), "{line}");
    assert!(line.contains("cuda.h:2:"), "{line}");
}

#[test]
fn unknown_releases_are_answered_with_the_known_ones() {
    let line = complaint(&["regen", "--diff", "12.9", "12.7"], &[]);
    assert!(line.contains("no headers of CUDA 12.7 are locked; there are 11.7, "), "{line}");
    let line = complaint(&["regen", "--diff", "12.9", "newest"], &[]);
    assert!(line.contains("`newest` is no CUDA release"), "{line}");
}

#[test]
fn a_diff_lists_what_changed() {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["regen", "--diff", "12.9", "13.0"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for line in [
        "+ symbol cuCtxGetDevice_v2",
        "~ record CUdevSmResource_st: size 4 became 12",
        "~ record CUtensorMap_st: alignment 64 became 128",
        "- constant CUjit_target_enum::CU_TARGET_COMPUTE_101",
        "~ constant CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX: ",
    ] {
        assert!(text.contains(line), "`{line}` is not in:\n{text}");
    }
}
