#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::{Address, RawStream};

/// Does.
#[driver(tyBatch, order = stream)]
pub fn batch(
    #[items(count, device(write, bytes(sizes)))] dsts @ to: *mut Address,
    #[items(count, host(read, bytes(sizes), until = stream))] srcs @ from: *mut Address,
    #[items(count, from(srcs.len))] sizes: *mut usize,
    #[from(dsts.count)] count: usize,
    #[stream] stream: RawStream,
);

fn main() {}
