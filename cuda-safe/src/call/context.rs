//! Context management.
//!
//! Chapter: Context Management, whole.

use core::ffi::c_ulonglong;

use cuda_codegen::driver;
use cuda_sys::CUcontext;

pub(in crate::call) mod state;

pub use state::*;

/// Asks for the thread's context; null if it has none.
#[driver(cuCtxGetCurrent, home = none)]
pub fn ctx_get_current(#[out] handle @ pctx: *mut CUcontext);

/// Makes a context the thread's; null for none.
///
/// # Safety
///
/// The context is alive, or null.
#[driver(cuCtxSetCurrent, home = none)]
pub unsafe fn ctx_set_current(#[raw] handle @ ctx: CUcontext);

/// Asks for a context's number, which differs after a reset.
///
/// # Safety
///
/// The context is alive, or is a primary context that was.
#[driver(cuCtxGetId, home = none)]
pub unsafe fn ctx_get_id(#[raw] handle @ ctx: CUcontext, #[out] id @ ctxId: *mut c_ulonglong);

/// Waits until everything in the context is done.
#[driver(cuCtxSynchronize, home = given)]
pub fn ctx_synchronize();

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&CTX_GET_CURRENT, &CTX_SET_CURRENT, &CTX_GET_ID, &CTX_SYNCHRONIZE];
