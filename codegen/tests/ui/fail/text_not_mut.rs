#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::{c_char, c_int};

use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyName, home = none)]
pub fn name(
    #[text(256)] name: *const c_char,
    #[from(name.len)] len: c_int,
    #[handle] unit: Unit,
);

fn main() {}
