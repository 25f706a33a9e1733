use cuda_codegen::driver;

use crate::shim::{Address, RawStream, Unit};

/// Does.
#[driver(tyAcross, order = stream)]
pub fn across(
    #[device(write, bytes(1), peer)] dst @ to: Address,
    #[from(dst.home)] owner: Unit,
    #[stream] stream: RawStream,
);
