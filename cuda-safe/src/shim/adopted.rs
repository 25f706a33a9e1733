//! Handles without an owner of this crate: whoever adopts one vouches for it.
#![expect(unsafe_code, reason = "takes raw handles on their maker's word")]

use cuda_sys::{CUfunction, CUresult};

use super::operand::Handle;
use crate::call;
use crate::context::Context;
use crate::error::Result;

/// Is a handle that the calls take from somebody who vouches for it. It destroys nothing.
#[derive(Clone, Debug)]
pub struct Adopted<R> {
    raw: R,
    home: Option<Context>,
    /// The sizes of a kernel's parameters, if somebody asked for them.
    parameters: Option<Vec<usize>>,
}

impl<R: Copy> Adopted<R> {
    /// Adopts a handle of a context, or of none.
    ///
    /// # Safety
    ///
    /// The handle is valid while this value and its clones live, in that context.
    pub unsafe fn new(raw: R, home: Option<&Context>) -> Self {
        Self { raw, home: home.cloned(), parameters: None }
    }
}

impl Adopted<CUfunction> {
    /// Adopts a kernel, and asks the driver for its parameters, so that launches are checked.
    ///
    /// Drivers before CUDA 12.4 do not say; then launches are not checked.
    ///
    /// Driver: [`cuFuncGetParamInfo`](crate::call::func_get_param_info).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    ///
    /// # Safety
    ///
    /// The kernel's module stays loaded in `home` while this value and its clones live.
    pub unsafe fn kernel(raw: CUfunction, home: &Context) -> Result<Self> {
        // SAFETY: the caller's promise.
        let mut kernel = unsafe { Self::new(raw, Some(home)) };
        kernel.parameters = parameter_sizes(&kernel)?;
        Ok(kernel)
    }
}

/// Asks for the sizes of a kernel's parameters; none if the driver does not tell.
pub(crate) fn parameter_sizes(
    kernel: &impl Handle<Raw = CUfunction>,
) -> Result<Option<Vec<usize>>> {
    let mut sizes = Vec::new();
    loop {
        match call::func_get_param_info(kernel, sizes.len()) {
            Ok((_offset, size)) => sizes.push(size),
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => {
                return Ok(Some(sizes));
            }
            Err(error) if error.is_unsupported() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

// SAFETY: whoever adopted the handle vouches for it.
unsafe impl<R: Copy> Handle for Adopted<R> {
    type Raw = R;

    #[inline]
    fn raw(&self) -> R {
        self.raw
    }

    #[inline]
    fn home(&self) -> Option<&Context> {
        self.home.as_ref()
    }

    #[inline]
    fn parameters(&self) -> Option<&[usize]> {
        self.parameters.as_deref()
    }
}
