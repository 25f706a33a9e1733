//! Stream management.
//!
//! Chapter: Stream Management, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUevent, CUstream};

pub(in crate::call) mod attributes;
pub(in crate::call) mod capture;

pub use attributes::*;
pub use capture::*;

/// Makes a stream; whoever makes it destroys it.
#[driver(cuStreamCreate, home = given)]
pub fn stream_create(#[out] stream @ phStream: *mut CUstream, #[value] flags @ Flags: c_uint);

/// Destroys a stream; its work goes on.
///
/// # Safety
///
/// The stream is of `context`, alive, and not used any more.
#[driver(cuStreamDestroy_v2, home = given)]
pub unsafe fn stream_destroy(#[raw] stream @ hStream: CUstream);

/// Asks whether a stream is idle; `CUDA_ERROR_NOT_READY` if it isn't.
#[driver(cuStreamQuery, home = handle)]
pub fn stream_query(#[handle] stream @ hStream: CUstream);

/// Waits until a stream is idle.
#[driver(cuStreamSynchronize, home = handle)]
pub fn stream_synchronize(#[handle] stream @ hStream: CUstream);

/// Makes what comes on a stream wait for an event.
#[driver(cuStreamWaitEvent, order = stream)]
pub fn stream_wait_event(
    #[stream] stream @ hStream: CUstream,
    #[handle] event @ hEvent: CUevent,
    #[from(0)] flags @ Flags: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&STREAM_CREATE, &STREAM_DESTROY, &STREAM_QUERY, &STREAM_SYNCHRONIZE, &STREAM_WAIT_EVENT];
