//! Device memory handed over to those who keep addresses themselves, and back.
#![expect(unsafe_code, reason = "takes memory on its maker's word")]

use std::mem;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{DeviceBuffer, Pool, Source};
use crate::context::Context;
use crate::error::Result;
use crate::memory::{Element, byte_count};
use crate::shim::Area;
use crate::stream::{AnyStream, on};

impl<T: Element> DeviceBuffer<T> {
    /// Waits until nothing uses it any more, and hands the memory over: whoever has the address
    /// frees it, by [`from_raw`](Self::from_raw) or [`from_raw_ordered`](Self::from_raw_ordered) as
    /// [`is_stream_ordered`](Self::is_stream_ordered) said, or by the driver.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; then the memory is freed as by a drop.
    pub fn into_raw(mut self) -> Result<CUdeviceptr> {
        self.allocation.wait_for_all(Area::bytes(0, self.allocation.len()))?;
        Ok(mem::replace(&mut self.address, CUdeviceptr(0)))
    }

    /// Takes plain memory of `len` elements.
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
    /// The address came from `cuMemAlloc` in `context`, has room for so many elements, is nobody
    /// else's, and nothing uses it.
    pub unsafe fn from_raw(context: &Context, address: CUdeviceptr, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("DeviceBuffer::from_raw", len)?;
        Ok(Self::new(context, address, bytes, (len, 1, bytes)))
    }

    /// Takes memory of a pool that is not shared; `stream` will free it.
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
    /// The address came from a pool, has room for so many elements, is nobody else's, and all that
    /// uses it, its allocation too, is before this in the order of the stream.
    pub unsafe fn from_raw_ordered(
        stream: &impl AnyStream,
        address: CUdeviceptr,
        len: usize,
    ) -> Result<Self> {
        let stream = on(stream);
        const CALL: &str = "DeviceBuffer::from_raw_ordered";
        let bytes = byte_count::<T>(CALL, len)?;
        let _entered = stream.context().enter(CALL)?;
        let mut buffer = Self::new(stream.context(), address, bytes, (len, 1, bytes));
        let timeline = Arc::clone(stream.timeline());
        crate::shim::first_write(&timeline, &buffer.allocation);
        buffer.source = Source::Ordered { timeline, pool: Pool::Other };
        Ok(buffer)
    }
}
