use std::ffi::{c_char, c_int};

use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyName, home = none)]
pub fn name(#[text(256)] name: *mut c_char, #[from(name.len)] len: c_int, #[handle] unit: Unit);
