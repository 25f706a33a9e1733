use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Function, RawStream};

/// Does.
#[driver(tyLater, order = stream, fence)]
pub fn later(
    #[stream] stream: RawStream,
    #[callback] function: Function,
    #[data(function)] data: *mut c_void,
);
