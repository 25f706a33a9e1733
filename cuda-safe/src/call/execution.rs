//! Execution control.
//!
//! Chapter: Execution Control, whole.

use core::ffi::c_void;

use cuda_codegen::driver;
use cuda_sys::{CUfunction, CUhostFn, CUstream};

pub(in crate::call) mod function;
pub(in crate::call) mod launch;

pub use function::*;
pub use launch::*;

/// Calls a closure on a thread of the driver's, once the stream comes to it.
///
/// The closure calls no function of the driver; its panic is caught and reported to the context.
/// If the context ends or fails before, it is freed without having run. Who waits for earlier work
/// of the stream does not wait for the closure.
#[driver(cuLaunchHostFunc, order = stream, fence)]
pub fn launch_host_func(
    #[stream] stream @ hStream: CUstream,
    #[callback] function @ fn_: CUhostFn,
    #[data(function)] data @ userData: *mut c_void,
);

/// Asks where a parameter of a kernel lies among its parameters, and how many bytes it has.
#[driver(cuFuncGetParamInfo, home = handle)]
pub fn func_get_param_info(
    #[handle] function @ func: CUfunction,
    #[value] index @ paramIndex: usize,
    #[out] offset @ paramOffset: *mut usize,
    #[out] size @ paramSize: *mut usize,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&LAUNCH_HOST_FUNC, &FUNC_GET_PARAM_INFO];
