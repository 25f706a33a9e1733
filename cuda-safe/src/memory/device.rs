//! Device memory with an owner.
#![expect(unsafe_code, reason = "owns device memory and vouches for its address")]

mod ordered;
mod parts;
mod plain;
mod raw;

use core::marker::PhantomData;
use std::fmt;
use std::mem;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::{Element, divided};
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::Result;
use crate::shim::{Allocation, Block, Device, Kind, Memory, Region, Steady, Timeline, record_of};

/// Is memory of a device: a run of elements, or rows of them.
///
/// | made by | memory | freed |
/// |---|---|---|
/// | [`uninitialized`](Self::uninitialized), [`zeroed`](Self::zeroed), [`filled`](Self::filled), [`MemoryPool::allocate`](super::MemoryPool::allocate) | of a pool, in the order of a stream | in the order of that stream, behind every use: its drop waits for nothing. The stream keeps some of the current pool's for its next allocations of as many bytes, until it or the context is waited for |
/// | [`allocate`](Self::allocate), [`allocate_pitched`](Self::allocate_pitched) | plain: of `cuMemAlloc`, `cuMemAllocPitch` | once it is idle; then `cuMemFree` waits for every kernel of the context |
///
/// Handles for other processes (`cuIpcGetMemHandle`) are of plain memory only.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, DeviceBuffer, Stream};
///
/// let stream = Stream::new(&Device::get(0)?.context()?)?;
/// let buffer = DeviceBuffer::<f32>::zeroed(&stream, 1000)?;
/// assert_eq!(buffer.len(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: [`CUdeviceptr`](crate::sys::CUdeviceptr), chapters Memory Management and Stream Ordered
/// Memory Allocator.
pub struct DeviceBuffer<T: Element> {
    address: CUdeviceptr,
    /// Elements in a row.
    width: usize,
    rows: usize,
    /// Bytes between rows.
    pitch: usize,
    allocation: Arc<Allocation>,
    source: Source,
    context: Context,
    element: PhantomData<T>,
}

/// Says where the memory is from, and so how it is freed.
#[derive(Clone)]
enum Source {
    /// `cuMemAlloc` or `cuMemAllocPitch`.
    Plain,
    /// A pool, in the order of a stream.
    Ordered { timeline: Arc<Timeline>, pool: Pool },
}

/// Says which pool memory is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pool {
    /// The device's current one.
    Current,
    /// Another, or an unknown one.
    Other,
    /// One that was made to be shared.
    Shared,
}

impl<T: Element> DeviceBuffer<T> {
    fn new(
        context: &Context,
        address: CUdeviceptr,
        bytes: usize,
        shape: (usize, usize, usize),
    ) -> Self {
        let allocation = match bytes {
            0 => Arc::new(Allocation::new(0)),
            _ => record_of(address, bytes),
        };
        Self::with_record(context, address, shape, allocation)
    }

    fn with_record(
        context: &Context,
        address: CUdeviceptr,
        (width, rows, pitch): (usize, usize, usize),
        allocation: Arc<Allocation>,
    ) -> Self {
        let (source, context) = (Source::Plain, context.clone());
        Self { address, width, rows, pitch, allocation, source, context, element: PhantomData }
    }

    /// Takes the same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// [`Rule::Quotient`](crate::Rule::Quotient) if a row is not a whole number of them; the memory
    /// is freed then.
    pub fn cast<U: Element>(mut self) -> Result<DeviceBuffer<U>> {
        let row = self.width * size_of::<T>();
        let width = divided::<U>("DeviceBuffer::cast", row)?;
        let address = mem::replace(&mut self.address, CUdeviceptr(0));
        Ok(DeviceBuffer {
            address,
            width,
            rows: self.rows,
            pitch: self.pitch,
            allocation: Arc::clone(&self.allocation),
            source: self.source.clone(),
            context: self.context.clone(),
            element: PhantomData,
        })
    }

    /// Tells whether it was allocated, and will be freed, in the order of a stream.
    pub const fn is_stream_ordered(&self) -> bool {
        matches!(self.source, Source::Ordered { .. })
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

// SAFETY: the allocation lives until the drop, is of the kind of its source, and has this one
// record; its bytes are as many as were asked for.
unsafe impl<T: Element> Memory for DeviceBuffer<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.address.0).unwrap_or(0);
        let kind = match self.source {
            Source::Plain => Kind::Alloc,
            Source::Ordered { pool: Pool::Shared, .. } => Kind::SharedPool,
            Source::Ordered { .. } => Kind::Pool,
        };
        Region::new(address, self.allocation.len(), kind)
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
        if self.address.0 == 0 {
            return;
        }
        let (address, allocation) = (self.address, Arc::clone(&self.allocation));
        let address = match &self.source {
            Source::Ordered { timeline, pool: Pool::Current } => {
                return deferred::keep(&self.context, timeline, Block { address, allocation });
            }
            Source::Ordered { timeline, .. } => Address::Ordered(address, Arc::clone(timeline)),
            Source::Plain => Address::Device(address),
        };
        deferred::give_up(&self.context, address, allocation);
    }
}
