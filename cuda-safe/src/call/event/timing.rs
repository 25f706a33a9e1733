//! Timing and flags.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUevent, CUstream};

/// Asks how many milliseconds lie between two events.
#[driver(cuEventElapsedTime_v2, home = handle)]
pub fn event_elapsed_time(
    #[out] milliseconds @ pMilliseconds: *mut f32,
    #[handle] start @ hStart: CUevent,
    #[handle] end @ hEnd: CUevent,
);

/// Asks how many milliseconds lie between two events; for drivers before CUDA 12.8.
#[driver(cuEventElapsedTime, home = handle)]
pub fn event_elapsed_time_v1(
    #[out] milliseconds @ pMilliseconds: *mut f32,
    #[handle] start @ hStart: CUevent,
    #[handle] end @ hEnd: CUevent,
);

/// Records what was enqueued on a stream so far, as the flags say.
#[driver(cuEventRecordWithFlags, order = stream)]
pub fn event_record_with_flags(
    #[handle] event @ hEvent: CUevent,
    #[stream] stream @ hStream: CUstream,
    #[value] flags: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&EVENT_ELAPSED_TIME, &EVENT_ELAPSED_TIME_V1, &EVENT_RECORD_WITH_FLAGS];
