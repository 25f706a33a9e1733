//! cudarc's own tests, as their authors wrote them, on the library.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use support::{Place, errors};

/// The tests that are not run: they compare the speed of kinds of host memory, which is one here.
const OF_SPEED: [&str; 2] =
    ["test_default_pinned_host_reads_are_faster_than_write_combined", "test_pinned_copy_is_faster"];

/// Returns where cargo keeps the source of the cudarc that the other test links to.
fn manifest() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata.get("packages").and_then(Value::as_array).unwrap();
    let text = |package: &Value, key| package.get(key).and_then(Value::as_str).unwrap().to_owned();
    let cudarc = packages.iter().find(|package| text(package, "name") == "cudarc").unwrap();
    text(cudarc, "manifest_path").into()
}

#[test]
#[ignore = "it compiles cudarc once more; `.ci/run --long` does"]
fn the_suite_passes() {
    let place = Place::new();
    let target = support::library().parent().unwrap().join("../../cudarc");
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--lib", "--no-fail-fast", "--locked", "--no-default-features"]);
    command.args(["--features", "std,driver,dynamic-loading,cuda-13000", "--manifest-path"]);
    command.arg(manifest()).arg("--target-dir").arg(target);
    command.args(["driver::", "--", "--test-threads=1"]);
    command.args(OF_SPEED.iter().flat_map(|name| ["--skip", name]));
    place.search(&mut command);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let ended = |with: &str| -> Vec<String> {
        let lines = said.lines().filter_map(|line| line.strip_prefix("test "));
        lines.filter_map(|line| Some(line.strip_suffix(with)?.trim().to_owned())).collect()
    };
    let (passed, failed) = (ended("... ok"), ended("... FAILED"));
    assert!(passed.len() >= 18, "{said}{}", errors(&output));
    assert!(failed.is_empty(), "{failed:?}\n{said}");
}
