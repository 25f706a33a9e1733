//! Our own queries, allocations and frees beside a capture.
#![expect(unsafe_code, reason = "exchanges the thread's capture mode")]

use cuda_sys::{CUresult, CUstreamCaptureMode, TABLE};

/// Holds the thread's capture mode at relaxed while it lives.
///
/// An event query or a free of any thread kills a capture whose mode is global; inside the exchange
/// it doesn't. The exchange costs a few nanoseconds.
pub(crate) struct Relaxed {
    previous: Option<CUstreamCaptureMode>,
}

impl Relaxed {
    pub(crate) fn enter() -> Self {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        Self { previous: exchange(mode) }
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            exchange(previous);
        }
    }
}

/// Sets the mode and returns the one before; none if the driver knows no modes.
fn exchange(mut mode: CUstreamCaptureMode) -> Option<CUstreamCaptureMode> {
    let entry = TABLE.cuThreadExchangeStreamCaptureMode.get().ok()?;
    // SAFETY: the call reads and writes one mode.
    let code = unsafe { entry(&raw mut mode) };
    (code == CUresult::CUDA_SUCCESS).then_some(mode)
}
