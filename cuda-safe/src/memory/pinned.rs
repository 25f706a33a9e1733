//! Page-locked memory with an owner.
#![expect(unsafe_code, reason = "owns page-locked memory and lends it as slices")]

use core::ptr::NonNull;
use core::slice;
use std::fmt;
use std::sync::Arc;

use cuda_sys::{CU_MEMHOSTALLOC_PORTABLE, CUdeviceptr};

use super::{Element, byte_count};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::Result;
use crate::shim::{Allocation, Area, Host, Kind, Memory, Region, Steady, record_of};

/// Is page-locked memory of the host, which streams of every context may use.
///
/// The CPU gets at it through slices that wait until nothing is in their way; there is no `Deref`,
/// because a wait can fail.
pub struct PinnedBuffer<T: Element> {
    data: NonNull<T>,
    len: usize,
    allocation: Arc<Allocation>,
    context: Context,
}

// SAFETY: it owns its elements as a vector does; its record may be used from every thread.
unsafe impl<T: Element + Send> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Element + Sync> Sync for PinnedBuffer<T> {}

impl<T: Element> PinnedBuffer<T> {
    /// Allocates `len` elements, all bytes zero.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn zeroed(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("PinnedBuffer::zeroed", len)?;
        let data = match bytes {
            0 => NonNull::dangling(),
            _ => {
                let allocate = || call::mem_host_alloc(context, bytes, CU_MEMHOSTALLOC_PORTABLE);
                let address = deferred::allocate(context, allocate)?.cast::<u8>();
                // SAFETY: the driver allocated so many bytes there.
                unsafe { address.write_bytes(0, bytes) };
                NonNull::new(address.cast::<T>()).unwrap_or(NonNull::dangling())
            }
        };
        let allocation = match bytes {
            0 => Arc::new(Allocation::new(0)),
            _ => record_of(CUdeviceptr(data.as_ptr().expose_provenance() as u64), bytes),
        };
        Ok(Self { data, len, allocation, context: context.clone() })
    }

    /// Allocates memory for a copy of `elements`.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<Self> {
        let mut buffer = Self::zeroed(context, elements.len())?;
        buffer.as_mut_slice()?.copy_from_slice(elements);
        Ok(buffer)
    }

    /// Returns how many elements it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the context in which it was allocated.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    fn area(&self) -> Area {
        Area::bytes(0, self.allocation.len())
    }

    /// Waits until nothing writes to it any more, and lends it for reading.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; it may be the answer to earlier work.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.allocation.wait_for_writes(self.area())?;
        // SAFETY: the elements are initialised, and a new write needs the buffer mutably.
        Ok(unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) })
    }

    /// Waits until nothing uses it any more, and lends it for writing.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; it may be the answer to earlier work.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.allocation.wait_for_all(self.area())?;
        // SAFETY: the elements are initialised, and a new use needs the buffer.
        Ok(unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) })
    }
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("data", &self.data)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

// SAFETY: the allocation lives until the drop, is of `cuMemHostAlloc` for all contexts, and has
// this one record.
unsafe impl<T: Element> Memory for PinnedBuffer<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = self.data.as_ptr().expose_provenance();
        Region::new(address, self.allocation.len(), Kind::Pinned).within(&self.allocation, 0)
    }
}

// SAFETY: slices are lent after waiting, and the drop frees the bytes only if they are not in use.
unsafe impl<T: Element> Steady for PinnedBuffer<T> {}

// SAFETY: it is memory of the host.
unsafe impl<T: Element> Host for PinnedBuffer<T> {}

impl<T: Element> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        if !self.allocation.is_empty() {
            let address = Address::Host(self.data.as_ptr().expose_provenance());
            deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
        }
    }
}
