//! What is asked of a device's primary context, and its end.

use core::ffi::{c_int, c_uint};

use cuda_codegen::driver;
use cuda_sys::CUdevice;

/// Asks for the flags of a device's primary context, and whether it is active.
#[driver(cuDevicePrimaryCtxGetState, home = none)]
pub fn device_primary_ctx_get_state(
    #[handle] device @ dev: CUdevice,
    #[out] flags: *mut c_uint,
    #[out] active: *mut c_int,
);

/// Sets the flags of a device's primary context.
#[driver(cuDevicePrimaryCtxSetFlags_v2, home = none)]
pub fn device_primary_ctx_set_flags(#[handle] device @ dev: CUdevice, #[value] flags: c_uint);

/// Destroys everything in a device's primary context, in all of the process.
///
/// # Safety
///
/// Nothing uses what was made in the context; pinned memory is unmapped by it.
#[driver(cuDevicePrimaryCtxReset_v2, home = none)]
pub unsafe fn device_primary_ctx_reset(#[raw] device @ dev: CUdevice);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&DEVICE_PRIMARY_CTX_GET_STATE, &DEVICE_PRIMARY_CTX_SET_FLAGS, &DEVICE_PRIMARY_CTX_RESET];
