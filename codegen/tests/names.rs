//! The crate knows words, not CUDA: no file of it holds a CUDA name.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Finds a word that begins with `cu` and a capital, or with `CU` and something but `DA`.
fn cuda_name(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| {
        let behind = word.strip_prefix("cu").or_else(|| word.strip_prefix("CU"));
        behind.is_some_and(|rest| {
            let lower =
                word.starts_with("cu") && rest.starts_with(|c: char| c.is_ascii_uppercase());
            let upper = word.starts_with("CU") && !rest.is_empty() && *word != "CUDA";
            lower || upper
        })
    })
}

#[test]
fn there_is_no_cuda_name() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 10);
    // The page of the language walks through a real call.
    for path in found.iter().filter(|path| path.extension().is_some_and(|ext| ext == "rs")) {
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(cuda_name(&text), None, "{}", path.display());
    }
    assert_eq!(cuda_name("a cuMemAlloc"), Some("cuMemAlloc"));
    assert_eq!(cuda_name("a CUDA CUresult"), Some("CUresult"));
}
