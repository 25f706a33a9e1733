//! Managed memory: one address for host and devices, moved to where it is used.
#![expect(unsafe_code, reason = "owns managed memory and vouches for its address")]

use core::marker::PhantomData;
use std::fmt;
use std::mem;
use std::sync::Arc;

use cuda_sys::{
    CUdevice, CUdevice_attribute, CUdeviceptr, CUmem_advise, CUmemAttach_flags, CUmemLocation,
};

use super::fill::fill;
use super::slice::{OnBoth, Slice, SliceMut, buffer, host_buffer};
use super::{Element, byte_count, divided};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::device;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{Allocation, Area, Device, Host, Kind, Memory, Region, Steady, record_of};
use crate::stream::{AnyStream, Stream, on};

/// Is memory that the CPU and devices reach by one address, of devices that let both touch it at the
/// same time.
///
/// The CPU gets at it as at a [`PinnedBuffer`](super::PinnedBuffer), streams as at a
/// [`DeviceBuffer`](super::DeviceBuffer). Its drop waits as that of a plain buffer.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, Location, ManagedBuffer, Stream};
///
/// let device = Device::get(0)?;
/// let context = device.context()?;
/// let stream = Stream::new(&context)?;
/// let mut numbers = ManagedBuffer::from_slice(&context, &[1_u32, 2, 3])?;
/// numbers.prefetch(Location::Device(device), &stream)?;
/// numbers.slice_mut(1..)?.fill(9, &stream)?;
/// numbers.prefetch(Location::Host, &stream)?;
/// assert_eq!(numbers.as_slice()?, [1, 9, 9]); // Waits for the fill.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: memory of [`cuMemAllocManaged`](crate::call::mem_alloc_managed), chapters Memory
/// Management and Unified Addressing.
pub struct ManagedBuffer<T: Element> {
    address: CUdeviceptr,
    allocation: Arc<Allocation>,
    context: Context,
    element: PhantomData<T>,
}

/// Is where managed memory can be.
///
/// Driver: [`CUmemLocation`](crate::sys::CUmemLocation), chapter Unified Addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// In the host's memory.
    Host,
    /// In a device's memory.
    Device(device::Device),
}

impl Location {
    fn record(self) -> CUmemLocation {
        match self {
            Self::Host => CUmemLocation::host(),
            Self::Device(device) => CUmemLocation::device(device.ordinal()),
        }
    }

    /// Returns what stands for it in the calls of drivers before CUDA 12.2: a device, or the number
    /// for the host.
    const fn device(self) -> CUdevice {
        match self {
            Self::Host => cuda_sys::CU_DEVICE_CPU,
            Self::Device(device) => device.raw(),
        }
    }
}

/// Says how managed memory will be used.
///
/// Driver: [`CUmem_advise`](crate::sys::CUmem_advise), chapter Unified Addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// It is mostly read: each place may have a copy.
    ReadMostly(bool),
    /// It should be there; none forgets such advice.
    Preferred(Option<Location>),
    /// It is used from there, or not any more: it should be mapped there.
    AccessedBy(Location, bool),
}

impl Advice {
    const fn parts(self) -> (CUmem_advise, Location) {
        use CUmem_advise as A;
        match self {
            Self::ReadMostly(true) => (A::CU_MEM_ADVISE_SET_READ_MOSTLY, Location::Host),
            Self::ReadMostly(false) => (A::CU_MEM_ADVISE_UNSET_READ_MOSTLY, Location::Host),
            Self::Preferred(Some(place)) => (A::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place),
            Self::Preferred(None) => (A::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, Location::Host),
            Self::AccessedBy(place, true) => (A::CU_MEM_ADVISE_SET_ACCESSED_BY, place),
            Self::AccessedBy(place, false) => (A::CU_MEM_ADVISE_UNSET_ACCESSED_BY, place),
        }
    }
}

impl<T: Element> ManagedBuffer<T> {
    /// Allocates `len` elements; they hold whatever the memory holds.
    ///
    /// Driver: [`cuMemAllocManaged`](crate::call::mem_alloc_managed).
    ///
    /// # Errors
    ///
    /// [`Rule::Able`] if the device does not let the CPU touch managed memory beside it; else as the
    /// driver answers.
    pub fn uninitialized(context: &Context, len: usize) -> Result<Self> {
        const CALL: &str = "ManagedBuffer::uninitialized";
        let concurrent = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
        if context.device().attribute(concurrent)? == 0 {
            let (need, have) =
                (Quantity::Word("concurrent managed access"), Quantity::Word("none"));
            return Err(Error::refused(CALL, "context", Rule::Able, need, have));
        }
        let bytes = byte_count::<T>(CALL, len)?;
        let flags = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
        let address = match bytes {
            0 => CUdeviceptr(0),
            _ => deferred::allocate(context, || call::mem_alloc_managed(context, bytes, flags))?,
        };
        Ok(Self::new(context, address, bytes))
    }

    fn new(context: &Context, address: CUdeviceptr, bytes: usize) -> Self {
        let allocation = match bytes {
            0 => Arc::new(Allocation::new(0)),
            _ => record_of(address, bytes),
        };
        Self { address, allocation, context: context.clone(), element: PhantomData }
    }

    /// Allocates `len` elements, and has the stream set all bytes to zero.
    ///
    /// Driver: [`cuMemAllocManaged`](crate::call::mem_alloc_managed),
    /// [`cuMemsetD8Async`](crate::call::memset_d8_async).
    ///
    /// # Errors
    ///
    /// As [`uninitialized`](Self::uninitialized).
    pub fn zeroed(stream: &impl AnyStream, len: usize) -> Result<Self> {
        let stream = on(stream);
        let mut buffer = Self::uninitialized(stream.context(), len)?;
        if !buffer.is_empty() && size_of::<T>() > 0 {
            call::memset_d8_async(&mut buffer, 0, stream)?;
        }
        Ok(buffer)
    }

    /// Allocates `len` elements, and has the stream fill them with `value`.
    ///
    /// Driver: [`cuMemAllocManaged`](crate::call::mem_alloc_managed), and as [`fill`](Self::fill)
    /// the family of [`cuMemsetD8Async`](crate::call::memset_d8_async).
    ///
    /// # Errors
    ///
    /// As [`uninitialized`](Self::uninitialized).
    pub fn filled(stream: &impl AnyStream, len: usize, value: T) -> Result<Self> {
        let stream = on(stream);
        let mut buffer = Self::uninitialized(stream.context(), len)?;
        buffer.fill(value, stream)?;
        Ok(buffer)
    }

    /// Allocates memory for a copy of `elements`, which the CPU makes.
    ///
    /// Driver: [`cuMemAllocManaged`](crate::call::mem_alloc_managed).
    ///
    /// # Errors
    ///
    /// As [`uninitialized`](Self::uninitialized).
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<Self> {
        let mut buffer = Self::uninitialized(context, elements.len())?;
        buffer.as_mut_slice()?.copy_from_slice(elements);
        Ok(buffer)
    }

    /// Takes the same memory as elements of another type.
    ///
    /// # Errors
    ///
    /// [`Rule::Quotient`] if it is not a whole number of them; the memory is freed then.
    pub fn cast<U: Element>(mut self) -> Result<ManagedBuffer<U>> {
        divided::<U>("ManagedBuffer::cast", self.allocation.len())?;
        Ok(ManagedBuffer {
            address: mem::replace(&mut self.address, CUdeviceptr(0)),
            allocation: Arc::clone(&self.allocation),
            context: self.context.clone(),
            element: PhantomData,
        })
    }

    /// Waits until nothing uses it any more, and hands the memory over: whoever has the address
    /// frees it, by [`from_raw`](Self::from_raw) or by `cuMemFree`.
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
    /// The address came from `cuMemAllocManaged` in `context`, for all streams, has room for so many
    /// elements, is nobody else's, and nothing uses it; the device lets the CPU touch it beside it.
    pub unsafe fn from_raw(context: &Context, address: CUdeviceptr, len: usize) -> Result<Self> {
        let bytes = byte_count::<T>("ManagedBuffer::from_raw", len)?;
        Ok(Self::new(context, address, bytes))
    }

    /// Fills it with `value`, in the order of `stream`, as
    /// [`DeviceBuffer::fill`](super::DeviceBuffer::fill) does.
    ///
    /// Driver: [`cuMemsetD8Async`](crate::call::memset_d8_async) or another of that family, by the
    /// words of the element.
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; else as the driver answers.
    pub fn fill(&mut self, value: T, stream: &impl AnyStream) -> Result<()> {
        let stream = on(stream);
        fill(self.region(), &value, stream)
    }

    /// Moves it to where it will be used, in the order of `stream`.
    ///
    /// Driver: [`cuMemPrefetchAsync_v2`](crate::call::mem_prefetch_async), of older drivers
    /// [`cuMemPrefetchAsync`](crate::call::mem_prefetch_async_v1).
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; else as the driver answers.
    pub fn prefetch(&self, to: Location, stream: &impl AnyStream) -> Result<()> {
        let stream = on(stream);
        prefetch(&self.as_part(), to, stream)
    }

    /// Says how it will be used.
    ///
    /// Driver: [`cuMemAdvise_v2`](crate::call::mem_advise), of older drivers
    /// [`cuMemAdvise`](crate::call::mem_advise_v1).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn advise(&self, advice: Advice) -> Result<()> {
        advise(&self.as_part(), advice)
    }

    /// Returns how many elements it has.
    pub fn len(&self) -> usize {
        self.as_part().len()
    }

    /// Tells whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }
}

impl<T: Element> Slice<'_, T, OnBoth> {
    /// Moves it to where it will be used, in the order of `stream`.
    ///
    /// Driver: [`cuMemPrefetchAsync_v2`](crate::call::mem_prefetch_async), of older drivers
    /// [`cuMemPrefetchAsync`](crate::call::mem_prefetch_async_v1).
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; else as the driver answers.
    pub fn prefetch(&self, to: Location, stream: &impl AnyStream) -> Result<()> {
        let stream = on(stream);
        prefetch(self, to, stream)
    }

    /// Says how it will be used.
    ///
    /// Driver: [`cuMemAdvise_v2`](crate::call::mem_advise), of older drivers
    /// [`cuMemAdvise`](crate::call::mem_advise_v1).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn advise(&self, advice: Advice) -> Result<()> {
        advise(self, advice)
    }
}

fn prefetch<T: Element>(part: &Slice<'_, T, OnBoth>, to: Location, stream: &Stream) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    match call::mem_prefetch_async(part, to.record(), 0, stream) {
        Err(error) if is_missing(&error) => call::mem_prefetch_async_v1(part, &to.device(), stream),
        answer => answer,
    }
}

fn advise<T: Element>(part: &Slice<'_, T, OnBoth>, advice: Advice) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    let (advice, place) = advice.parts();
    match call::mem_advise(part, advice, place.record()) {
        Err(error) if is_missing(&error) => call::mem_advise_v1(part, advice, &place.device()),
        answer => answer,
    }
}

/// Tells whether the driver is of the time before places had a record.
fn is_missing(error: &Error) -> bool {
    matches!(error.cause, crate::error::Cause::Missing(_))
}

impl<T: Element> fmt::Debug for ManagedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedBuffer").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: the allocation lives until the drop, is of `cuMemAllocManaged`, and has this one record.
unsafe impl<T: Element> Memory for ManagedBuffer<T> {
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.address.0).unwrap_or(0);
        Region::new(address, self.allocation.len(), Kind::Managed)
            .with_home(&self.context)
            .within(&self.allocation, 0)
    }
}

// SAFETY: slices are lent after waiting, and the drop frees the bytes only if they are not in use.
unsafe impl<T: Element> Steady for ManagedBuffer<T> {}

// SAFETY: the address is a device's.
unsafe impl<T: Element> Device for ManagedBuffer<T> {}

// SAFETY: the address is the CPU's too.
unsafe impl<T: Element> Host for ManagedBuffer<T> {}

buffer!(ManagedBuffer<T>, OnBoth);
host_buffer!(ManagedBuffer<T>);

impl<T: Element> Drop for ManagedBuffer<T> {
    fn drop(&mut self) {
        if self.address.0 != 0 {
            let address = Address::Device(self.address);
            deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
        }
    }
}
