#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Address;

/// Frees.
///
/// Caution:
///
/// Nothing uses it.
#[driver(tyFree, home = given)]
pub unsafe fn free(#[raw] address: Address);

fn main() {}
