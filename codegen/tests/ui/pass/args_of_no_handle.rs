use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{RawStream, Unit};

/// Does.
///
/// # Safety
///
/// The kernel keeps to its arguments.
#[driver(tyRun, order = stream)]
pub unsafe fn run(
    #[handle] kernel: Unit,
    #[args(kernel)] args: *mut *mut c_void,
    #[stream] stream: RawStream,
);
