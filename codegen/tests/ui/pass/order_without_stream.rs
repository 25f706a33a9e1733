use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyFillNow, order = default)]
pub fn fill_now(
    #[device(write, bytes(count))] dst @ address: Address,
    #[value] word: u32,
    #[from(dst.len)] count: usize,
);
