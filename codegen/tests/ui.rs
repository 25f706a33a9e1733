//! What an annotation may not say, each case beside a twin that may: `ui/fail` and `ui/pass` hold
//! files of the same names, which differ in the mistake only. `twins.rs` compiles the twins.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn judgements() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
}

fn names(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(folder);
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect()
}

#[test]
fn each_mistake_has_a_twin() {
    assert_eq!(names("fail"), names("pass"));
    let compiled = include_str!("twins.rs");
    for name in names("pass") {
        assert!(compiled.contains(&format!("ui/pass/{name}")), "{name} is not compiled");
    }
}

#[test]
fn one_mistake_gives_one_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui/fail");
    for name in names("fail") {
        let text = std::fs::read_to_string(folder.join(name.replace(".rs", ".stderr"))).unwrap();
        let errors = text.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{name}:\n{text}");
    }
}
