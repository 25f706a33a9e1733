use cuda_codegen::driver;

use crate::shim::Shape;

/// Does.
#[driver(tyReshape, home = none)]
pub fn reshape(#[record] shape: *mut Shape, #[record(optional)] old: *const Shape);
