#[path = "../../toy/shim.rs"]
mod shim;

use std::ffi::c_void;

use cuda_codegen::driver;

use crate::shim::{Address, OnDevice, RawStream, Result, Stream};

/// Does.
#[driver(tyCopy, order = stream)]
pub fn copy(
    #[device(write, bytes(count))] dst @ to: Address,
    #[host(read, bytes(count), until = stream)] src @ from: *const c_void,
    #[from(src.len)] count: usize,
    #[stream] stream: RawStream,
);

pub fn caller(dst: &mut OnDevice, src: &[u8], stream: &Stream) -> Result<()> {
    copy(dst, src, stream)
}

fn main() {}
