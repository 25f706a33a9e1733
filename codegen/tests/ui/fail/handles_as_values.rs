#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyLink, home = given)]
pub fn link(
    #[items(count, value)] ends: *const Unit,
    #[items(count, value, optional)] weights: *const u32,
    #[from(ends.count)] count: usize,
);

fn main() {}
