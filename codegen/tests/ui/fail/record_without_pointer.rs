#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Shape;

/// Does.
#[driver(tyShape, home = none)]
pub fn shape(#[record] shape: Shape);

fn main() {}
