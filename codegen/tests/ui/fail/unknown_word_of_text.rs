#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_char;

use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyOpen, home = none)]
pub fn open(#[out] unit: *mut Unit, #[text(long)] path: *const c_char);

fn main() {}
