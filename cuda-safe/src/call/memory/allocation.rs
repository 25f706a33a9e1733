//! Allocation and registration, and what is asked of memory.

use core::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUasyncCallback, CUasyncCallbackHandle, CUdevice, CUdeviceptr, CUevent, CUipcEventHandle,
    CUmemRangeHandleType,
};

/// Allocates page-locked memory; whoever allocates it frees it.
#[driver(cuMemAllocHost_v2, home = given)]
pub fn mem_alloc_host(#[out] pp: *mut *mut c_void, #[value] size @ bytesize: usize);

/// Allocates memory that host and device reach by one address; whoever allocates it frees it.
#[driver(cuMemAllocManaged, home = given)]
pub fn mem_alloc_managed(
    #[out] dptr: *mut CUdeviceptr,
    #[value] size @ bytesize: usize,
    #[value] flags: c_uint,
);

/// Page-locks memory of the host, so that devices reach it.
///
/// # Safety
///
/// The bytes are memory of this process, and stay until they are unregistered.
#[driver(cuMemHostRegister_v2, home = given)]
pub unsafe fn mem_host_register(
    #[raw] memory @ p: *mut c_void,
    #[value] size @ bytesize: usize,
    #[value] flags @ Flags: c_uint,
);

/// Undoes a registration, behind every kernel of the context.
///
/// # Safety
///
/// The memory is registered, and no work uses it any more.
#[driver(cuMemHostUnregister, home = given)]
pub unsafe fn mem_host_unregister(#[raw] memory @ p: *mut c_void);

/// Asks for the address by which a device reaches page-locked memory.
#[driver(cuMemHostGetDevicePointer_v2, home = given)]
pub fn mem_host_get_device_pointer(
    #[out] pdptr: *mut CUdeviceptr,
    #[host(share, bytes(1))] memory @ p: *mut c_void,
    #[from(0)] flags @ Flags: c_uint,
);

/// Asks for the flags that page-locked memory was allocated with.
#[driver(cuMemHostGetFlags, home = given)]
pub fn mem_host_get_flags(
    #[out] flags @ pFlags: *mut c_uint,
    #[host(share, bytes(1))] memory @ p: *mut c_void,
);

/// Makes a file descriptor of memory, for other drivers.
///
/// # Safety
///
/// The handle points to room for what the kind of handle is, which is a file descriptor on
/// Linux.
#[driver(cuMemGetHandleForAddressRange, home = given)]
pub unsafe fn mem_get_handle_for_address_range(
    #[raw] handle: *mut c_void,
    #[device(share, bytes(size))] memory @ dptr: CUdeviceptr,
    #[from(memory.len)] size: usize,
    #[value] handle_type @ handleType: CUmemRangeHandleType,
    #[value] flags: c_ulonglong,
);

/// Finds a device by its address on the PCI bus.
#[driver(cuDeviceGetByPCIBusId, home = none)]
pub fn device_get_by_pci_bus_id(
    #[out] device @ dev: *mut CUdevice,
    #[text] pci_bus_id @ pciBusId: *const c_char,
);

/// Asks for a device's address on the PCI bus.
#[driver(cuDeviceGetPCIBusId, home = none)]
pub fn device_get_pci_bus_id(
    #[text(16)] pci_bus_id @ pciBusId: *mut c_char,
    #[from(pci_bus_id.len)] len: c_int,
    #[handle] device @ dev: CUdevice,
);

/// Has a function called when something happens to a device.
///
/// # Safety
///
/// The function may be called with the data on any thread until it is unregistered, does not
/// unwind, and calls no function of the driver.
#[driver(cuDeviceRegisterAsyncNotification, home = none)]
pub unsafe fn device_register_async_notification(
    #[handle] device: CUdevice,
    #[raw] function @ callbackFunc: CUasyncCallback,
    #[raw] data @ userData: *mut c_void,
    #[out] handle @ callback: *mut CUasyncCallbackHandle,
);

/// Undoes a registration of a notification.
///
/// # Safety
///
/// The handle came from [`device_register_async_notification`] of the device, and is
/// registered.
#[driver(cuDeviceUnregisterAsyncNotification, home = none)]
pub unsafe fn device_unregister_async_notification(
    #[handle] device: CUdevice,
    #[raw] handle @ callback: CUasyncCallbackHandle,
);

/// Names an event so that another process can open it.
#[driver(cuIpcGetEventHandle, home = handle)]
pub fn ipc_get_event_handle(
    #[out] handle @ pHandle: *mut CUipcEventHandle,
    #[handle] event: CUevent,
);

/// Opens an event of another process; whoever opens it destroys it.
#[driver(cuIpcOpenEventHandle, home = given)]
pub fn ipc_open_event_handle(
    #[out] event @ phEvent: *mut CUevent,
    #[value] handle: CUipcEventHandle,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEM_ALLOC_HOST,
    &MEM_ALLOC_MANAGED,
    &MEM_HOST_REGISTER,
    &MEM_HOST_UNREGISTER,
    &MEM_HOST_GET_DEVICE_POINTER,
    &MEM_HOST_GET_FLAGS,
    &MEM_GET_HANDLE_FOR_ADDRESS_RANGE,
    &DEVICE_GET_BY_PCI_BUS_ID,
    &DEVICE_GET_PCI_BUS_ID,
    &DEVICE_REGISTER_ASYNC_NOTIFICATION,
    &DEVICE_UNREGISTER_ASYNC_NOTIFICATION,
    &IPC_GET_EVENT_HANDLE,
    &IPC_OPEN_EVENT_HANDLE,
];
