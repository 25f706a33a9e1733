//! How a stream is made.

use cuda_sys::CUstream_flags;

/// Says how a stream is made. Without more it has the lowest priority, and does not wait for the
/// default stream, nor that for it.
///
/// Driver: [`CUstream_flags`](crate::sys::CUstream_flags), chapter Stream Management.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it only says how a stream is made"]
pub struct StreamOptions {
    pub(super) priority: Option<i32>,
    blocking: bool,
}

impl StreamOptions {
    /// Makes the options that [`Stream::new`](crate::Stream::new) has.
    pub const fn new() -> Self {
        Self { priority: None, blocking: false }
    }

    /// Sets the priority: of two streams, the one with the lower number comes first. What is
    /// outside of [`Stream::priorities`](crate::Stream::priorities) counts as the nearest inside.
    pub const fn priority(self, priority: i32) -> Self {
        Self { priority: Some(priority), ..self }
    }

    /// Says whether the stream and the default stream wait for each other, as the C interface has it
    /// unless told otherwise.
    pub const fn waits_for_default(self, waits: bool) -> Self {
        Self { blocking: waits, ..self }
    }

    /// Returns the driver's flags.
    pub(super) const fn flags(self) -> u32 {
        if self.blocking {
            CUstream_flags::CU_STREAM_DEFAULT.0
        } else {
            CUstream_flags::CU_STREAM_NON_BLOCKING.0
        }
    }
}
