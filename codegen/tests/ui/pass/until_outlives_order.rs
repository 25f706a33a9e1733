use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Address, RawStream};

/// Does.
#[driver(tyCopy, order = host)]
pub fn copy(
    #[device(write, bytes(count))] dst @ to: Address,
    #[host(read, bytes(count), until = call)] src @ from: *const c_void,
    #[from(src.len)] count: usize,
    #[handle] stream: RawStream,
);
