use cuda_codegen::driver;

use crate::shim::Address;

/// Frees.
///
/// # Safety
///
/// Nothing uses it.
#[driver(tyFree, home = given)]
pub unsafe fn free(#[raw] address: Address);
