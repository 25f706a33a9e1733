//! Device management.
//!
//! Chapter: Device Management, whole.

use core::ffi::{c_char, c_int};

use cuda_codegen::driver;
use cuda_sys::{CUdevice, CUdevice_attribute, CUuuid};

pub(in crate::call) mod resource;

pub use resource::*;

/// Finds a device by its number.
#[driver(cuDeviceGet, home = none)]
pub fn device_get(#[out] device: *mut CUdevice, #[value] ordinal: c_int);

/// Counts the devices.
#[driver(cuDeviceGetCount, home = none)]
pub fn device_get_count(#[out] count: *mut c_int);

/// Asks for a device's name.
#[driver(cuDeviceGetName, home = none)]
pub fn device_get_name(
    #[text(256)] name: *mut c_char,
    #[from(name.len)] len: c_int,
    #[handle] device @ dev: CUdevice,
);

/// Asks for a device's UUID, or for that of the part of it that this process may use.
#[driver(cuDeviceGetUuid_v2, home = none)]
pub fn device_get_uuid(#[out] uuid: *mut CUuuid, #[handle] device @ dev: CUdevice);

/// Asks how much memory a device has, in bytes.
#[driver(cuDeviceTotalMem_v2, home = none)]
pub fn device_total_mem(#[out] bytes: *mut usize, #[handle] device @ dev: CUdevice);

/// Asks for an attribute of a device.
#[driver(cuDeviceGetAttribute, home = none)]
pub fn device_get_attribute(
    #[out] value @ pi: *mut c_int,
    #[value] attribute @ attrib: CUdevice_attribute,
    #[handle] device @ dev: CUdevice,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &DEVICE_GET,
    &DEVICE_GET_COUNT,
    &DEVICE_GET_NAME,
    &DEVICE_GET_UUID,
    &DEVICE_TOTAL_MEM,
    &DEVICE_GET_ATTRIBUTE,
];
