#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Address, RawStream};

/// Does.
#[driver(tyCopy, order = stream)]
pub fn copy(
    #[device(write, bytes(count))] dst @ to: Address,
    #[host(read, bytes(count))] src @ from: *const c_void,
    #[from(src.len)] count: usize,
    #[stream] stream: RawStream,
);

fn main() {}
