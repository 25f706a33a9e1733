//! Streams that may be out of reach later: a thread's own, which other threads can't name, and those
//! of others, who enqueue what they like or destroy them. Each use records its event at once.
#![expect(unsafe_code, reason = "waits for a stream by raw handle")]

use std::sync::Arc;

use cuda_sys::CUstream;

use super::{Capture, Cover, Relaxed, StreamHandle, Timeline, capture_of, raw};
use crate::context::Context;
use crate::error::Result;

impl Timeline {
    /// Makes the state of a stream whose uses each record an event at once.
    pub(crate) fn eager(context: &Context, stream: CUstream) -> Arc<Self> {
        Self::make(context, stream, true)
    }

    /// Tells whether each use records an event at once.
    #[inline]
    pub(crate) const fn is_eager(&self) -> bool {
        self.eager
    }

    /// Has an event stand for a use that took `mark`, whose call has returned; the context is
    /// entered. If there can be none, the use is waited for.
    pub(crate) fn seal(&self, mark: u64) {
        let mut state = self.lock();
        let Some(StreamHandle(stream)) = state.stream else { return };
        // Another thread's event may cover it already.
        if state.recorded.last().is_some_and(|last| last.mark >= mark) {
            return;
        }
        let captured = capture_of(stream) == Ok(Capture::Yes);
        let Err(error) = self.record(&mut state, stream, captured) else { return };
        // What comes on the stream from here on is not what is waited for.
        self.cut();
        let _relaxed = Relaxed::enter();
        // SAFETY: the handle is alive while the stream is used, as it is now.
        match unsafe { raw::stream_synchronize(stream) } {
            Ok(()) => self.note_reached(mark),
            Err(_) => state.lost = Some(error),
        }
    }

    /// Answers for a mark without an event: it is not waited for if it was waited for already, and
    /// can't be if nothing could stand for it.
    pub(super) fn uncovered(&self) -> Result<Option<Cover>> {
        match &self.lock().lost {
            Some(error) => Err(error.clone()),
            None => Ok(None),
        }
    }

    /// Forgets the stream's handle: its owner may destroy it from here on.
    pub(crate) fn forsake(&self) {
        self.lock().stream = None;
    }
}
