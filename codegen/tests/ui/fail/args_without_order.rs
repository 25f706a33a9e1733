#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{RawStream, Unit};

/// Does.
///
/// # Safety
///
/// None.
#[driver(tyRun, home = given)]
pub unsafe fn run(
    #[handle] kernel: Unit,
    #[args(kernel)] args: *mut *mut c_void,
    #[handle] stream: RawStream,
);

fn main() {}
