//! What the driver says of an address: one query, whatever the address is of.
#![expect(unsafe_code, reason = "asks the driver about addresses")]

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};
use core::ptr;
use std::sync::Arc;

use cuda_sys::{CUdeviceptr, CUpointer_attribute as A};

use super::raw;
use super::region::Allocation;
use crate::error::Result;

/// Is what the driver says of an address; all zeros of one that is not its.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About {
    /// The number of a `CUmemorytype`; 0 of an address that the driver doesn't know.
    pub(crate) memory_type: c_uint,
    pub(crate) ordinal: c_int,
    pub(crate) is_managed: c_uint,
    pub(crate) buffer_id: c_ulonglong,
    /// Where the CPU has the byte, if it has it.
    pub(crate) host_address: u64,
    pub(crate) start: CUdeviceptr,
    pub(crate) len: usize,
}

impl About {
    /// Returns how far behind the allocation's first byte the byte at `address` is. That first byte may
    /// be told by either of its addresses.
    pub(crate) fn offset(&self, address: CUdeviceptr) -> Option<usize> {
        let behind = |address: u64| {
            let offset = usize::try_from(address.checked_sub(self.start.0)?).ok()?;
            (offset < self.len).then_some(offset)
        };
        behind(address.0).or_else(|| behind(self.host_address))
    }

    /// Asks. The answer stays where the driver writes it: to move what was just written, and in
    /// smaller pieces than it is moved in, takes longer than what is done with it.
    #[inline]
    pub(crate) fn ask(&mut self, address: CUdeviceptr) -> Result<()> {
        let mut attributes = [
            A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED,
            A::CU_POINTER_ATTRIBUTE_BUFFER_ID,
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER,
            A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            A::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        ];
        let mut data: [*mut c_void; 7] = [
            (&raw mut self.memory_type).cast(),
            (&raw mut self.ordinal).cast(),
            (&raw mut self.is_managed).cast(),
            (&raw mut self.buffer_id).cast(),
            (&raw mut self.host_address).cast(),
            (&raw mut self.start).cast(),
            (&raw mut self.len).cast(),
        ];
        let (attributes, data) = (attributes.as_mut_ptr(), data.as_mut_ptr());
        // SAFETY: both lists have seven entries, and each value's place is as large as the manual
        // says of its attribute, or larger.
        unsafe { raw::pointer_get_attributes(7, attributes, data, address) }
    }
}

/// Makes the record of an allocation of this crate, so that others who refer to it find it.
pub(crate) fn record_of(address: CUdeviceptr, len: usize) -> Arc<Allocation> {
    Allocation::of_buffer(number_of(address), len)
}

/// Returns the driver's number for the allocation at an address; 0 of a driver that has none, where
/// others have nothing to ask by either.
pub(crate) fn number_of(address: CUdeviceptr) -> u64 {
    let mut buffer_id: c_ulonglong = 0;
    let attribute = A::CU_POINTER_ATTRIBUTE_BUFFER_ID;
    // SAFETY: the value of this attribute is such a number.
    let asked = unsafe {
        raw::pointer_get_attribute(ptr::from_mut(&mut buffer_id).cast(), attribute, address)
    };
    if asked.is_ok() { buffer_id } else { 0 }
}
