//! Written by hand beside the driver's generated types: constructors that read better than fields,
//! and the driver's own words for a status.

use core::ffi::{CStr, c_char, c_int};
use core::ptr;

use crate::{CUmemLocation, CUmemLocationType, CUresult, cuGetErrorName, cuGetErrorString};

impl CUmemLocation {
    /// Makes the location of a device's memory.
    pub const fn device(ordinal: c_int) -> Self {
        Self::of(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, ordinal)
    }

    /// Makes the location of the host's memory.
    pub const fn host() -> Self {
        Self::of(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0)
    }

    /// Makes the location of the memory of one NUMA node of the host.
    pub const fn host_numa(node: c_int) -> Self {
        Self::of(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node)
    }

    /// Makes the location of the memory of the NUMA node that the calling thread runs on.
    pub const fn host_numa_current() -> Self {
        Self::of(CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)
    }

    const fn of(kind: CUmemLocationType, id: c_int) -> Self {
        let mut location = Self::zeroed();
        location.type_ = kind;
        location.set_id(id);
        location
    }
}

impl CUresult {
    /// Returns the loaded driver's name for the status; none if it has none or there is no driver.
    ///
    /// Codes have been renumbered between releases, so that the driver's word counts and not this
    /// crate's constants (`cuGetErrorName`).
    pub fn name(self) -> Option<&'static CStr> {
        // SAFETY: `text` writes through the pointer that it is given, and nowhere else.
        self.text(|text| unsafe { cuGetErrorName(self, text) })
    }

    /// Returns the loaded driver's sentence for the status (`cuGetErrorString`).
    pub fn description(self) -> Option<&'static CStr> {
        // SAFETY: as in `name`.
        self.text(|text| unsafe { cuGetErrorString(self, text) })
    }

    fn text(self, ask: impl FnOnce(*mut *const c_char) -> Self) -> Option<&'static CStr> {
        let mut text = ptr::null();
        let answer = ask(&mut text);
        if answer != Self::CUDA_SUCCESS || text.is_null() {
            return None;
        }
        // SAFETY: the driver's texts end in a zero byte and live as long as the driver, which is
        // never closed.
        Some(unsafe { CStr::from_ptr(text) })
    }
}
