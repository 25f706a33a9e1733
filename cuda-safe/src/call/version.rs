//! Version management.
//!
//! Chapter: Version Management, whole.

use core::ffi::c_int;

use cuda_codegen::driver;

/// Asks for the newest CUDA version that the driver supports.
#[driver(cuDriverGetVersion, home = none)]
pub fn driver_get_version(#[out] version @ driverVersion: *mut c_int);
