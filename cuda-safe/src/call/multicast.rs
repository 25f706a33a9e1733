//! Multicast objects: one address for the memory of several devices.
//!
//! Chapter: Multicast Object Management, whole.

use core::ffi::c_ulonglong;

use cuda_codegen::driver;
use cuda_sys::{
    CUdevice, CUdeviceptr, CUmemGenericAllocationHandle, CUmulticastGranularity_flags,
    CUmulticastObjectProp,
};

/// Makes a multicast object; whoever makes it releases it.
#[driver(cuMulticastCreate, home = none)]
pub fn multicast_create(
    #[out] mc_handle @ mcHandle: *mut CUmemGenericAllocationHandle,
    #[record] properties @ prop: *const CUmulticastObjectProp,
);

/// Adds a device to a multicast object.
#[driver(cuMulticastAddDevice, home = none)]
pub fn multicast_add_device(
    #[handle] object @ mcHandle: CUmemGenericAllocationHandle,
    #[handle] device @ dev: CUdevice,
);

/// Binds physical memory of a device to a part of a multicast object.
#[driver(cuMulticastBindMem_v2, home = none)]
pub fn multicast_bind_mem(
    #[handle] object @ mcHandle: CUmemGenericAllocationHandle,
    #[handle] device @ dev: CUdevice,
    #[value] offset @ mcOffset: usize,
    #[handle] memory @ memHandle: CUmemGenericAllocationHandle,
    #[value] mem_offset @ memOffset: usize,
    #[value] size: usize,
    #[value] flags: c_ulonglong,
);

/// Binds mapped memory of a device to a part of a multicast object.
///
/// # Safety
///
/// The range is mapped memory of the device, and stays so while it is bound.
#[driver(cuMulticastBindAddr_v2, home = none)]
pub unsafe fn multicast_bind_addr(
    #[handle] object @ mcHandle: CUmemGenericAllocationHandle,
    #[handle] device @ dev: CUdevice,
    #[value] offset @ mcOffset: usize,
    #[raw] memory @ memptr: CUdeviceptr,
    #[value] size: usize,
    #[value] flags: c_ulonglong,
);

/// Undoes a binding.
///
/// # Safety
///
/// No work uses the part of the object any more.
#[driver(cuMulticastUnbind, home = none)]
pub unsafe fn multicast_unbind(
    #[handle] object @ mcHandle: CUmemGenericAllocationHandle,
    #[handle] device @ dev: CUdevice,
    #[raw] offset @ mcOffset: usize,
    #[value] size: usize,
);

/// Asks of what multiples memory is bound.
#[driver(cuMulticastGetGranularity, home = none)]
pub fn multicast_get_granularity(
    #[out] granularity: *mut usize,
    #[record] properties @ prop: *const CUmulticastObjectProp,
    #[value] option: CUmulticastGranularity_flags,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MULTICAST_CREATE,
    &MULTICAST_ADD_DEVICE,
    &MULTICAST_BIND_MEM,
    &MULTICAST_BIND_ADDR,
    &MULTICAST_UNBIND,
    &MULTICAST_GET_GRANULARITY,
];
