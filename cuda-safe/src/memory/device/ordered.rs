//! Device memory that is allocated in the order of a stream.

use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{DeviceBuffer, Source};
use crate::call;
use crate::deferred;
use crate::error::Result;
use crate::memory::{Element, MemoryPool, byte_count};
use crate::shim::{first_write, of_a_capture};
use crate::stream::{AnyStream, Stream, on};

impl<T: Element> DeviceBuffer<T> {
    /// Allocates `len` elements from the device's current pool, in the order of `stream`; they hold
    /// whatever the memory held before. Where the device has no pools, the memory is plain.
    ///
    /// The allocation is the first use: other streams wait for it before theirs.
    ///
    /// # Errors
    ///
    /// [`Rule::Captured`](crate::Rule::Captured) if the stream captures: what is allocated in a
    /// capture is the graph's. Else as the driver answers.
    pub fn uninitialized(stream: &impl AnyStream, len: usize) -> Result<Self> {
        let stream = on(stream);
        match Self::ordered("DeviceBuffer::uninitialized", stream, len, None) {
            Err(error) if error.is_unsupported() => Self::allocate(stream.context(), len),
            answer => answer,
        }
    }

    /// Allocates as [`uninitialized`](Self::uninitialized) does, and has the stream set all bytes to
    /// zero.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn zeroed(stream: &impl AnyStream, len: usize) -> Result<Self> {
        let stream = on(stream);
        let mut buffer = Self::uninitialized(stream, len)?;
        if !buffer.is_empty() && size_of::<T>() > 0 {
            call::memset_d8_async(&mut buffer, 0, stream)?;
        }
        Ok(buffer)
    }

    /// Allocates from a pool; `call` is who asks.
    pub(in crate::memory) fn ordered(
        call: &'static str,
        stream: &Stream,
        len: usize,
        pool: Option<&MemoryPool>,
    ) -> Result<Self> {
        let context = stream.context();
        let bytes = byte_count::<T>(call, len)?;
        let timeline = Arc::clone(stream.timeline());
        let is_needed = bytes > 0 || timeline.is_eager();
        let _entered = if is_needed { Some(context.enter(call)?) } else { None };
        // What is allocated in a capture is memory once a graph runs, and of nobody but the graph.
        if bytes > 0 && timeline.is_capturing()? {
            return Err(of_a_capture(call));
        }
        let address = match (bytes, pool) {
            (0, _) => CUdeviceptr(0),
            (_, None) => deferred::allocate(context, || call::mem_alloc_async(bytes, stream))?,
            (_, Some(pool)) => deferred::allocate(context, || {
                call::mem_alloc_from_pool_async(bytes, pool, stream)
            })?,
        };
        let mut buffer = Self::new(context, address, bytes, (len, 1, bytes));
        first_write(&timeline, &buffer.allocation);
        let shared = pool.is_some_and(MemoryPool::is_shared);
        buffer.source = Source::Ordered { timeline, shared };
        Ok(buffer)
    }
}
