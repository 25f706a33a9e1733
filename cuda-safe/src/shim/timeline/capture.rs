//! Streams whose work is captured: it runs when a graph does, so that nobody waits for it, and of an
//! event that is recorded there nobody may ask.
//!
//! What the driver would answer by ending the capture is refused, and so is what would make work part
//! of a capture by accident: streams join one by events of the caller's.
#![expect(unsafe_code, reason = "asks about a stream by raw handle")]

use std::sync::Arc;

use cuda_sys::{CUresult, CUstream, CUstreamCaptureStatus};

use super::{EventHandle, Recorded, State, Timeline, raw};
use crate::error::{Error, Quantity, Result, Rule};

/// Says whether a stream captures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    /// It runs what comes on it.
    No,
    /// It captures what comes on it.
    Yes,
    /// It is the default stream, and one that waits for it captures: any call on it ends the capture.
    Forbids,
}

/// Asks whether a stream, which is alive, captures.
pub(super) fn capture_of(stream: CUstream) -> Result<Capture> {
    const FORBIDS: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the caller's promise; the call writes one number.
    match unsafe { raw::stream_is_capturing(stream, &raw mut status) } {
        Ok(()) if status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE => Ok(Capture::No),
        Ok(()) => Ok(Capture::Yes),
        Err(error) if error.code() == Some(FORBIDS) => Ok(Capture::Forbids),
        Err(error) => Err(error),
    }
}

/// Is an event that covers a mark.
pub(super) struct Cover {
    pub(super) mark: u64,
    pub(super) event: Arc<EventHandle>,
    /// Whether it was recorded in a capture.
    pub(super) captured: bool,
}

impl State {
    /// Finds an event that covers a mark, of a capture or of none.
    pub(super) fn find(&self, mark: u64, captured: bool) -> Option<Cover> {
        let covers = |it: &&Recorded| it.mark >= mark && it.captured == captured;
        let found = self.recorded.iter().find(covers)?;
        Some(Cover { mark: found.mark, event: Arc::clone(&found.event), captured })
    }
}

impl Timeline {
    /// Tells whether the stream captures, or is the default stream beside one that does; a stream that
    /// is gone does not.
    pub(crate) fn is_capturing(&self) -> Result<bool> {
        Ok(self.capture()? != Capture::No)
    }

    /// Tells whether an event of the stream's would be one of a capture; refuses one that would end it.
    pub(super) fn records_in_a_capture(&self) -> Result<bool> {
        match self.capture()? {
            Capture::No => Ok(false),
            Capture::Yes => Ok(true),
            Capture::Forbids => Err(of_a_capture("cuEventRecord")),
        }
    }

    fn capture(&self) -> Result<Capture> {
        self.with_handle(capture_of).unwrap_or(Ok(Capture::No))
    }

    /// Does without a wait for another stream, of which only one is captured: that is right if the
    /// other's work is done, and refused if not.
    #[cold]
    pub(super) fn stay_apart(&self, other: &Self, mark: u64, captured: bool) -> Result<()> {
        const CALL: &str = "cuStreamWaitEvent";
        if captured {
            return Err(of_a_capture(CALL));
        }
        other.advance()?;
        if other.is_reached(mark) {
            return Ok(());
        }
        let need = Quantity::Word("memory whose earlier uses are done");
        let have = Quantity::Word("a use on another stream, from before the capture");
        Err(Error::refused(CALL, "stream", Rule::Captured, need, have))
    }
}

impl Cover {
    /// Refuses to wait on the host for what is only captured.
    pub(super) fn check_runs(&self, call: &'static str) -> Result<()> {
        if self.captured { Err(of_a_capture(call)) } else { Ok(()) }
    }
}

/// Makes the refusal of what is not for captured work.
#[cold]
pub(crate) fn of_a_capture(call: &'static str) -> Error {
    let (need, have) = (Quantity::Word("work that runs"), Quantity::Word("work that is captured"));
    Error::refused(call, "stream", Rule::Captured, need, have)
}
