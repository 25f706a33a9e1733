//! Tests named by the rows of the log of public reports that they answer.

use std::collections::BTreeMap;

use super::DRIVER;
use crate::coverage::items::{Item, Kind};
use crate::coverage::probe::Probe;
use crate::coverage::rust_types::Types;
use crate::workspace;

/// Every `#define plain plain_vN` of every release leads to a function of the crate whose signature
/// is the one that a program which says `plain` sees.
#[test]
fn reports_09_a_plain_name_leads_to_its_symbol() {
    let mut lines = BTreeMap::new();
    for edition in &DRIVER.editions {
        let types = Types { module: "cuda_sys", declared: &edition.plain };
        let mut renamed = 0;
        for name in edition.plain.macros.keys() {
            let Some(symbol) = edition.plain.renames(name) else { continue };
            assert!(symbol.starts_with(name.as_str()) || symbol.contains("WithFlags"), "{name}");
            let signature = types.function(&edition.plain.functions[&symbol].signature).unwrap();
            let code =
                format!("const _: fn(cuda_sys::signature::{symbol}) -> {signature} = |f| f;");
            lines.insert(code, format!("{name} of {}", edition.release));
            renamed += 1;
        }
        assert!(renamed > 50, "{} renames {renamed} functions", edition.release);
    }
    let item =
        |(code, name)| Item { library: "driver".to_owned(), kind: Kind::Function, name, code };
    let items: Vec<Item> = lines.into_iter().map(item).collect();
    let probe = Probe::new("plain-names", &workspace::root().join("cuda-sys"), &[]);
    let complaints = probe.check(&items).unwrap();
    let named = complaints.iter().map(|complaint| (&items[complaint.item].name, &complaint.text));
    assert_eq!(named.collect::<Vec<_>>(), []);
}

/// One name of the crate has one list of parameters, whatever release it was generated from; only
/// the plain names, which the crate doesn't have, change their meaning.
#[test]
fn reports_11_a_symbol_keeps_its_parameters() {
    let mut problems = Vec::new();
    crate::coverage::history::signatures(&DRIVER, &mut Default::default(), &mut problems);
    assert_eq!(problems, [""; 0]);

    let symbol_in = |release: &str, name| {
        let edition = DRIVER.editions.iter().find(|e| e.release.to_string() == release).unwrap();
        edition.plain.renames(name).unwrap()
    };
    assert_eq!(symbol_in("12.9", "cuCtxCreate"), "cuCtxCreate_v2");
    assert_eq!(symbol_in("13.0", "cuCtxCreate"), "cuCtxCreate_v4");
}
