use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::Attribute;

/// Does.
#[driver(tyTell, home = none)]
pub fn tell(
    #[attribute(Attribute)] attribute: u32,
    #[value(attribute)] data: *mut c_void,
    #[from(data.len)] size: usize,
);
