//! Primary context management.
//!
//! Chapter: Primary Context Management, whole.

use cuda_codegen::driver;
use cuda_sys::{CUcontext, CUdevice};

pub(in crate::call) mod state;

pub use state::*;

/// Retains a device's primary context.
#[driver(cuDevicePrimaryCtxRetain, home = none)]
pub fn device_primary_ctx_retain(
    #[out] handle @ pctx: *mut CUcontext,
    #[handle] device @ dev: CUdevice,
);

/// Releases a device's primary context; the last release destroys it, behind its kernels.
///
/// # Safety
///
/// The caller retained it, and uses nothing any more that was made in it.
#[driver(cuDevicePrimaryCtxRelease_v2, home = none)]
pub unsafe fn device_primary_ctx_release(#[raw] device @ dev: CUdevice);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&DEVICE_PRIMARY_CTX_RETAIN, &DEVICE_PRIMARY_CTX_RELEASE];
