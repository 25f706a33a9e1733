//! Every case of the layout file gives the answer or the error that it asks for.

mod vectors;

use std::path::Path;

#[test]
fn all_cases_pass() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/layout-vectors.json");
    let report = vectors::run_file(&file).unwrap();
    assert_eq!(report.differences, Vec::<String>::new());
    assert_eq!(report.passed, 392);
}

#[test]
fn a_wrong_or_unknown_case_fails() {
    let in_three = r#""in": {"shape": [3], "itemsize": 1}"#;
    let wrong = [
        format!(r#"{{"id": "a", "op": "volume", {in_three}, "args": {{}}, "expect": 4}}"#),
        format!(r#"{{"id": "b", "op": "volume", {in_three}, "args": {{"axis": 1}}, "expect": 3}}"#),
        format!(r#"{{"id": "c", "op": "sharpen", {in_three}, "args": {{}}, "expect": 3}}"#),
        format!(r#"{{"id": "d", "op": "props", {in_three}, "expect": {{"colour": 1}}}}"#),
        format!(r#"{{"id": "e", "op": "volume", {in_three}, "error": {{"kind": "zero-step"}}}}"#),
        format!(r#"{{"id": "f", "op": "flattened", {in_three}, "expect": 3}}"#),
        r#"{"id": "g", "op": "dense", "args": {"shape": [3], "itemsize": 0}, "expect": {}}"#.into(),
        r#"{"id": "h", "op": "volume"}"#.into(),
    ];
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong-cases.json");
    std::fs::write(&file, format!("[{}]", wrong.join(","))).unwrap();
    let report = vectors::run_file(&file).unwrap();
    assert_eq!(report.passed, 0);
    assert_eq!(report.differences.len(), wrong.len());
}

#[test]
fn a_missing_or_malformed_file_is_named_in_one_line() {
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-cases.json");
    let malformed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("malformed-cases.json");
    for text in ["{", "[]", "3", "[1]", ""] {
        std::fs::write(&malformed, text).unwrap();
        let error = vectors::run_file(&malformed).err().unwrap();
        assert!(error.contains("malformed-cases.json") && error.lines().count() == 1, "{error}");
    }
    let error = vectors::run_file(&missing).err().unwrap();
    assert!(error.contains("no-such-cases.json") && error.lines().count() == 1, "{error}");
}
