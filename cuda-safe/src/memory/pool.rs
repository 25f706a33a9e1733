//! Memory pools: where memory that is allocated in the order of streams comes from.
#![expect(unsafe_code, reason = "owns a pool's handle")]

use std::fmt;
use std::sync::Arc;

use cuda_sys::{
    CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemPoolProps, CUmemoryPool,
    Version,
};

use super::{DeviceBuffer, Element};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::attribute::{
    PoolAttribute, ReleaseThreshold, ReservedHigh, ReservedNow, ReuseAllowInternalDependencies,
    ReuseAllowOpportunistic, ReuseFollowEventDependencies, UsedHigh, UsedNow,
};
use crate::shim::{Allocation, Handle};
use crate::stream::{AnyStream, on};

/// Is a pool of a device's memory.
///
/// Dropping one that was made here destroys it, and waits for nothing: its memory goes with the last
/// buffer. A device's own pools stay.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, MemoryPool, PoolProperties, Stream};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let pool = MemoryPool::new(&context, &PoolProperties::new())?;
/// pool.set_release_threshold(64 << 20)?;
/// let buffer = pool.allocate::<u8>(&stream, 1000)?;
/// assert!(pool.used()? >= 1000);
/// drop(buffer);
/// stream.synchronize()?;
/// assert_eq!(pool.used()?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: [`CUmemoryPool`](crate::sys::CUmemoryPool), chapter Stream Ordered Memory Allocator.
pub struct MemoryPool {
    raw: CUmemoryPool,
    /// Tells whether the drop destroys it.
    own: bool,
    shared: bool,
    context: Context,
}

// SAFETY: a pool may be used from every thread.
unsafe impl Send for MemoryPool {}
// SAFETY: as above; the driver locks it.
unsafe impl Sync for MemoryPool {}

/// Is what a pool is made with.
///
/// Driver: [`CUmemPoolProps`](crate::sys::CUmemPoolProps), chapter Stream Ordered Memory Allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolProperties {
    max_size: usize,
    handle_types: CUmemAllocationHandleType,
}

impl PoolProperties {
    /// Is a pool of any size, for this process alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits how many bytes the pool holds; the driver rounds them up. 0 is no limit. Needs a
    /// driver of CUDA 12.2.
    #[must_use]
    pub const fn max_size(self, max_size: usize) -> Self {
        Self { max_size, ..self }
    }

    /// Lets handles of such types be made of the pool, for other processes.
    #[must_use]
    pub const fn handle_types(self, handle_types: CUmemAllocationHandleType) -> Self {
        Self { handle_types, ..self }
    }

    fn record(self, context: &Context) -> Result<CUmemPoolProps> {
        let mut record = CUmemPoolProps::zeroed();
        record.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        record.handleTypes = self.handle_types;
        record.location = CUmemLocation::device(context.device().ordinal());
        if self.max_size != 0 {
            // An older driver would take it for something that must be zero.
            let have = call::driver_get_version()?;
            let since = Version::new(12, 2).number();
            if u32::try_from(have).unwrap_or(0) < since {
                let number = |number: u32| Quantity::Number(number.into());
                let have = number(have.unsigned_abs());
                let call = "MemoryPool::new";
                return Err(Error::refused(call, "max_size", Rule::Driver, number(since), have));
            }
            record.maxSize = self.max_size;
        }
        Ok(record)
    }
}

impl MemoryPool {
    /// Makes a pool of the context's device.
    ///
    /// Driver: [`cuMemPoolCreate`](crate::call::mem_pool_create).
    ///
    /// # Errors
    ///
    /// As the driver answers; [`Rule::Driver`] for a limit that the driver is too old for.
    pub fn new(context: &Context, properties: &PoolProperties) -> Result<Self> {
        let record = properties.record(context)?;
        let raw = deferred::allocate(context, || call::mem_pool_create(&record))?;
        let shared = properties.handle_types != CUmemAllocationHandleType::default();
        Ok(Self { raw, own: true, shared, context: context.clone() })
    }

    /// Returns the pool that the context's device came with.
    ///
    /// Driver: [`cuDeviceGetDefaultMemPool`](crate::call::device_get_default_mem_pool).
    ///
    /// # Errors
    ///
    /// As the driver answers: that it is unsupported if the device has no pools.
    pub fn default_of(context: &Context) -> Result<Self> {
        let raw = call::device_get_default_mem_pool(&context.device())?;
        Ok(Self { raw, own: false, shared: false, context: context.clone() })
    }

    /// Allocates `len` elements from the pool, in the order of `stream`; they hold whatever the
    /// memory held before.
    ///
    /// Driver: [`cuMemAllocFromPoolAsync`](crate::call::mem_alloc_from_pool_async).
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; else as the driver answers.
    pub fn allocate<T: Element>(
        &self,
        stream: &impl AnyStream,
        len: usize,
    ) -> Result<DeviceBuffer<T>> {
        let stream = on(stream);
        DeviceBuffer::ordered("MemoryPool::allocate", stream, len, Some(self))
    }

    /// Gives memory that nobody uses back to the system, as long as more than so many bytes are
    /// left.
    ///
    /// Driver: [`cuMemPoolTrimTo`](crate::call::mem_pool_trim_to).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn trim_to(&self, bytes_to_keep: usize) -> Result<()> {
        let _relaxed = crate::shim::Relaxed::enter();
        call::mem_pool_trim_to(self, bytes_to_keep)
    }

    /// Returns an attribute.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn attribute<A: PoolAttribute>(&self) -> Result<A::Value> {
        call::mem_pool_get_attribute::<A>(self)
    }

    /// Sets an attribute.
    ///
    /// Driver: [`cuMemPoolSetAttribute`](crate::call::mem_pool_set_attribute).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn set_attribute<A: PoolAttribute>(&self, value: A::Value) -> Result<()> {
        call::mem_pool_set_attribute::<A>(self, value)
    }

    /// Returns how many bytes are allocated from it.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute),
    /// [`CU_MEMPOOL_ATTR_USED_MEM_CURRENT`](UsedNow).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn used(&self) -> Result<u64> {
        self.attribute::<UsedNow>()
    }

    /// Returns how many bytes were allocated from it at most.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute),
    /// [`CU_MEMPOOL_ATTR_USED_MEM_HIGH`](UsedHigh).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn used_high(&self) -> Result<u64> {
        self.attribute::<UsedHigh>()
    }

    /// Returns how many bytes it holds.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute),
    /// [`CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT`](ReservedNow).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn reserved(&self) -> Result<u64> {
        self.attribute::<ReservedNow>()
    }

    /// Returns how many bytes it held at most.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute),
    /// [`CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH`](ReservedHigh).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn reserved_high(&self) -> Result<u64> {
        self.attribute::<ReservedHigh>()
    }

    /// Forgets how many bytes were held and allocated at most.
    ///
    /// Driver: [`cuMemPoolSetAttribute`](crate::call::mem_pool_set_attribute),
    /// [`CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH`](ReservedHigh) and
    /// [`CU_MEMPOOL_ATTR_USED_MEM_HIGH`](UsedHigh).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn reset_high(&self) -> Result<()> {
        self.set_attribute::<ReservedHigh>(0)?;
        self.set_attribute::<UsedHigh>(0)
    }

    /// Returns how many bytes it keeps when everything is idle.
    ///
    /// Driver: [`cuMemPoolGetAttribute`](crate::call::mem_pool_get_attribute),
    /// [`CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`](ReleaseThreshold).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn release_threshold(&self) -> Result<u64> {
        self.attribute::<ReleaseThreshold>()
    }

    /// Says how many bytes it keeps when everything is idle.
    ///
    /// Driver: [`cuMemPoolSetAttribute`](crate::call::mem_pool_set_attribute),
    /// [`CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`](ReleaseThreshold).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        self.set_attribute::<ReleaseThreshold>(bytes)
    }

    /// Says whether freed memory is used again on a stream that waits for the free by an event, on
    /// one that finds the free done, and on one that the driver then makes wait.
    ///
    /// Driver: [`cuMemPoolSetAttribute`](crate::call::mem_pool_set_attribute), the three
    /// `CU_MEMPOOL_ATTR_REUSE_…`.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn set_reuse(&self, events: bool, opportunistic: bool, waiting: bool) -> Result<()> {
        self.set_attribute::<ReuseFollowEventDependencies>(events.into())?;
        self.set_attribute::<ReuseAllowOpportunistic>(opportunistic.into())?;
        self.set_attribute::<ReuseAllowInternalDependencies>(waiting.into())
    }

    /// Tells whether handles of it can be made for other processes.
    pub const fn is_shared(&self) -> bool {
        self.shared
    }

    /// Returns the context.
    pub const fn context(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for MemoryPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPool")
            .field("raw", &self.raw)
            .field("own", &self.own)
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}

// SAFETY: the pool lives as long as the value, or as the device if it is the device's own.
unsafe impl Handle for MemoryPool {
    type Raw = CUmemoryPool;

    fn raw(&self) -> CUmemoryPool {
        self.raw
    }

    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        if self.own {
            let address = Address::Pool(self.raw.expose_provenance());
            deferred::give_up(&self.context, address, Arc::new(Allocation::new(0)));
        }
    }
}
