//! Device memory that is allocated in the order of a stream.

use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{DeviceBuffer, Pool, Source};
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
    /// The allocation is the first use: other streams wait for it before theirs. It may be memory that
    /// the stream kept of a dropped buffer of as many bytes; then the driver is not asked.
    ///
    /// Driver: [`cuMemAllocAsync`](crate::call::mem_alloc_async); without pools
    /// [`cuMemAlloc_v2`](crate::call::mem_alloc).
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
    /// Driver: [`cuMemAllocAsync`](crate::call::mem_alloc_async),
    /// [`cuMemsetD8Async`](crate::call::memset_d8_async).
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
        let kept = match pool {
            _ if bytes == 0 => None,
            None => timeline.take_kept(call, bytes)?,
            Some(_) if timeline.is_capturing()? => return Err(of_a_capture(call)),
            Some(_) => None,
        };
        let shape = (len, 1, bytes);
        let mut buffer = match kept {
            Some(block) => Self::with_record(context, block.address, shape, block.allocation),
            None => Self::new(context, allocate(bytes, stream, pool)?, bytes, shape),
        };
        first_write(&timeline, &buffer.allocation);
        let pool = match pool {
            None => Pool::Current,
            Some(pool) if pool.is_shared() => Pool::Shared,
            Some(_) => Pool::Other,
        };
        buffer.source = Source::Ordered { timeline, pool };
        Ok(buffer)
    }
}

/// Asks the driver for memory, unless none is needed.
fn allocate(bytes: usize, stream: &Stream, pool: Option<&MemoryPool>) -> Result<CUdeviceptr> {
    if bytes == 0 {
        return Ok(CUdeviceptr(0));
    }
    deferred::allocate(stream.context(), || match pool {
        None => call::mem_alloc_async(bytes, stream),
        Some(pool) => call::mem_alloc_from_pool_async(bytes, pool, stream),
    })
}
