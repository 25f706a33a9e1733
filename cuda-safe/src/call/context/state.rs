//! Contexts that are not primary, the thread's stack of them, limits and flags.

use core::ffi::{c_int, c_uint};

use cuda_codegen::driver;
use cuda_sys::{
    CUcontext, CUctxCreateParams, CUdevice, CUevent, CUexecAffinityParam, CUexecAffinityType,
    CUfunc_cache, CUlimit,
};

/// Makes a context, and makes it the thread's; whoever makes it destroys it.
///
/// # Safety
///
/// The parameters are null, or name arrays of the lengths that they say.
#[driver(cuCtxCreate_v4, home = none)]
pub unsafe fn ctx_create(
    #[out] handle @ pctx: *mut CUcontext,
    #[raw] parameters @ ctxCreateParams: *mut CUctxCreateParams,
    #[value] flags: c_uint,
    #[handle] device @ dev: CUdevice,
);

/// Makes a context, and makes it the thread's; for drivers before CUDA 12.5.
#[driver(cuCtxCreate_v2, home = none)]
pub fn ctx_create_v2(
    #[out] handle @ pctx: *mut CUcontext,
    #[value] flags: c_uint,
    #[handle] device @ dev: CUdevice,
);

/// Destroys a context.
///
/// # Safety
///
/// The context came from a call that makes one, is alive, and nothing uses what was made in it.
#[driver(cuCtxDestroy_v2, home = none)]
pub unsafe fn ctx_destroy(#[raw] handle @ ctx: CUcontext);

/// Asks for which version of the interface a context was made.
#[driver(cuCtxGetApiVersion, home = none)]
pub fn ctx_get_api_version(#[handle] handle @ ctx: CUcontext, #[out] version: *mut c_uint);

/// Asks what the context prefers, cache or shared memory.
#[driver(cuCtxGetCacheConfig, home = given)]
pub fn ctx_get_cache_config(#[out] pconfig: *mut CUfunc_cache);

/// Says what the context should prefer, cache or shared memory.
#[driver(cuCtxSetCacheConfig, home = given)]
pub fn ctx_set_cache_config(#[value] config: CUfunc_cache);

/// Asks for the device of a context.
#[driver(cuCtxGetDevice_v2, home = none)]
pub fn ctx_get_device(#[out] device: *mut CUdevice, #[handle] handle @ ctx: CUcontext);

/// Asks for the context's device; for drivers before CUDA 13.0.
#[driver(cuCtxGetDevice, home = given)]
pub fn ctx_get_device_v1(#[out] device: *mut CUdevice);

/// Asks for the context's execution affinity.
#[driver(cuCtxGetExecAffinity, home = given)]
pub fn ctx_get_exec_affinity(
    #[out] exec_affinity @ pExecAffinity: *mut CUexecAffinityParam,
    #[value] kind @ type_: CUexecAffinityType,
);

/// Asks for the context's flags.
#[driver(cuCtxGetFlags, home = given)]
pub fn ctx_get_flags(#[out] flags: *mut c_uint);

/// Sets the context's flags.
#[driver(cuCtxSetFlags, home = given)]
pub fn ctx_set_flags(#[value] flags: c_uint);

/// Asks for one of the context's limits.
#[driver(cuCtxGetLimit, home = given)]
pub fn ctx_get_limit(#[out] value @ pvalue: *mut usize, #[value] limit: CUlimit);

/// Sets one of the context's limits.
#[driver(cuCtxSetLimit, home = given)]
pub fn ctx_set_limit(#[value] limit: CUlimit, #[value] value: usize);

/// Asks for the least and the greatest priority of streams.
#[driver(cuCtxGetStreamPriorityRange, home = given)]
pub fn ctx_get_stream_priority_range(
    #[out] least_priority @ leastPriority: *mut c_int,
    #[out] greatest_priority @ greatestPriority: *mut c_int,
);

/// Takes the thread's context from its stack, and returns it.
#[driver(cuCtxPopCurrent_v2, home = none)]
pub fn ctx_pop_current(#[out] handle @ pctx: *mut CUcontext);

/// Puts a context on the thread's stack.
///
/// # Safety
///
/// The context is alive until it is popped.
#[driver(cuCtxPushCurrent_v2, home = none)]
pub unsafe fn ctx_push_current(#[raw] handle @ ctx: CUcontext);

/// Records what was enqueued in a context so far.
#[driver(cuCtxRecordEvent, home = none)]
pub fn ctx_record_event(#[handle] handle @ hCtx: CUcontext, #[handle] event @ hEvent: CUevent);

/// Makes what comes in a context wait for an event.
#[driver(cuCtxWaitEvent, home = none)]
pub fn ctx_wait_event(#[handle] handle @ hCtx: CUcontext, #[handle] event @ hEvent: CUevent);

/// Makes all lines of the cache that persist ordinary again.
#[driver(cuCtxResetPersistingL2Cache, home = given)]
pub fn ctx_reset_persisting_l2_cache();

/// Waits until everything in a context is done.
#[driver(cuCtxSynchronize_v2, home = none)]
pub fn ctx_synchronize_v2(#[handle] handle @ ctx: CUcontext);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &CTX_CREATE,
    &CTX_CREATE_V2,
    &CTX_DESTROY,
    &CTX_GET_API_VERSION,
    &CTX_GET_CACHE_CONFIG,
    &CTX_SET_CACHE_CONFIG,
    &CTX_GET_DEVICE,
    &CTX_GET_DEVICE_V1,
    &CTX_GET_EXEC_AFFINITY,
    &CTX_GET_FLAGS,
    &CTX_SET_FLAGS,
    &CTX_GET_LIMIT,
    &CTX_SET_LIMIT,
    &CTX_GET_STREAM_PRIORITY_RANGE,
    &CTX_POP_CURRENT,
    &CTX_PUSH_CURRENT,
    &CTX_RECORD_EVENT,
    &CTX_WAIT_EVENT,
    &CTX_RESET_PERSISTING_L2_CACHE,
    &CTX_SYNCHRONIZE_V2,
];
