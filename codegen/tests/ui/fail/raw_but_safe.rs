#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Address;

/// Frees.
///
/// # Safety
///
/// Nothing uses it.
#[driver(tyFree, home = given)]
pub fn free(#[raw] address: Address);

fn main() {}
