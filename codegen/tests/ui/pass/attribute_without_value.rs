use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Address, Attribute};

/// Does.
#[driver(tyAsk)]
pub fn ask(
    #[out(attribute)] data: *mut c_void,
    #[attribute(Attribute)] attribute: u32,
    #[any(share, bytes(1))] memory @ address: Address,
);
