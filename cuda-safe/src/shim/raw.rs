//! The calls that the shims themselves make, by raw handle: contexts entered, events recorded and
//! waited for, addresses asked about. They are unsafe because nothing vouches for a raw handle.
#![expect(unsafe_code, reason = "calls the driver with raw handles")]

use core::ffi::{c_uint, c_ulonglong, c_void};

use cuda_sys::{
    CUcontext, CUdeviceptr, CUevent, CUmemGenericAllocationHandle, CUmemoryPool, CUmodule,
    CUpointer_attribute, CUresult, CUstream, CUstreamCaptureStatus, TABLE,
};

use super::gate::found;
use crate::error::{Error, Result};

macro_rules! raw {
    ($($(#[$meta:meta])* $name:ident = $symbol:ident($($parameter:ident: $ty:ty),*);)*) => { $(
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// As the manual says of the call: each handle is alive.
        #[inline]
        pub(crate) unsafe fn $name($($parameter: $ty),*) -> Result<()> {
            let call = stringify!($symbol);
            let entry = found(call, &TABLE.$symbol)?;
            // SAFETY: the caller's promise is the C function's own contract.
            let code = unsafe { entry($($parameter),*) };
            if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Error::driver(call, code)) }
        }
    )* };
}

raw! {
    /// Asks for the thread's context.
    ctx_get_current = cuCtxGetCurrent(context: *mut CUcontext);
    /// Makes a context, or none, the thread's.
    ctx_set_current = cuCtxSetCurrent(context: CUcontext);
    /// Asks for a number that differs after a reset.
    ctx_get_id = cuCtxGetId(context: CUcontext, id: *mut c_ulonglong);
    /// Waits on the host until everything in the thread's context is done.
    ctx_synchronize = cuCtxSynchronize();
    /// Makes an event.
    event_create = cuEventCreate(event: *mut CUevent, flags: c_uint);
    /// Records what was enqueued on a stream so far.
    event_record = cuEventRecord(event: CUevent, stream: CUstream);
    /// Asks whether what was recorded is done.
    event_query = cuEventQuery(event: CUevent);
    /// Waits on the host until what was recorded is done.
    event_synchronize = cuEventSynchronize(event: CUevent);
    /// Destroys an event.
    event_destroy = cuEventDestroy_v2(event: CUevent);
    /// Makes what comes on a stream wait for what was recorded.
    stream_wait_event = cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    /// Waits on the host until a stream is idle.
    stream_synchronize = cuStreamSynchronize(stream: CUstream);
    /// Makes a stream.
    stream_create = cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    /// Asks whether what comes on a stream is recorded and not run.
    stream_is_capturing = cuStreamIsCapturing(
        stream: CUstream, status: *mut CUstreamCaptureStatus);
    /// Destroys a stream; its work goes on.
    stream_destroy = cuStreamDestroy_v2(stream: CUstream);
    /// Asks for an attribute of an address.
    pointer_get_attribute =
        cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr);
    /// Asks for several attributes of an address.
    pointer_get_attributes = cuPointerGetAttributes(
        count: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void,
        address: CUdeviceptr
    );
    /// Frees device memory.
    mem_free = cuMemFree_v2(address: CUdeviceptr);
    /// Frees device memory, in the order of a stream.
    mem_free_async = cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
    /// Destroys a memory pool; its memory goes with the last that is freed.
    mem_pool_destroy = cuMemPoolDestroy(pool: CUmemoryPool);
    /// Undoes a registration of host memory.
    mem_host_unregister = cuMemHostUnregister(address: *mut c_void);
    /// Frees page-locked memory.
    mem_free_host = cuMemFreeHost(address: *mut c_void);
    /// Undoes mappings, and waits for nothing.
    mem_unmap = cuMemUnmap(address: CUdeviceptr, size: usize);
    /// Releases physical memory; what is mapped stays.
    mem_release = cuMemRelease(handle: CUmemGenericAllocationHandle);
    /// Frees reserved addresses where nothing is mapped.
    mem_address_free = cuMemAddressFree(address: CUdeviceptr, size: usize);
    /// Unloads a module, behind every kernel of the context.
    module_unload = cuModuleUnload(module: CUmodule);
}
