//! Events that stand for a stream's marks.
#![expect(unsafe_code, reason = "makes events, and asks about them, by raw handle")]

use core::ptr;

use cuda_sys::{CUevent, CUevent_flags};

use super::{Relaxed, raw};
use crate::error::Result;

/// Is an event of the timeline's own; whoever closes the timeline destroys it.
pub(super) struct EventHandle(pub(super) CUevent);

// SAFETY: an event may be used from every thread.
unsafe impl Send for EventHandle {}
// SAFETY: as above.
unsafe impl Sync for EventHandle {}

/// Asks whether what an event stands for is done.
pub(super) fn ask(event: &EventHandle) -> Result<bool> {
    let _relaxed = Relaxed::enter();
    // SAFETY: the event is alive: it is referred to here.
    match unsafe { raw::event_query(event.0) } {
        Ok(()) => Ok(true),
        Err(error) if error.is_not_ready() => Ok(false),
        Err(error) => Err(error),
    }
}

impl EventHandle {
    pub(super) fn new() -> Result<Self> {
        let mut event = ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        // SAFETY: the call writes one handle.
        unsafe { raw::event_create(&raw mut event, flags) }?;
        Ok(Self(event))
    }
}
