//! Page-locked memory as the driver gives it: what the typed buffers of it have in common.
#![expect(unsafe_code, reason = "owns page-locked memory")]

use core::ptr::{self, NonNull};
use std::mem;
use std::sync::Arc;

use cuda_sys::{CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE, CUdeviceptr};

use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::Result;
use crate::shim::{Allocation, Area, Kind, Region, record_of};

/// Is an allocation of `cuMemHostAlloc`, which all contexts know and every device has an address of.
pub(super) struct Locked {
    /// The address, exposed; 0 without bytes.
    address: usize,
    allocation: Arc<Allocation>,
    context: Context,
}

impl Locked {
    /// Allocates so many bytes; they hold whatever the memory held before.
    pub(super) fn allocate(context: &Context, bytes: usize, more_flags: u32) -> Result<Self> {
        let flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | more_flags;
        let address = match bytes {
            0 => 0,
            _ => {
                let allocate = || call::mem_host_alloc(context, bytes, flags);
                deferred::allocate(context, allocate)?.expose_provenance()
            }
        };
        Ok(Self::new(context, address, bytes))
    }

    /// Takes an allocation that is nobody else's.
    pub(super) fn new(context: &Context, address: usize, bytes: usize) -> Self {
        let allocation = match bytes {
            0 => Arc::new(Allocation::new(0)),
            _ => record_of(CUdeviceptr(address as u64), bytes),
        };
        Self { address, allocation, context: context.clone() }
    }

    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    pub(super) const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    pub(super) fn region(&self) -> Region<'_> {
        Region::new(self.address, self.allocation.len(), Kind::Pinned).within(&self.allocation, 0)
    }

    /// Returns the address; a dangling one without bytes.
    pub(super) fn data<T>(&self) -> NonNull<T> {
        NonNull::new(ptr::with_exposed_provenance_mut(self.address)).unwrap_or(NonNull::dangling())
    }

    /// Sets all bytes to zero; nobody has used them yet.
    pub(super) fn clear(&mut self) {
        // SAFETY: the driver allocated so many bytes there, and nothing uses them.
        unsafe { self.data::<u8>().write_bytes(0, self.allocation.len()) };
    }

    /// Waits until nothing uses it any more, and lets go of it.
    pub(super) fn into_raw<T>(mut self) -> Result<NonNull<T>> {
        self.allocation.wait_for_all(Area::bytes(0, self.allocation.len()))?;
        let data = self.data();
        mem::take(&mut self.address);
        Ok(data)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.address != 0 {
            let address = Address::Host(self.address);
            deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
        }
    }
}
