//! The rows of modules and kernels.

use std::ptr;

use cuda_sys::*;

use super::rows::{Row, SAFE, row};
use super::scene::{Handle, Scene};
use crate::Class;
use crate::common::*;

/// Is what the rows load.
pub(crate) const NOTHING: &str = ".visible .entry nothing() { ret; }";

fn unload(scene: &mut Scene) -> u32 {
    code!(cuModuleUnload(scene.made_module.0))
}

fn run(scene: &Scene, on: CUstream) -> u32 {
    launch(scene.nothing.0, [1, 1], on, &[])
}

/// Has the rows of modules and kernels.
pub(crate) const ROWS: &[Row] = &[
    row("cuModuleLoadData", SAFE, |scene| {
        let text = format!("{PTX}{NOTHING}\0");
        code!(cuModuleLoadData(&mut scene.made_module.0, text.as_ptr().cast()))
    })
    .after(|scene, answer| {
        if answer == 0 {
            assert_eq!(unload(scene), 0)
        }
    }),
    row("cuModuleUnload", Class::Unsafe, unload)
        .before(|scene| scene.made_module = Handle(module(NOTHING)))
        .after(|scene, answer| {
            if answer != 0 {
                assert_eq!(unload(scene), 0)
            }
        }),
    row("cuModuleGetFunction", SAFE, |scene| {
        let mut function = ptr::null_mut();
        code!(cuModuleGetFunction(&mut function, scene.module.0, c"nothing".as_ptr()))
    }),
    row("cuLaunchKernel, captured stream", SAFE, |scene| run(scene, scene.captured.0)),
    row("cuLaunchKernel, other stream", SAFE, |scene| run(scene, scene.other.0)),
    row("cuLaunchKernel, stream 0", Class::Legacy(&SAFE), |scene| run(scene, LEGACY)),
];
