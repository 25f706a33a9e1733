//! Plain device memory: of `cuMemAlloc` and `cuMemAllocPitch`.

use cuda_sys::CUdeviceptr;

use super::DeviceBuffer;
use crate::call;
use crate::context::Context;
use crate::deferred;
use crate::error::Result;
use crate::memory::{Element, byte_count};

impl<T: Element> DeviceBuffer<T> {
    /// Allocates `len` elements of plain memory; they hold whatever the memory held before.
    ///
    /// Driver: [`cuMemAlloc_v2`](crate::call::mem_alloc).
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

    /// Allocates `rows` rows of `width` elements of plain memory, padded as suits the device.
    ///
    /// Driver: [`cuMemAllocPitch_v2`](crate::call::mem_alloc_pitch).
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
}
