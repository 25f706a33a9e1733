//! Execution control. By hand: what the language cannot say.
//!
//! Chapter: Execution Control.
#![expect(unsafe_code, reason = "calls the driver with a function and its data")]

use core::ffi::c_void;

use cuda_sys::{CUhostFn, CUresult, TABLE};

use crate::error::{Error, Result};
use crate::shim::Handle as _;
use crate::stream::Stream;

/// Calls a function of the host, once the stream comes to it.
///
/// The stream's present mark is covered by an event before, so that who waits for earlier work
/// does not wait for the function.
///
/// By hand because the language has no word for a function and what it is called with.
///
/// # Errors
///
/// As the driver answers.
///
/// # Safety
///
/// `function` may be called with `data` on any thread until the stream has passed, does not
/// unwind, and calls no function of the driver. If the context fails before, it is never called.
#[doc(alias = "cuLaunchHostFunc")]
pub unsafe fn launch_host_func(
    stream: &Stream,
    function: CUhostFn,
    data: *mut c_void,
) -> Result<()> {
    const CALL: &str = "cuLaunchHostFunc";
    let entry = TABLE.cuLaunchHostFunc.get().map_err(|why| Error::unavailable(CALL, why))?;
    let _entered = stream.context().enter(CALL)?;
    stream.fence()?;
    // SAFETY: the stream is alive and of the thread's context; the rest is the caller's promise.
    let code = unsafe { entry(stream.raw(), function, data) };
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Error::driver(CALL, code)) }
}
