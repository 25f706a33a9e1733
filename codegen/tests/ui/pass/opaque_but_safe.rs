use cuda_codegen::driver;

use crate::shim::Address;

/// Fills something.
///
/// # Safety
///
/// The caller knows what.
#[driver(tyFree, order = default)]
pub unsafe fn fill_some(#[device(write, opaque)] dst @ address: Address);
