//! The devices of the machine. What is asked of one makes no context, but for
//! [`Device::context`].

mod attributes;

use std::ffi::CString;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_sys::{CUdevice, CUdevice_attribute};

use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::shim::Handle;

/// Is a device, by its number.
///
/// Driver: [`CUdevice`](crate::sys::CUdevice), chapter Device Management.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device(CUdevice);

/// Initialises the driver, once.
///
/// Driver: [`cuInit`](crate::call::init).
///
/// # Errors
///
/// As the driver answers, or if there is none.
pub fn initialize() -> Result<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.load(Ordering::Acquire) {
        call::init()?;
        DONE.store(true, Ordering::Release);
    }
    Ok(())
}

impl Device {
    /// Returns how many devices there are.
    ///
    /// Driver: [`cuDeviceGetCount`](crate::call::device_get_count).
    ///
    /// # Errors
    ///
    /// As the driver answers, or if there is none.
    pub fn count() -> Result<usize> {
        initialize()?;
        call::device_get_count().map(|count| usize::try_from(count).unwrap_or(0))
    }

    /// Returns the device of a number, from 0 on.
    ///
    /// Driver: [`cuDeviceGet`](crate::call::device_get).
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_DEVICE` if there is no such device.
    pub fn get(ordinal: i32) -> Result<Self> {
        initialize()?;
        call::device_get(ordinal).map(Self)
    }

    /// Returns all devices.
    ///
    /// Driver: [`cuDeviceGetCount`](crate::call::device_get_count),
    /// [`cuDeviceGet`](crate::call::device_get).
    ///
    /// # Errors
    ///
    /// As the driver answers, or if there is none.
    pub fn all() -> Result<Vec<Self>> {
        (0_i32..).take(Self::count()?).map(Self::get).collect()
    }

    /// Returns its number.
    pub const fn ordinal(self) -> i32 {
        self.0.0
    }

    pub(crate) const fn raw(self) -> CUdevice {
        self.0
    }

    /// Returns its name.
    ///
    /// Driver: [`cuDeviceGetName`](crate::call::device_get_name).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn name(self) -> Result<String> {
        call::device_get_name(&self)
    }

    /// Returns the 16 bytes by which other processes know it.
    ///
    /// Driver: [`cuDeviceGetUuid_v2`](crate::call::device_get_uuid).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn uuid(self) -> Result<[u8; 16]> {
        call::device_get_uuid(&self).map(|uuid| uuid.bytes.map(|byte| byte.to_ne_bytes()[0]))
    }

    /// Returns how many bytes of memory it has.
    ///
    /// Driver: [`cuDeviceTotalMem_v2`](crate::call::device_total_mem).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn total_memory(self) -> Result<usize> {
        call::device_total_mem(&self)
    }

    /// Returns where it is on the bus: domain, bus, device and function, in hexadecimal digits.
    ///
    /// Driver: [`cuDeviceGetPCIBusId`](crate::call::device_get_pci_bus_id).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn bus_address(self) -> Result<String> {
        call::device_get_pci_bus_id(&self)
    }

    /// Finds the device at an address on the bus.
    ///
    /// Driver: [`cuDeviceGetByPCIBusId`](crate::call::device_get_by_pci_bus_id).
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_VALUE` if the address is none, or
    /// `CUDA_ERROR_INVALID_DEVICE` if there is no device that the process may use.
    pub fn at_bus_address(address: &str) -> Result<Self> {
        initialize()?;
        // Where a zero byte ends the text for the driver, it ends it here.
        let text: Vec<u8> = address.bytes().take_while(|byte| *byte != 0).collect();
        call::device_get_by_pci_bus_id(&CString::new(text).unwrap_or_default()).map(Self)
    }

    /// Tells whether its kernels and copies can reach the memory of another device.
    ///
    /// Driver: [`cuDeviceCanAccessPeer`](crate::call::device_can_access_peer).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn can_reach(self, other: Self) -> Result<bool> {
        call::device_can_access_peer(&self, &other).map(|answer| answer != 0)
    }

    /// Returns an attribute by the driver's own name, as the driver answers it.
    ///
    /// Driver: [`cuDeviceGetAttribute`](crate::call::device_get_attribute).
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_VALUE` from drivers that do not know it.
    pub fn attribute(self, attribute: CUdevice_attribute) -> Result<i32> {
        call::device_get_attribute(attribute, &self)
    }

    /// Retains its primary context.
    ///
    /// Driver: [`cuDevicePrimaryCtxRetain`](crate::call::device_primary_ctx_retain).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn context(self) -> Result<Context> {
        Context::primary(self)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.0.0)
    }
}

#[expect(unsafe_code, reason = "vouches for a device's handle")]
// SAFETY: the handle came from the driver; devices do not go away.
unsafe impl Handle for Device {
    type Raw = CUdevice;

    fn raw(&self) -> CUdevice {
        self.0
    }

    fn home(&self) -> Option<&Context> {
        None
    }
}
