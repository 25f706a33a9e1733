//! Events: points in a stream.
#![expect(unsafe_code, reason = "owns an event's handle")]

use std::fmt;
use std::time::Duration;

use cuda_sys::{CUevent, CUevent_flags};

use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::shim::{Handle, Relaxed, raw};
use crate::stream::Stream;

/// Is an event without timing. Its drop waits for nothing.
pub struct Event {
    raw: CUevent,
    context: Context,
}

// SAFETY: an event may be used from every thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event that has recorded nothing yet, which counts as done.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        let raw = call::event_create(context, CUevent_flags::CU_EVENT_DISABLE_TIMING.0)?;
        Ok(Self { raw, context: context.clone() })
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Records what was enqueued on `stream` so far.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        call::event_record(self, stream)
    }

    /// Tells whether what it recorded is done.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn is_done(&self) -> Result<bool> {
        let _relaxed = Relaxed::enter();
        match call::event_query(self) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until what it recorded is done.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        let _relaxed = Relaxed::enter();
        call::event_synchronize(self)
    }

    /// Waits until what it recorded is done, but no longer than `limit`; answers whether it is.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        crate::wait::poll(limit, || self.is_done())
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("context", &self.context.id()).finish_non_exhaustive()
    }
}

// SAFETY: the event lives as long as the value, in its context.
unsafe impl Handle for Event {
    type Raw = CUevent;

    fn raw(&self) -> CUevent {
        self.raw
    }

    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.context.is_own_process() {
            return;
        }
        let destroyed = self.context.enter("cuEventDestroy_v2").and_then(|_entered| {
            // SAFETY: the handle is alive, and this is its owner's end.
            unsafe { raw::event_destroy(self.raw) }
        });
        if let Err(error) = destroyed {
            self.context.report(error);
        }
    }
}
