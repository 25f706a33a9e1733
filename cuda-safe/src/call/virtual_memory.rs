//! Virtual memory management.
//!
//! Chapter: Virtual Memory Management, whole.

use core::ffi::{c_uint, c_ulonglong, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUarrayMapInfo, CUdeviceptr, CUmemAccessDesc, CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemLocation,
    CUstream,
};

/// Reserves addresses; whoever reserves them frees them.
#[driver(cuMemAddressReserve, home = given)]
pub fn mem_address_reserve(
    #[out] ptr: *mut CUdeviceptr,
    #[value] size: usize,
    #[value] alignment: usize,
    #[null] wish @ addr: CUdeviceptr,
    #[value] flags: c_ulonglong,
);

/// Frees reserved addresses.
///
/// # Safety
///
/// The range was reserved as it is, nothing is mapped there, and nothing uses it.
#[driver(cuMemAddressFree, home = given)]
pub unsafe fn mem_address_free(#[raw] memory @ ptr: CUdeviceptr, #[value] size: usize);

/// Allocates physical memory; whoever allocates it releases it.
#[driver(cuMemCreate, home = given)]
pub fn mem_create(
    #[out] handle: *mut CUmemGenericAllocationHandle,
    #[value] size: usize,
    #[record] properties @ prop: *const CUmemAllocationProp,
    #[value] flags: c_ulonglong,
);

/// Releases physical memory; what is mapped stays.
///
/// # Safety
///
/// The handle is held, and given back once.
#[driver(cuMemRelease, home = given)]
pub unsafe fn mem_release(#[raw] handle: CUmemGenericAllocationHandle);

/// Maps physical memory to reserved addresses.
///
/// # Safety
///
/// The range is reserved, nothing is mapped there, and nothing uses it yet.
#[driver(cuMemMap, home = given)]
pub unsafe fn mem_map(
    #[raw] memory @ ptr: CUdeviceptr,
    #[value] size: usize,
    #[value] offset: usize,
    #[handle] handle: CUmemGenericAllocationHandle,
    #[value] flags: c_ulonglong,
);

/// Maps memory to tiles of sparse arrays, in the order of `stream`.
///
/// # Safety
///
/// Each entry names an array and memory that are alive until the stream has passed.
#[driver(cuMemMapArrayAsync, order = stream)]
pub unsafe fn mem_map_array_async(
    #[raw] maps @ mapInfoList: *mut CUarrayMapInfo,
    #[value] count: c_uint,
    #[stream] stream @ hStream: CUstream,
);

/// Undoes mappings.
///
/// # Safety
///
/// The range is mapped as it is, and no work uses it any more.
#[driver(cuMemUnmap, home = given)]
pub unsafe fn mem_unmap(#[raw] memory @ ptr: CUdeviceptr, #[value] size: usize);

/// Says which devices may reach mapped memory.
///
/// # Safety
///
/// The range is mapped, and no work uses it meanwhile.
#[driver(cuMemSetAccess, home = given)]
pub unsafe fn mem_set_access(
    #[raw] memory @ ptr: CUdeviceptr,
    #[value] size: usize,
    #[items(count, value)] access @ desc: *const CUmemAccessDesc,
    #[from(access.count)] count: usize,
);

/// Asks how a device may reach mapped memory.
#[driver(cuMemGetAccess)]
pub fn mem_get_access(
    #[out] flags: *mut c_ulonglong,
    #[record] location: *const CUmemLocation,
    #[device(share, bytes(1))] memory @ ptr: CUdeviceptr,
);

/// Asks of what multiples physical memory is allocated.
#[driver(cuMemGetAllocationGranularity, home = none)]
pub fn mem_get_allocation_granularity(
    #[out] granularity: *mut usize,
    #[record] properties @ prop: *const CUmemAllocationProp,
    #[value] option: CUmemAllocationGranularity_flags,
);

/// Asks for the properties of physical memory.
#[driver(cuMemGetAllocationPropertiesFromHandle, home = none)]
pub fn mem_get_allocation_properties_from_handle(
    #[out] properties @ prop: *mut CUmemAllocationProp,
    #[handle] handle: CUmemGenericAllocationHandle,
);

/// Asks for the handle of the physical memory behind an address; whoever asks releases it.
///
/// # Safety
///
/// The address is mapped.
#[driver(cuMemRetainAllocationHandle, home = given)]
pub unsafe fn mem_retain_allocation_handle(
    #[out] handle: *mut CUmemGenericAllocationHandle,
    #[raw] memory @ addr: *mut c_void,
);

/// Makes a handle of physical memory that another process can open.
///
/// # Safety
///
/// The shared handle points to room for what its type is.
#[driver(cuMemExportToShareableHandle, home = given)]
pub unsafe fn mem_export_to_shareable_handle(
    #[raw] shared @ shareableHandle: *mut c_void,
    #[handle] handle: CUmemGenericAllocationHandle,
    #[value] handle_type @ handleType: CUmemAllocationHandleType,
    #[value] flags: c_ulonglong,
);

/// Opens physical memory of another process; whoever opens it releases it.
///
/// # Safety
///
/// The shared handle is what its type says: a file descriptor, or a pointer to a fabric handle.
#[driver(cuMemImportFromShareableHandle, home = given)]
pub unsafe fn mem_import_from_shareable_handle(
    #[out] handle: *mut CUmemGenericAllocationHandle,
    #[raw] shared @ osHandle: *mut c_void,
    #[value] sh_handle_type @ shHandleType: CUmemAllocationHandleType,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEM_ADDRESS_RESERVE,
    &MEM_ADDRESS_FREE,
    &MEM_CREATE,
    &MEM_RELEASE,
    &MEM_MAP,
    &MEM_MAP_ARRAY_ASYNC,
    &MEM_UNMAP,
    &MEM_SET_ACCESS,
    &MEM_GET_ACCESS,
    &MEM_GET_ALLOCATION_GRANULARITY,
    &MEM_GET_ALLOCATION_PROPERTIES_FROM_HANDLE,
    &MEM_RETAIN_ALLOCATION_HANDLE,
    &MEM_EXPORT_TO_SHAREABLE_HANDLE,
    &MEM_IMPORT_FROM_SHAREABLE_HANDLE,
];
