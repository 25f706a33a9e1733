#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Address, RawStream};

/// Does.
#[driver(tyCopy, order = stream)]
pub fn copy(
    #[device(share, bytes(1))] to: Address,
    #[null] from: *const c_void,
    #[stream] count: RawStream,
    #[stream] stream: RawStream,
);

fn main() {}
