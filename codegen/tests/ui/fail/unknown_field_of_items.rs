#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyParts, home = none)]
pub fn parts(
    #[items(count, out)] parts: *mut Unit,
    #[from(parts.len)] count: *mut usize,
    #[handle] unit: Unit,
);

fn main() {}
