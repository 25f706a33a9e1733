//! Version management.
//!
//! Chapter: Version Management, whole.

use core::ffi::c_int;

use cuda_codegen::driver;

/// Asks for the newest CUDA version that the driver supports.
#[driver(cuDriverGetVersion, home = none)]
pub fn driver_get_version(#[out] version @ driverVersion: *mut c_int);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[&DRIVER_GET_VERSION];
