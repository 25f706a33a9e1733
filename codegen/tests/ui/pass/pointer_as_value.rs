use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyExtra, order = default)]
pub fn extra(#[device(write, base)] dst @ address: Address, #[null] extra: *mut c_void);
