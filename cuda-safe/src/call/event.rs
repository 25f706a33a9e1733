//! Event management.
//!
//! Chapter: Event Management, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUevent, CUstream};

pub(in crate::call) mod timing;

pub use timing::*;

/// Makes an event; whoever makes it destroys it.
#[driver(cuEventCreate, home = given)]
pub fn event_create(#[out] event @ phEvent: *mut CUevent, #[value] flags @ Flags: c_uint);

/// Destroys an event; who waits for it still gets it.
///
/// # Safety
///
/// The event is of `context`, alive, and not used any more.
#[driver(cuEventDestroy_v2, home = given)]
pub unsafe fn event_destroy(#[raw] event @ hEvent: CUevent);

/// Asks whether an event's work is done; `CUDA_ERROR_NOT_READY` if it isn't.
#[driver(cuEventQuery, home = handle)]
pub fn event_query(#[handle] event @ hEvent: CUevent);

/// Records what was enqueued on a stream so far.
#[driver(cuEventRecord, order = stream)]
pub fn event_record(#[handle] event @ hEvent: CUevent, #[stream] stream @ hStream: CUstream);

/// Waits until an event's work is done.
#[driver(cuEventSynchronize, home = handle)]
pub fn event_synchronize(#[handle] event @ hEvent: CUevent);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&EVENT_CREATE, &EVENT_DESTROY, &EVENT_QUERY, &EVENT_RECORD, &EVENT_SYNCHRONIZE];
