//! The stream-ordered memory allocator.
//!
//! Chapter: Stream Ordered Memory Allocator, whole.

use core::ffi::{c_ulonglong, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType,
    CUmemAllocationType, CUmemLocation, CUmemPool_attribute, CUmemPoolProps,
    CUmemPoolPtrExportData, CUmemoryPool, CUstream,
};

use crate::shim::Kind;
use crate::shim::attribute::PoolAttribute;

/// Allocates device memory, in the order of `stream`; whoever allocates it frees it.
#[driver(cuMemAllocAsync, order = stream)]
pub fn mem_alloc_async(
    #[out] dptr: *mut CUdeviceptr,
    #[value] size @ bytesize: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Allocates device memory from a pool, in the order of `stream`; whoever allocates it frees
/// it.
#[driver(cuMemAllocFromPoolAsync, order = stream)]
pub fn mem_alloc_from_pool_async(
    #[out] dptr: *mut CUdeviceptr,
    #[value] size @ bytesize: usize,
    #[handle] pool: CUmemoryPool,
    #[stream] stream @ hStream: CUstream,
);

/// Frees memory, in the order of `stream`.
///
/// # Safety
///
/// The address came from a stream-ordered allocation, and every use is before this in the order
/// of the stream.
#[driver(cuMemFreeAsync, order = stream)]
pub unsafe fn mem_free_async(
    #[raw] memory @ dptr: CUdeviceptr,
    #[stream] stream @ hStream: CUstream,
);

/// Makes a memory pool; whoever makes it destroys it.
#[driver(cuMemPoolCreate, home = none)]
pub fn mem_pool_create(
    #[out] pool: *mut CUmemoryPool,
    #[record] properties @ poolProps: *const CUmemPoolProps,
);

/// Destroys a memory pool; its memory goes once the last of it is freed.
///
/// # Safety
///
/// The pool came from [`mem_pool_create`] or an import, and is not used any more.
#[driver(cuMemPoolDestroy, home = none)]
pub unsafe fn mem_pool_destroy(#[raw] pool: CUmemoryPool);

/// Gives memory back that a pool holds and nobody uses, down to so many bytes.
#[driver(cuMemPoolTrimTo, home = none)]
pub fn mem_pool_trim_to(
    #[handle] pool: CUmemoryPool,
    #[value] min_bytes_to_keep @ minBytesToKeep: usize,
);

/// Asks for an attribute of a pool: `mem_pool_get_attribute::<UsedNow>(&pool)`.
#[driver(cuMemPoolGetAttribute, home = none)]
pub fn mem_pool_get_attribute(
    #[handle] pool: CUmemoryPool,
    #[attribute(PoolAttribute)] attribute @ attr: CUmemPool_attribute,
    #[out(attribute)] value: *mut c_void,
);

/// Sets an attribute of a pool: `mem_pool_set_attribute::<ReleaseThreshold>(&pool, bytes)`.
#[driver(cuMemPoolSetAttribute, home = none)]
pub fn mem_pool_set_attribute(
    #[handle] pool: CUmemoryPool,
    #[attribute(PoolAttribute)] attribute @ attr: CUmemPool_attribute,
    #[value(attribute)] value: *mut c_void,
);

/// Asks how a device may reach a pool's memory.
#[driver(cuMemPoolGetAccess, home = none)]
pub fn mem_pool_get_access(
    #[out] flags: *mut CUmemAccess_flags,
    #[handle] mem_pool @ memPool: CUmemoryPool,
    #[record(read)] location: *mut CUmemLocation,
);

/// Says which devices may reach a pool's memory.
#[driver(cuMemPoolSetAccess, home = none)]
pub fn mem_pool_set_access(
    #[handle] pool: CUmemoryPool,
    #[items(count, value)] access @ map: *const CUmemAccessDesc,
    #[from(access.count)] count: usize,
);

/// Makes a handle of a pool that another process can open.
///
/// # Safety
///
/// The shared handle points to room for what its type is.
#[driver(cuMemPoolExportToShareableHandle, home = none)]
pub unsafe fn mem_pool_export_to_shareable_handle(
    #[raw] shared @ handle_out: *mut c_void,
    #[handle] pool: CUmemoryPool,
    #[value] handle_type @ handleType: CUmemAllocationHandleType,
    #[value] flags: c_ulonglong,
);

/// Opens a pool of another process; whoever opens it destroys it.
///
/// # Safety
///
/// The shared handle is what its type says: a file descriptor, or a pointer to a fabric handle.
#[driver(cuMemPoolImportFromShareableHandle, home = none)]
pub unsafe fn mem_pool_import_from_shareable_handle(
    #[out] pool @ pool_out: *mut CUmemoryPool,
    #[raw] shared @ handle: *mut c_void,
    #[value] handle_type @ handleType: CUmemAllocationHandleType,
    #[value] flags: c_ulonglong,
);

/// Describes an allocation of a shared pool, for a process that opened the pool.
#[driver(cuMemPoolExportPointer)]
pub fn mem_pool_export_pointer(
    #[out] share_data @ shareData_out: *mut CUmemPoolPtrExportData,
    #[device(share, base, kind(Kind::SharedPool))] memory @ ptr: CUdeviceptr,
);

/// Opens an allocation of a pool of another process; it is freed here before there.
#[driver(cuMemPoolImportPointer, home = none)]
pub fn mem_pool_import_pointer(
    #[out] ptr @ ptr_out: *mut CUdeviceptr,
    #[handle] pool: CUmemoryPool,
    #[record(read)] described @ shareData: *mut CUmemPoolPtrExportData,
);

/// Returns the default pool of a place.
#[driver(cuMemGetDefaultMemPool, home = none)]
pub fn mem_get_default_mem_pool(
    #[out] pool @ pool_out: *mut CUmemoryPool,
    #[record(read)] location: *mut CUmemLocation,
    #[value] kind @ type_: CUmemAllocationType,
);

/// Returns the current pool of a place.
#[driver(cuMemGetMemPool, home = none)]
pub fn mem_get_mem_pool(
    #[out] pool: *mut CUmemoryPool,
    #[record(read)] location: *mut CUmemLocation,
    #[value] kind @ type_: CUmemAllocationType,
);

/// Makes a pool the current one of a place. Of the former, streams keep memory as
/// [`device_set_mem_pool`](super::device_set_mem_pool) says.
#[driver(cuMemSetMemPool, home = none)]
pub fn mem_set_mem_pool(
    #[record(read)] location: *mut CUmemLocation,
    #[value] kind @ type_: CUmemAllocationType,
    #[handle] pool: CUmemoryPool,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEM_ALLOC_ASYNC,
    &MEM_ALLOC_FROM_POOL_ASYNC,
    &MEM_FREE_ASYNC,
    &MEM_POOL_CREATE,
    &MEM_POOL_DESTROY,
    &MEM_POOL_TRIM_TO,
    &MEM_POOL_GET_ATTRIBUTE,
    &MEM_POOL_SET_ATTRIBUTE,
    &MEM_POOL_GET_ACCESS,
    &MEM_POOL_SET_ACCESS,
    &MEM_POOL_EXPORT_TO_SHAREABLE_HANDLE,
    &MEM_POOL_IMPORT_FROM_SHAREABLE_HANDLE,
    &MEM_POOL_EXPORT_POINTER,
    &MEM_POOL_IMPORT_POINTER,
    &MEM_GET_DEFAULT_MEM_POOL,
    &MEM_GET_MEM_POOL,
    &MEM_SET_MEM_POOL,
];
