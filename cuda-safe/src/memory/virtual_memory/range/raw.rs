//! A range whose owner is gone, by its handles.
#![expect(unsafe_code, reason = "frees what nobody uses any more, by raw handles")]

use cuda_sys::{CUdeviceptr, CUmemGenericAllocationHandle};

use crate::error::Result;
use crate::shim::raw;

/// Is a reservation, and what is mapped there. It keeps no context: the queue of one holds it.
pub(crate) struct Reservation {
    base: CUdeviceptr,
    len: usize,
    /// How many bytes from the base on are mapped.
    mapped: usize,
    handles: Vec<CUmemGenericAllocationHandle>,
}

impl Reservation {
    pub(super) const fn new(
        base: CUdeviceptr,
        len: usize,
        mapped: usize,
        handles: Vec<CUmemGenericAllocationHandle>,
    ) -> Self {
        Self { base, len, mapped, handles }
    }

    /// Unmaps what is mapped, releases it, and frees the addresses, as far as the driver lets it;
    /// answers the first error.
    ///
    /// # Safety
    ///
    /// It is as it says, and nothing uses it any more; it is freed once.
    pub(crate) unsafe fn free(&mut self) -> Result<()> {
        let mut result = Ok(());
        if self.mapped > 0 {
            // SAFETY: the caller's promise.
            result = unsafe { raw::mem_unmap(self.base, self.mapped) };
        }
        for handle in self.handles.drain(..) {
            // SAFETY: the caller's promise; what could not be unmapped stays allocated all the same.
            result = result.and(unsafe { raw::mem_release(handle) });
        }
        // SAFETY: the caller's promise; the driver refuses addresses where something is mapped.
        result.and(unsafe { raw::mem_address_free(self.base, self.len) })
    }
}
