//! The table of symbols in `SYMBOLS.md` is that of the code.

#[path = "../examples/table/mod.rs"]
mod table;

use cuda_sim::{PARTLY, SIMULATED};

#[test]
fn the_table_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/SYMBOLS.md");
    let written = std::fs::read_to_string(file).unwrap_or_default();
    assert!(
        written == table::symbols(),
        "write it anew: cargo run -p cuda-sim --example symbols > cuda-sim/SYMBOLS.md"
    );
}

#[test]
fn what_lacks_something_is_simulated_and_stands_once() {
    for (name, missing) in PARTLY {
        assert!(SIMULATED.contains(name), "{name}");
        assert!(!missing.is_empty() && !missing.contains('|'), "{name}");
        assert_eq!(PARTLY.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
    }
}
