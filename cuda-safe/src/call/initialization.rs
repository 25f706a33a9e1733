//! Initialization.
//!
//! Chapter: Initialization, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;

/// Initialises the driver; again is no error.
#[driver(cuInit, home = none)]
pub fn init(#[from(0)] flags @ Flags: c_uint);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[&INIT];
