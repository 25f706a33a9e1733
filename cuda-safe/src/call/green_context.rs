//! Green contexts: parts of a device.
//!
//! Chapter: Green Contexts.

use core::ffi::{c_int, c_uint, c_ulonglong};

use cuda_codegen::driver;
use cuda_sys::{
    CUcontext, CUdevResource, CUdevResourceDesc, CUdevResourceType, CUdevice, CUevent, CUgreenCtx,
    CUstream,
};

/// Asks for a device's resource of a kind.
#[driver(cuDeviceGetDevResource, home = none)]
pub fn device_get_dev_resource(
    #[handle] device: CUdevice,
    #[out] resource: *mut CUdevResource,
    #[value] kind @ type_: CUdevResourceType,
);

/// Asks for a context's resource of a kind.
#[driver(cuCtxGetDevResource, home = none)]
pub fn ctx_get_dev_resource(
    #[handle] handle @ hCtx: CUcontext,
    #[out] resource: *mut CUdevResource,
    #[value] kind @ type_: CUdevResourceType,
);

/// Asks for a green context's resource of a kind.
#[driver(cuGreenCtxGetDevResource, home = none)]
pub fn green_ctx_get_dev_resource(
    #[handle] green @ hCtx: CUgreenCtx,
    #[out] resource: *mut CUdevResource,
    #[value] kind @ type_: CUdevResourceType,
);

/// Asks for a stream's resource of a kind.
#[driver(cuStreamGetDevResource, home = handle)]
pub fn stream_get_dev_resource(
    #[handle] stream @ hStream: CUstream,
    #[out] resource: *mut CUdevResource,
    #[value] kind @ type_: CUdevResourceType,
);

/// Asks for a stream's green context.
#[driver(cuStreamGetGreenCtx, home = handle)]
pub fn stream_get_green_ctx(
    #[handle] stream @ hStream: CUstream,
    #[out] green @ phCtx: *mut CUgreenCtx,
);

/// Makes a green context; whoever makes it destroys it.
///
/// # Safety
///
/// The description came from [`dev_resource_generate_desc`].
#[driver(cuGreenCtxCreate, home = none)]
pub unsafe fn green_ctx_create(
    #[out] green @ phCtx: *mut CUgreenCtx,
    #[raw] desc: CUdevResourceDesc,
    #[handle] device @ dev: CUdevice,
    #[value] flags: c_uint,
);

/// Destroys a green context.
///
/// # Safety
///
/// The context is alive, and nothing uses what was made in it.
#[driver(cuGreenCtxDestroy, home = none)]
pub unsafe fn green_ctx_destroy(#[raw] green @ hCtx: CUgreenCtx);

/// Asks for a number that no other green context of the process has.
#[driver(cuGreenCtxGetId, home = none)]
pub fn green_ctx_get_id(
    #[handle] green @ greenCtx: CUgreenCtx,
    #[out] id @ greenCtxId: *mut c_ulonglong,
);

/// Records what was enqueued in a green context so far.
#[driver(cuGreenCtxRecordEvent, home = none)]
pub fn green_ctx_record_event(
    #[handle] green @ hCtx: CUgreenCtx,
    #[handle] event @ hEvent: CUevent,
);

/// Makes what comes in a green context wait for an event.
#[driver(cuGreenCtxWaitEvent, home = none)]
pub fn green_ctx_wait_event(#[handle] green @ hCtx: CUgreenCtx, #[handle] event @ hEvent: CUevent);

/// Makes a stream in a green context; whoever makes it destroys it.
#[driver(cuGreenCtxStreamCreate, home = none)]
pub fn green_ctx_stream_create(
    #[out] stream @ phStream: *mut CUstream,
    #[handle] green @ greenCtx: CUgreenCtx,
    #[value] flags: c_uint,
    #[value] priority: c_int,
);

/// Returns the context that a green context is.
#[driver(cuCtxFromGreenCtx, home = none)]
pub fn ctx_from_green_ctx(
    #[out] handle @ pContext: *mut CUcontext,
    #[handle] green @ hCtx: CUgreenCtx,
);

/// Makes the description that a green context is made of.
///
/// # Safety
///
/// The resources came from the driver.
#[driver(cuDevResourceGenerateDesc, home = none)]
pub unsafe fn dev_resource_generate_desc(
    #[out] description @ phDesc: *mut CUdevResourceDesc,
    #[raw] resources: *mut CUdevResource,
    #[value] count @ nbResources: c_uint,
);

/// Splits a resource into groups of so many multiprocessors; answers how many groups there are.
///
/// # Safety
///
/// The input came from the driver; the remainder is null or points to room for one.
#[driver(cuDevSmResourceSplitByCount, home = none)]
pub unsafe fn dev_sm_resource_split_by_count(
    #[items(count, out)] groups @ result: *mut CUdevResource,
    #[from(groups.count)] count @ nbGroups: *mut c_uint,
    #[raw] input: *const CUdevResource,
    #[raw] remainder: *mut CUdevResource,
    #[value] flags: c_uint,
    #[value] min_count @ minCount: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &DEVICE_GET_DEV_RESOURCE,
    &CTX_GET_DEV_RESOURCE,
    &GREEN_CTX_GET_DEV_RESOURCE,
    &STREAM_GET_DEV_RESOURCE,
    &STREAM_GET_GREEN_CTX,
    &GREEN_CTX_CREATE,
    &GREEN_CTX_DESTROY,
    &GREEN_CTX_GET_ID,
    &GREEN_CTX_RECORD_EVENT,
    &GREEN_CTX_WAIT_EVENT,
    &GREEN_CTX_STREAM_CREATE,
    &CTX_FROM_GREEN_CTX,
    &DEV_RESOURCE_GENERATE_DESC,
    &DEV_SM_RESOURCE_SPLIT_BY_COUNT,
];
