use cuda_codegen::driver;

use crate::shim::{BoxCopy, RawStream};

/// Does.
///
/// # Safety
///
/// None.
#[driver(tyBox, home = none)]
pub unsafe fn copy(#[raw] copy: *const BoxCopy, #[raw] stream: RawStream);
