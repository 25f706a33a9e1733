#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::Attribute;

/// Does.
#[driver(tyTell, home = none)]
pub fn tell(
    #[attribute(Attribute)] attribute: u32,
    #[out(attribute)] data: *mut c_void,
    #[value(data)] size: usize,
);

fn main() {}
