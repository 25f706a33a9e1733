//! Launches.

use core::ffi::{c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{CUfunction, CUhostFn, CUlaunchConfig, CUstream};

/// Runs a kernel over a grid, in the order of `stream`.
///
/// # Safety
///
/// The kernel keeps to the memory that its arguments name, and to what is said to be done to
/// it.
#[driver(cuLaunchKernel, order = stream)]
pub unsafe fn launch_kernel(
    #[handle] function @ f: CUfunction,
    #[value] grid_x @ gridDimX: c_uint,
    #[value] grid_dim_y @ gridDimY: c_uint,
    #[value] grid_dim_z @ gridDimZ: c_uint,
    #[value] block_dim_x @ blockDimX: c_uint,
    #[value] block_dim_y @ blockDimY: c_uint,
    #[value] block_dim_z @ blockDimZ: c_uint,
    #[value] shared_mem_bytes @ sharedMemBytes: c_uint,
    #[stream] stream @ hStream: CUstream,
    #[args(function)] arguments @ kernelParams: *mut *mut c_void,
    #[null] extra: *mut *mut c_void,
);

/// Runs a kernel as a configuration says. The uses of its memory are the caller's to order.
///
/// # Safety
///
/// The configuration names a stream of the function's context and as many attributes as it
/// says; the arguments are as many and as large as the kernel's parameters; the kernel keeps to
/// the memory that they name, and nothing else uses it until the stream has passed.
#[driver(cuLaunchKernelEx, home = handle)]
pub unsafe fn launch_kernel_ex(
    #[raw] config: *const CUlaunchConfig,
    #[handle] function @ f: CUfunction,
    #[raw] arguments @ kernelParams: *mut *mut c_void,
    #[null] extra: *mut *mut c_void,
);

/// Runs a kernel over a grid whose blocks may wait for each other, in the order of `stream`.
///
/// # Safety
///
/// The kernel keeps to the memory that its arguments name, and to what is said to be done to
/// it.
#[driver(cuLaunchCooperativeKernel, order = stream)]
pub unsafe fn launch_cooperative_kernel(
    #[handle] function @ f: CUfunction,
    #[value] grid_x @ gridDimX: c_uint,
    #[value] grid_dim_y @ gridDimY: c_uint,
    #[value] grid_dim_z @ gridDimZ: c_uint,
    #[value] block_dim_x @ blockDimX: c_uint,
    #[value] block_dim_y @ blockDimY: c_uint,
    #[value] block_dim_z @ blockDimZ: c_uint,
    #[value] shared_mem_bytes @ sharedMemBytes: c_uint,
    #[stream] stream @ hStream: CUstream,
    #[args(function)] arguments @ kernelParams: *mut *mut c_void,
);

/// Calls a closure as [`launch_host_func`](crate::call::launch_host_func) does, and says how
/// its thread waits.
#[driver(cuLaunchHostFunc_v2, order = stream, fence)]
pub fn launch_host_func_v2(
    #[stream] stream @ hStream: CUstream,
    #[callback] function @ fn_: CUhostFn,
    #[data(function)] data @ userData: *mut c_void,
    #[value] sync_mode @ syncMode: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&LAUNCH_KERNEL, &LAUNCH_KERNEL_EX, &LAUNCH_COOPERATIVE_KERNEL, &LAUNCH_HOST_FUNC_V2];
