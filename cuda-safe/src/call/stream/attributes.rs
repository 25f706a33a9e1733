//! Priorities, attributes, contexts, callbacks.

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUcontext, CUdevice, CUdeviceptr, CUgreenCtx, CUstream, CUstreamAttrID, CUstreamAttrValue,
    CUstreamCallback,
};

/// Makes a stream of a priority; whoever makes it destroys it.
#[driver(cuStreamCreateWithPriority, home = given)]
pub fn stream_create_with_priority(
    #[out] stream @ phStream: *mut CUstream,
    #[value] flags: c_uint,
    #[value] priority: c_int,
);

/// Calls a closure on a thread of the driver's, once the stream comes to it; work behind it
/// waits. [`launch_host_func`](crate::call::launch_host_func) is its successor.
#[driver(cuStreamAddCallback, order = stream, fence)]
pub fn stream_add_callback(
    #[stream] stream @ hStream: CUstream,
    #[callback] callback: CUstreamCallback,
    #[data(callback)] data @ userData: *mut c_void,
    #[from(0)] flags: c_uint,
);

/// Attaches managed memory to a stream, in the order of `stream`.
#[driver(cuStreamAttachMemAsync, order = stream)]
pub fn stream_attach_mem_async(
    #[stream] stream @ hStream: CUstream,
    #[device(write, bytes(length))] memory @ dptr: CUdeviceptr,
    #[from(memory.len)] length: usize,
    #[value] flags: c_uint,
);

/// Copies the attributes of a stream to another.
#[driver(cuStreamCopyAttributes, home = handle)]
pub fn stream_copy_attributes(
    #[handle] dst_stream @ dstStream: CUstream,
    #[handle] src_stream @ srcStream: CUstream,
);

/// Asks for an attribute of a stream; which member of the answer holds it follows from the
/// attribute.
#[driver(cuStreamGetAttribute, home = handle)]
pub fn stream_get_attribute(
    #[handle] stream @ hStream: CUstream,
    #[value] attribute @ attr: CUstreamAttrID,
    #[out] value: *mut CUstreamAttrValue,
);

/// Sets an attribute of a stream.
///
/// # Safety
///
/// The member that the attribute asks for is set, and what it names is alive.
#[driver(cuStreamSetAttribute, home = handle)]
pub unsafe fn stream_set_attribute(
    #[handle] stream @ hStream: CUstream,
    #[value] attribute @ attr: CUstreamAttrID,
    #[raw] value @ param: *const CUstreamAttrValue,
);

/// Asks for a stream's context, and its green context if it has one.
#[driver(cuStreamGetCtx_v2, home = handle)]
pub fn stream_get_ctx(
    #[handle] stream @ hStream: CUstream,
    #[out] handle @ pCtx: *mut CUcontext,
    #[out] green @ pGreenCtx: *mut CUgreenCtx,
);

/// Asks for a stream's device.
#[driver(cuStreamGetDevice, home = handle)]
pub fn stream_get_device(#[handle] stream @ hStream: CUstream, #[out] device: *mut CUdevice);

/// Asks for a stream's flags.
#[driver(cuStreamGetFlags, home = handle)]
pub fn stream_get_flags(#[handle] stream @ hStream: CUstream, #[out] flags: *mut c_uint);

/// Asks for a number that no other stream of the process has.
#[driver(cuStreamGetId, home = handle)]
pub fn stream_get_id(
    #[handle] stream @ hStream: CUstream,
    #[out] stream_id @ streamId: *mut c_ulonglong,
);

/// Asks for a stream's priority.
#[driver(cuStreamGetPriority, home = handle)]
pub fn stream_get_priority(#[handle] stream @ hStream: CUstream, #[out] priority: *mut c_int);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &STREAM_CREATE_WITH_PRIORITY,
    &STREAM_ADD_CALLBACK,
    &STREAM_ATTACH_MEM_ASYNC,
    &STREAM_COPY_ATTRIBUTES,
    &STREAM_GET_ATTRIBUTE,
    &STREAM_SET_ATTRIBUTE,
    &STREAM_GET_CTX,
    &STREAM_GET_DEVICE,
    &STREAM_GET_FLAGS,
    &STREAM_GET_ID,
    &STREAM_GET_PRIORITY,
];
