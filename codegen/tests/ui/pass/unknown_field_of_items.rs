use cuda_codegen::driver;

use crate::shim::Unit;

/// Does.
#[driver(tyParts, home = none)]
pub fn parts(
    #[items(count, out)] parts: *mut Unit,
    #[from(parts.count)] count: *mut usize,
    #[handle] unit: Unit,
);
