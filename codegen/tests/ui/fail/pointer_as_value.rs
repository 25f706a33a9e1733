#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyExtra, order = default)]
pub fn extra(
    #[device(write, base)] dst @ address: Address,
    #[value] extra: *mut c_void,
);

fn main() {}
