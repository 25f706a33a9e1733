#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::{BoxCopy, RawStream};

/// Does.
#[driver(tyBox, order = stream)]
pub fn copy_box(
    #[pack(BoxCopy {
        src: read by from_type {
            host: from_host, device: from_device, pitch: from_pitch, until = stream,
        },
        dst: write by to_type { host: to_host, device: to_device, until = stream },
        extent(width, height),
        zero(reserved),
    })]
    copy: *const BoxCopy,
    #[stream] stream: RawStream,
);

fn main() {}
