use cuda_codegen::driver;

use crate::shim::{Address, OnDevice, RawStream, Result, Stream};

/// Does.
#[driver(tyFill, order = stream)]
pub fn fill(
    #[device(write, bytes(count * 4), align(4))] dst @ address: Address,
    #[value] word: u32,
    #[from(dst.len / 4)] count: usize,
    #[stream] stream: RawStream,
);

pub fn caller(memory: &mut OnDevice, stream: &Stream) -> Result<()> {
    fill(memory, 1, stream)
}
