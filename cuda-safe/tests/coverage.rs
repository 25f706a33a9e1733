//! Every driver symbol is annotated, or excused with a reason; every annotation is in the list.
#![cfg(feature = "driver")]

use std::collections::BTreeSet;
use std::path::Path;

use cuda_safe::call::CONTRACTS;

/// Is a line of the list: a pattern and its reason.
fn excused() -> Vec<(&'static str, &'static str)> {
    include_str!("../src/call/unannotated.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.trim_start_matches("[bulk] ").split_once(": ").unwrap_or((line, "")))
        .collect()
}

fn matches(pattern: &str, symbol: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == symbol,
        Some((before, behind)) => symbol.starts_with(before) && symbol.ends_with(behind),
    }
}

fn symbols() -> BTreeSet<&'static str> {
    cuda_sys::SYMBOLS.iter().filter_map(|symbol| symbol.name.to_str().ok()).collect()
}

#[test]
fn every_symbol_is_annotated_or_excused() {
    let annotated: BTreeSet<_> = CONTRACTS.iter().map(|contract| contract.symbol).collect();
    assert_eq!(annotated.len(), CONTRACTS.len(), "a symbol is annotated twice");
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

#[test]
fn the_list_of_contracts_is_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/call");
    let mut annotations = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        annotations += text.matches("#[driver(").count();
    }
    assert_eq!(annotations, CONTRACTS.len());
}

#[test]
fn a_contract_prints_as_a_table() {
    let text = cuda_safe::call::MEMSET_D2D32_ASYNC.to_string();
    let expected = "cuMemsetD2D32Async (CUDA 3.2)\n  dst          device memory  write  \
                    rows(pitch, width * 4, height), align(4) stream\n";
    assert!(text.starts_with(expected), "{text}");
}
