#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyFillNow, order = default)]
pub fn fill(
    #[device(write, bytes(count * 4), peer)] dst @ address: Address,
    #[value] word: u32,
    #[from(dst.len / 4)] count: usize,
);

fn main() {}
