use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyFree, home = given)]
pub fn free_checked(#[device(share, base)] address: Address);
