//! Memory and semaphores of other interfaces.
//!
//! Chapter: External Resource Interoperability, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CUdeviceptr,
    CUexternalMemory, CUexternalSemaphore, CUmipmappedArray, CUstream,
};

/// Opens memory of another interface; whoever opens it destroys it.
///
/// # Safety
///
/// The description names a handle of the kind that it says.
#[driver(cuImportExternalMemory, home = given)]
pub unsafe fn import_external_memory(
    #[out] ext_mem @ extMem_out: *mut CUexternalMemory,
    #[raw] description @ memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
);

/// Destroys opened memory.
///
/// # Safety
///
/// The memory is of `context`, and nothing uses it or what is mapped of it.
#[driver(cuDestroyExternalMemory, home = given)]
pub unsafe fn destroy_external_memory(#[raw] memory @ extMem: CUexternalMemory);

/// Maps a part of opened memory; whoever maps it frees it.
#[driver(cuExternalMemoryGetMappedBuffer, home = handle)]
pub fn external_memory_get_mapped_buffer(
    #[out] buffer @ devPtr: *mut CUdeviceptr,
    #[handle] memory @ extMem: CUexternalMemory,
    #[record] description @ bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
);

/// Maps a mipmapped array of opened memory; whoever maps it destroys it.
#[driver(cuExternalMemoryGetMappedMipmappedArray, home = handle)]
pub fn external_memory_get_mapped_mipmapped_array(
    #[out] mipmap: *mut CUmipmappedArray,
    #[handle] memory @ extMem: CUexternalMemory,
    #[record] description @ mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
);

/// Opens a semaphore of another interface; whoever opens it destroys it.
///
/// # Safety
///
/// The description names a handle of the kind that it says.
#[driver(cuImportExternalSemaphore, home = given)]
pub unsafe fn import_external_semaphore(
    #[out] ext_sem @ extSem_out: *mut CUexternalSemaphore,
    #[raw] description @ semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
);

/// Destroys an opened semaphore.
///
/// # Safety
///
/// The semaphore is of `context`, and no work uses it.
#[driver(cuDestroyExternalSemaphore, home = given)]
pub unsafe fn destroy_external_semaphore(#[raw] semaphore @ extSem: CUexternalSemaphore);

/// Signals semaphores of another interface, in the order of `stream`.
///
/// # Safety
///
/// The parameters are as many as the semaphores, each as its semaphore's kind asks.
#[driver(cuSignalExternalSemaphoresAsync, order = stream)]
pub unsafe fn signal_external_semaphores_async(
    #[items(count, handle)] semaphores @ extSemArray: *const CUexternalSemaphore,
    #[raw] parameters @ paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
    #[from(semaphores.count)] count @ numExtSems: c_uint,
    #[stream] stream: CUstream,
);

/// Makes what comes on `stream` wait for semaphores of another interface.
///
/// # Safety
///
/// The parameters are as many as the semaphores, each as its semaphore's kind asks.
#[driver(cuWaitExternalSemaphoresAsync, order = stream, fence)]
pub unsafe fn wait_external_semaphores_async(
    #[items(count, handle)] semaphores @ extSemArray: *const CUexternalSemaphore,
    #[raw] parameters @ paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
    #[from(semaphores.count)] count @ numExtSems: c_uint,
    #[stream] stream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &IMPORT_EXTERNAL_MEMORY,
    &DESTROY_EXTERNAL_MEMORY,
    &EXTERNAL_MEMORY_GET_MAPPED_BUFFER,
    &EXTERNAL_MEMORY_GET_MAPPED_MIPMAPPED_ARRAY,
    &IMPORT_EXTERNAL_SEMAPHORE,
    &DESTROY_EXTERNAL_SEMAPHORE,
    &SIGNAL_EXTERNAL_SEMAPHORES_ASYNC,
    &WAIT_EXTERNAL_SEMAPHORES_ASYNC,
];
