#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyFree, home = given)]
pub fn free_checked(#[value] address: Address);

fn main() {}
