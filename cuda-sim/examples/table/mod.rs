//! Makes the table of the driver's symbols.

use std::fmt::Write as _;

use cuda_sim::{PARTLY, SIMULATED};

/// Returns what a simulated function lacks; a twin lacks what its function does.
fn missing(name: &str) -> Option<&'static str> {
    let plain = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds")).unwrap_or(name);
    PARTLY.iter().find(|(other, _)| *other == plain).map(|(_, missing)| *missing)
}

/// Returns the table, with the counts above it.
pub(crate) fn symbols() -> String {
    let mut rows = String::new();
    let (mut all, mut simulated, mut partly) = (0, 0, 0);
    for symbol in cuda_sys::SYMBOLS {
        let name = symbol.name.to_string_lossy();
        let state = match (SIMULATED.contains(&&*name), missing(&name)) {
            (false, _) => "no".to_owned(),
            (true, None) => "yes".to_owned(),
            (true, Some(missing)) => format!("partly: {missing}"),
        };
        all += 1;
        simulated += usize::from(state != "no");
        partly += usize::from(state.starts_with("partly"));
        // Writing to a string does not fail.
        let _ = writeln!(rows, "| `{name}` | {} | {state} |", symbol.since);
    }
    format!(
        "# Symbols of the driver\n\n\
         simulated: {simulated} of {all} ({partly} partly)\n\n\
         What isn't simulated exists and answers `CUDA_ERROR_NOT_SUPPORTED`. This file is written by\n\
         `cargo run -p cuda-sim --example symbols > cuda-sim/SYMBOLS.md`.\n\n\
         | symbol | since | simulated |\n|---|---|---|\n{rows}"
    )
}
