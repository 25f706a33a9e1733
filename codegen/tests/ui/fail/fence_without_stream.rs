#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::RawStream;

/// Does.
#[driver(tyMake, home = given, fence)]
pub fn make(#[out] stream: *mut RawStream, #[value] flags: u32);

fn main() {}
