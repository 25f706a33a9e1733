#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Shape;

/// Does.
#[driver(tyReshape, home = none)]
pub fn reshape(#[record] shape: *mut Shape, #[record(perhaps)] old: *const Shape);

fn main() {}
