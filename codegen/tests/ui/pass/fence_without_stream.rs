use cuda_codegen::driver;

use crate::shim::RawStream;

/// Does.
#[driver(tyMake, home = given)]
pub fn make(#[out] stream: *mut RawStream, #[value] flags: u32);
