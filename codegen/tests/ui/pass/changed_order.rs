use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyFillRows, order = default)]
pub fn fill_rows(
    #[device(write, rows(pitch, width * 4, height), align(4))] dst @ address: Address,
    #[from(dst.pitch)] pitch: usize,
    #[value] word: u32,
    #[from(dst.width / 4)] width: usize,
    #[from(dst.height)] height: usize,
);
