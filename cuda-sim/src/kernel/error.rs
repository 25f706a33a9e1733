//! Why a kernel's body could not go on.

use std::error::Error;
use std::fmt;

use cuda_sys::CUresult;

/// Is why a kernel's body could not go on.
///
/// A body returns those that [`Launch`](super::Launch) gives it, or makes its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    code: CUresult,
    text: String,
}

impl KernelError {
    /// Makes an error of the body's own: calls answer `CUDA_ERROR_LAUNCH_FAILED` from then on.
    pub fn new(text: impl Into<String>) -> Self {
        Self { code: CUresult::CUDA_ERROR_LAUNCH_FAILED, text: text.into() }
    }

    /// Makes the error of a device-side assertion: calls answer `CUDA_ERROR_ASSERT` from then on.
    pub fn assertion(text: impl Into<String>) -> Self {
        Self { code: CUresult::CUDA_ERROR_ASSERT, text: text.into() }
    }

    pub(crate) const fn of_access(code: CUresult, text: String) -> Self {
        Self { code, text }
    }

    /// Returns what calls answer from then on.
    pub const fn code(&self) -> CUresult {
        self.code
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for KernelError {}
