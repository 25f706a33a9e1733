use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyLink, home = given)]
pub fn link(
    #[items(count, handle)] ends: *const Unit,
    #[items(count, value, optional)] weights: *const u32,
    #[from(ends.count)] count: usize,
);
