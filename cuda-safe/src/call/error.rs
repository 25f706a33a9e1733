//! Error handling.
//!
//! Chapter: Error Handling, whole.

use core::ffi::c_char;

use cuda_codegen::driver;
use cuda_sys::CUresult;

/// Returns the name of an answer; an unknown one is refused by the driver.
#[driver(cuGetErrorName, home = none)]
pub fn get_error_name(#[value] error: CUresult, #[text(kept)] name @ pStr: *mut *const c_char);

/// Returns the driver's sentence about an answer; an unknown one is refused by the driver.
#[driver(cuGetErrorString, home = none)]
pub fn get_error_string(#[value] error: CUresult, #[text(kept)] text @ pStr: *mut *const c_char);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[&GET_ERROR_NAME, &GET_ERROR_STRING];
