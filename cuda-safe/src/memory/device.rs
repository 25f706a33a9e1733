//! Device memory with an owner.
#![expect(unsafe_code, reason = "owns device memory and vouches for its address")]

use core::marker::PhantomData;
use std::fmt;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{Element, byte_count};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::Result;
use crate::shim::{Allocation, Device, Kind, Memory, Region, Steady, record_of};

/// Is an allocation of `cuMemAlloc` or `cuMemAllocPitch`: a run of elements, or rows of them.
pub struct DeviceBuffer<T: Element> {
    address: CUdeviceptr,
    /// Elements in a row.
    width: usize,
    rows: usize,
    /// Bytes between rows.
    pitch: usize,
    allocation: Arc<Allocation>,
    context: Context,
    element: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// Allocates `len` elements; they hold whatever the memory held before.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn allocate(context: &Context, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("DeviceBuffer::allocate", len)?;
        let address = match bytes {
            0 => CUdeviceptr(0),
            _ => deferred::allocate(context, || call::mem_alloc(context, bytes))?,
        };
        Ok(Self::new(context, address, bytes, (len, 1, bytes)))
    }

    /// Allocates `rows` rows of `width` elements, padded as suits the device.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn allocate_pitched(context: &Context, width: usize, rows: usize) -> Result<Self> {
        const CALL: &str = "DeviceBuffer::allocate_pitched";
        let bytes = byte_count::<T>(CALL, width)?;
        if bytes == 0 || rows == 0 {
            return Ok(Self::new(context, CUdeviceptr(0), 0, (width, rows, bytes)));
        }
        // The driver knows words of 4, 8 and 16 bytes; what is smaller is part of one.
        let word: u32 = [16, 8, 4]
            .into_iter()
            .find(|word| size_of::<T>().is_multiple_of(*word as usize))
            .unwrap_or(4);
        let (address, pitch) =
            deferred::allocate(context, || call::mem_alloc_pitch(context, bytes, rows, word))?;
        let total = byte_count::<u8>(CALL, pitch.saturating_mul(rows))?;
        Ok(Self::new(context, address, total, (width, rows, pitch)))
    }

    fn new(
        context: &Context,
        address: CUdeviceptr,
        bytes: usize,
        (width, rows, pitch): (usize, usize, usize),
    ) -> Self {
        let allocation = match bytes {
            0 => Arc::new(Allocation::new(0)),
            _ => record_of(address, bytes),
        };
        let context = context.clone();
        Self { address, width, rows, pitch, allocation, context, element: PhantomData }
    }

    /// Returns how many elements it has, padding not counted.
    pub const fn len(&self) -> usize {
        self.width * self.rows
    }

    /// Tells whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many elements a row has; all of them if there are no rows.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns how many rows there are, 1 if it is one run.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns how many bytes lie between rows.
    pub const fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// Returns the address.
    ///
    /// # Safety
    ///
    /// Calls of this crate order and record what they do with the memory; what is done with the
    /// address otherwise, the caller orders, and keeps the buffer until it is done.
    pub const unsafe fn as_device_ptr(&self) -> CUdeviceptr {
        self.address
    }
}

impl<T: Element> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("address", &self.address)
            .field("width", &self.width)
            .field("rows", &self.rows)
            .field("pitch", &self.pitch)
            .finish_non_exhaustive()
    }
}

// SAFETY: the allocation lives until the drop, is of `cuMemAlloc`, and has this one record; its
// bytes are as many as were asked for.
unsafe impl<T: Element> Memory for DeviceBuffer<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.address.0).unwrap_or(0);
        Region::new(address, self.allocation.len(), Kind::Alloc)
            .with_rows(self.pitch, self.width * size_of::<T>(), self.rows)
            .with_home(&self.context)
            .within(&self.allocation, 0)
    }
}

// SAFETY: nothing but calls reaches the bytes, and the drop frees them only if they are not in use.
unsafe impl<T: Element> Steady for DeviceBuffer<T> {}

// SAFETY: the driver allocated it on the device.
unsafe impl<T: Element> Device for DeviceBuffer<T> {}

impl<T: Element> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.address.0 != 0 {
            let address = Address::Device(self.address);
            deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
        }
    }
}
