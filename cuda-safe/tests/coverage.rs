//! Every driver symbol is annotated, or excused with a reason; every annotation is in the list.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a helper that may fail fails the test")]

use std::collections::BTreeSet;
use std::path::Path;

use cuda_safe::call::contracts;

/// Returns the lines of the list: a symbol, or a word for many, and the reason.
fn excused() -> Vec<(&'static str, &'static str)> {
    include_str!("../src/call/unannotated.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(": ").unwrap_or((line, "")))
        .collect()
}

fn is_twin(symbol: &str) -> bool {
    symbol.ends_with("_ptsz") || symbol.ends_with("_ptds")
}

fn is_superseded(symbol: &str) -> bool {
    let split = symbol.rsplit_once("_v").and_then(|(name, v)| Some((name, v.parse().ok()?)));
    let (name, version): (&str, u32) = split.unwrap_or((symbol, 1));
    let later = |version| symbols().contains(format!("{name}_v{version}").as_str());
    !is_twin(symbol) && (version + 1..10).any(later)
}

fn matches(subject: &str, symbol: &str) -> bool {
    match subject {
        "[twins]" => is_twin(symbol),
        "[superseded]" => is_superseded(symbol),
        name => name == symbol,
    }
}

fn symbols() -> BTreeSet<&'static str> {
    cuda_sys::SYMBOLS.iter().filter_map(|symbol| symbol.name.to_str().ok()).collect()
}

#[test]
fn every_symbol_is_annotated_or_excused() {
    let annotated: BTreeSet<_> = contracts().map(|contract| contract.symbol).collect();
    assert_eq!(annotated.len(), contracts().count(), "a symbol is annotated twice");
    let (symbols, excused) = (symbols(), excused());
    for symbol in &symbols {
        let known = annotated.contains(symbol)
            || excused.iter().any(|(pattern, _)| matches(pattern, symbol));
        assert!(known, "{symbol} is neither annotated nor excused");
    }
    for symbol in &annotated {
        assert!(symbols.contains(symbol), "{symbol} is no symbol");
    }
}

#[test]
fn every_excuse_has_a_reason_and_a_use() {
    for (pattern, reason) in excused() {
        assert!(!reason.trim().is_empty(), "{pattern}");
        assert!(
            symbols().iter().any(|symbol| matches(pattern, symbol)),
            "{pattern} excuses nothing"
        );
    }
}

fn annotations(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => annotations(&path),
        false => std::fs::read_to_string(path).unwrap().matches("#[driver(").count(),
    };
    entries.map(count).sum()
}

#[test]
fn the_list_of_contracts_is_whole() {
    if cuda_sim::is_on_device() {
        return cuda_sim::not_run("the_list_of_contracts_is_whole", "it reads the crate's source");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/call");
    assert_eq!(annotations(&folder), contracts().count());
}

#[test]
fn a_contract_prints_as_a_table() {
    let text = cuda_safe::call::MEMSET_D2D32_ASYNC.to_string();
    let expected = "cuMemsetD2D32Async (CUDA 3.2)\n  dst          device memory  write  \
                    rows(pitch, width * 4, height), align(4) stream\n";
    assert!(text.starts_with(expected), "{text}");
}
