//! Page-locked memory that the CPU only writes.
#![expect(unsafe_code, reason = "writes page-locked memory that it owns")]

use core::marker::PhantomData;
use core::ptr;
use std::fmt;
use std::sync::Arc;

use cuda_sys::CU_MEMHOSTALLOC_WRITECOMBINED;

use super::locked::Locked;
use super::slice::{Slice, SliceMut, locked_buffer};
use super::{Element, byte_count};
use crate::context::Context;
use crate::error::{Error, Result, Rule};
use crate::shim::{Allocation, Area, Host, Memory, Region, Steady};

/// Is page-locked memory of the host that is not cached: the CPU writes it at full speed and reads
/// it very slowly, so that this type has no way to read it.
///
/// It is for what the CPU makes and a device reads. Copies from the device may end in it too.
///
/// Driver: memory of [`cuMemHostAlloc`](crate::call::mem_host_alloc),
/// [`CU_MEMHOSTALLOC_WRITECOMBINED`](crate::sys::CU_MEMHOSTALLOC_WRITECOMBINED), chapter Memory
/// Management.
pub struct WriteCombinedBuffer<T: Element> {
    locked: Locked,
    element: PhantomData<T>,
}

impl<T: Element> WriteCombinedBuffer<T> {
    /// Allocates `len` elements; they hold whatever the memory held before.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn uninitialized(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("WriteCombinedBuffer::uninitialized", len)?;
        let locked = Locked::allocate(context, bytes, CU_MEMHOSTALLOC_WRITECOMBINED)?;
        Ok(Self { locked, element: PhantomData })
    }

    /// Allocates `len` elements, all bytes zero.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn zeroed(context: &Context, len: usize) -> Result<Self> {
        let mut buffer = Self::uninitialized(context, len)?;
        buffer.locked.clear();
        Ok(buffer)
    }

    /// Allocates memory for a copy of `elements`.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<Self> {
        let mut buffer = Self::uninitialized(context, elements.len())?;
        buffer.write(0, elements)?;
        Ok(buffer)
    }

    /// Returns how many elements it has.
    pub fn len(&self) -> usize {
        self.allocation().len().checked_div(size_of::<T>()).unwrap_or(0)
    }

    /// Tells whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the context in which it was allocated.
    pub const fn context(&self) -> &Context {
        self.locked.context()
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        self.locked.allocation()
    }

    /// Waits until nothing uses the elements from `start` on that `elements` will replace, and
    /// replaces them.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses them.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if there are not so many; else as the driver answers while it waits; it may
    /// be the answer to earlier work.
    pub fn write(&mut self, start: usize, elements: &[T]) -> Result<()> {
        let end = start.saturating_add(elements.len());
        if end > self.len() {
            let (need, have) = (end.into(), self.len().into());
            let call = "WriteCombinedBuffer::write";
            return Err(Error::refused(call, "elements", Rule::Reach, need, have));
        }
        let area = Area::bytes(start * size_of::<T>(), size_of_val(elements));
        self.allocation().wait_for_all(area)?;
        // SAFETY: it has as many elements, as was just checked.
        let to = unsafe { self.locked.data::<T>().as_ptr().add(start) };
        // SAFETY: so many elements lie there; nothing uses them, and a new use needs the buffer.
        unsafe { ptr::copy_nonoverlapping(elements.as_ptr(), to, elements.len()) };
        Ok(())
    }
}

impl<T: Element> fmt::Debug for WriteCombinedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteCombinedBuffer").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: the allocation lives until the drop, is of `cuMemHostAlloc` for all contexts, and has
// this one record.
unsafe impl<T: Element> Memory for WriteCombinedBuffer<T> {
    fn region(&self) -> Region<'_> {
        self.locked.region()
    }
}

// SAFETY: it is written after waiting, and the drop frees the bytes only if they are not in use.
unsafe impl<T: Element> Steady for WriteCombinedBuffer<T> {}

// SAFETY: it is memory of the host.
unsafe impl<T: Element> Host for WriteCombinedBuffer<T> {}

locked_buffer!(WriteCombinedBuffer<T>);
