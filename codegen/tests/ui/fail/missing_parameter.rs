#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::Address;

/// Does.
#[driver(tyExtra, order = default)]
pub fn extra(
    #[device(write, base)] dst @ address: Address,
);

fn main() {}
