#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::{BoxCopy, RawStream};

/// Does.
///
/// # Safety
///
/// None.
#[driver(tyBox, home = none)]
pub unsafe fn copy(#[record] copy: *const BoxCopy, #[raw] stream: RawStream);

fn main() {}
