#[path = "../../toy/shim.rs"]
mod shim;

use cuda_codegen::driver;

use crate::shim::DeepCopy;

/// Does.
#[driver(tyDeep, order = default)]
pub fn look(
    #[pack(DeepCopy {
        src: read by from_type {
            host: from_host, device: from_device, pitch: from_pitch, plane: from_plane,
            until = call,
        },
        extent(width, height),
    })]
    copy: *const DeepCopy,
);

fn main() {}
