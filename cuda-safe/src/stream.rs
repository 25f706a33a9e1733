//! Streams: work in order.
#![expect(unsafe_code, reason = "owns a stream's handle")]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use cuda_sys::{CU_STREAM_LEGACY, CUstream, CUstream_flags};

use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::event::Event;
use crate::shim::{Handle, Timeline, raw};

/// Is a stream. Its drop waits for nothing: the work goes on.
pub struct Stream {
    raw: CUstream,
    /// Tells whether the drop destroys it.
    own: bool,
    timeline: Arc<Timeline>,
    context: Context,
}

// SAFETY: a stream may be used from every thread.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver orders what threads enqueue at the same time.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream that does not wait for the default stream, nor that for it.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        let raw = call::stream_create(context, CUstream_flags::CU_STREAM_NON_BLOCKING.0)?;
        let timeline = Timeline::new(context, raw);
        Ok(Self { raw, own: true, timeline, context: context.clone() })
    }

    /// Returns the context's default stream, which calls without a stream are ordered on.
    pub fn legacy(context: &Context) -> Self {
        let timeline = context.legacy_timeline();
        Self { raw: CU_STREAM_LEGACY, own: false, timeline, context: context.clone() }
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) const fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Waits until everything that was enqueued on it is done.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        let mark = self.timeline.cut();
        call::stream_synchronize(self)?;
        self.timeline.note_reached(mark);
        self.context.collect();
        Ok(())
    }

    /// Waits as [`synchronize`](Self::synchronize) does, but no longer than `limit`; answers whether
    /// everything is done.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        let mark = self.timeline.cut();
        let done = crate::wait::poll(limit, || self.query())?;
        if done {
            self.timeline.note_reached(mark);
        }
        Ok(done)
    }

    /// Tells whether everything that was enqueued on it is done.
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn is_done(&self) -> Result<bool> {
        let mark = self.timeline.cut();
        let done = self.query()?;
        if done {
            self.timeline.note_reached(mark);
        }
        Ok(done)
    }

    fn query(&self) -> Result<bool> {
        match call::stream_query(self) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes what comes on the stream wait for what `event` recorded.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        call::stream_wait_event(self, event)
    }

    /// Notes that something comes on the stream that may block it for as long as others like: who
    /// waits for earlier work then does not wait for that.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn fence(&self) -> Result<()> {
        self.timeline.fence()
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("timeline", &self.timeline)
            .field("context", &self.context.id())
            .finish_non_exhaustive()
    }
}

// SAFETY: the stream lives as long as the value, in its context.
unsafe impl Handle for Stream {
    type Raw = CUstream;

    #[inline]
    fn raw(&self) -> CUstream {
        self.raw
    }

    #[inline]
    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.own || !self.context.is_own_process() {
            return;
        }
        let entered = match self.context.enter("cuStreamDestroy_v2") {
            Ok(entered) => entered,
            // After a reset by others the handle must not be used: the driver would crash.
            Err(error) => return self.context.report(error),
        };
        if let Some((raw, recorded)) = self.timeline.retire() {
            // SAFETY: the handle is alive, and was taken from the only other place that has it.
            let destroyed = unsafe { raw::stream_destroy(raw) };
            if let Err(error) = recorded.and(destroyed) {
                self.context.report(error);
            }
        }
        drop(entered);
    }
}
