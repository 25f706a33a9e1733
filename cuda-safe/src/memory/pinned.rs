//! Page-locked memory with an owner.
#![expect(unsafe_code, reason = "vouches for page-locked memory that it owns")]

use core::marker::PhantomData;
use core::ptr::NonNull;
use std::fmt;
use std::sync::Arc;

use super::locked::Locked;
use super::slice::{OnHost, Slice, SliceMut, buffer, host_buffer, locked_buffer};
use super::{Element, byte_count, divided};
use crate::context::Context;
use crate::error::Result;
use crate::shim::{Allocation, Host, Memory, Region, Steady};

/// Is page-locked memory of the host, cached by the CPU; streams of every context may use it, and
/// devices reach it by an address of theirs.
///
/// The CPU gets at it through slices that wait until nothing is in their way; there is no `Deref`,
/// because a wait can fail.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, DeviceBuffer, PinnedBuffer, Stream, call};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let mut numbers = PinnedBuffer::from_slice(&context, &[1_u32, 2, 3, 4])?;
/// let mut buffer = DeviceBuffer::<u32>::uninitialized(&stream, 4)?;
/// call::memcpy_htod_async(&mut buffer, &numbers, &stream)?;
/// numbers.as_mut_slice()?.fill(0); // Waits for the copy.
/// call::memcpy_dtoh_async(&mut numbers, &buffer, &stream)?;
/// assert_eq!(numbers.as_slice()?, [1, 2, 3, 4]); // Waits for the other one.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: memory of [`cuMemHostAlloc`](crate::call::mem_host_alloc), chapter Memory Management.
pub struct PinnedBuffer<T: Element> {
    locked: Locked,
    element: PhantomData<T>,
}

impl<T: Element> PinnedBuffer<T> {
    /// Allocates `len` elements; they hold whatever the memory held before.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn uninitialized(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("PinnedBuffer::uninitialized", len)?;
        let locked = Locked::allocate(context, bytes, 0)?;
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

    /// Allocates `len` elements that are `value`.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn filled(context: &Context, len: usize, value: T) -> Result<Self> {
        let mut buffer = Self::uninitialized(context, len)?;
        buffer.as_mut_slice()?.fill(value);
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
        buffer.as_mut_slice()?.copy_from_slice(elements);
        Ok(buffer)
    }

    /// Returns how many elements it has.
    pub fn len(&self) -> usize {
        self.as_part().len()
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

    /// Takes the same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// [`Rule::Quotient`](crate::Rule::Quotient) if it is not a whole number of them; the memory is
    /// freed then.
    pub fn cast<U: Element>(self) -> Result<PinnedBuffer<U>> {
        divided::<U>("PinnedBuffer::cast", self.allocation().len())?;
        Ok(PinnedBuffer { locked: self.locked, element: PhantomData })
    }

    /// Waits until nothing uses it any more, and hands the memory over: whoever has the address
    /// frees it, by [`from_raw`](Self::from_raw) or by `cuMemFreeHost`.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; then the memory is freed as by a drop.
    pub fn into_raw(self) -> Result<NonNull<T>> {
        self.locked.into_raw()
    }

    /// Takes memory of `len` elements.
    ///
    /// Driver: [`cuPointerGetAttribute`](crate::call::pointer_get_attribute), which numbers the
    /// allocation.
    ///
    /// # Errors
    ///
    /// Refuses a size that can't be counted.
    ///
    /// # Safety
    ///
    /// The address came from `cuMemHostAlloc` in `context`, portable, has room for so many
    /// elements, is nobody else's, and nothing uses it. Without elements it may be any.
    pub unsafe fn from_raw(context: &Context, data: NonNull<T>, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("PinnedBuffer::from_raw", len)?;
        let address = if bytes == 0 { 0 } else { data.as_ptr().expose_provenance() };
        Ok(Self { locked: Locked::new(context, address, bytes), element: PhantomData })
    }
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("data", &self.locked.data::<T>())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

// SAFETY: the allocation lives until the drop, is of `cuMemHostAlloc` for all contexts, and has
// this one record.
unsafe impl<T: Element> Memory for PinnedBuffer<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        self.locked.region()
    }
}

// SAFETY: slices are lent after waiting, and the drop frees the bytes only if they are not in use.
unsafe impl<T: Element> Steady for PinnedBuffer<T> {}

// SAFETY: it is memory of the host.
unsafe impl<T: Element> Host for PinnedBuffer<T> {}

buffer!(PinnedBuffer<T>, OnHost);
host_buffer!(PinnedBuffer<T>);
locked_buffer!(PinnedBuffer<T>);
