#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::{Address, RawStream};

/// Does.
#[driver(tyFill, order = stream)]
pub fn fill(
    #[device(write, bytes(count * 4), align(4))] dst @ address: Address,
    #[value(4)] word: u32,
    #[from(dst.len / 4)] count: usize,
    #[stream] stream: RawStream,
);

fn main() {}
