//! Prints the table of the driver's symbols, as `SYMBOLS.md` has it:
//! `cargo run -p cuda-sim --example symbols > cuda-sim/SYMBOLS.md`.

#![expect(clippy::print_stdout, reason = "it prints the table")]

mod table;

fn main() {
    print!("{}", table::symbols());
}
