//! Reserved addresses, and what is mapped there.
#![expect(unsafe_code, reason = "owns addresses, maps memory there, and vouches for it")]

mod access;
mod raw;

use core::marker::PhantomData;
use std::fmt;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::physical::{round_up, step};
use super::{DeviceAccess, PhysicalMemory, check_reach};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::device;
use crate::error::{Error, Result, Rule};
use crate::memory::fill::fill;
use crate::memory::slice::{OnDevice, Slice, SliceMut, buffer};
use crate::memory::{Element, byte_count};
use crate::shim::{
    Allocation, Area, Device, Kind, Memory, Region, Steady, alias, forget_alias, number_of,
};
use crate::stream::{AnyStream, on};

pub(crate) use raw::Reservation;

/// Is a range of reserved addresses, with memory mapped from its beginning on: a buffer that grows
/// without being moved.
///
/// Its elements are those that are mapped. All streams of its context may use them, as they use a
/// [`DeviceBuffer`](crate::DeviceBuffer); other devices once they have [access](Self::set_access).
/// Growing waits for nothing: what streams do with the elements that are there goes on meanwhile.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{AddressRange, Device, Stream};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let mut numbers = AddressRange::<u32>::reserve(&context, 100_000_000)?;
/// assert!(numbers.is_empty());
/// numbers.grow(1000)?;
/// numbers.fill(7, &stream)?;
/// numbers.grow(1_000_000)?; // The first elements stay where they are.
/// assert!(numbers.len() >= 1_000_000 && numbers.capacity() >= 100_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: addresses of [`cuMemAddressReserve`](crate::call::mem_address_reserve), chapter Virtual
/// Memory Management.
pub struct AddressRange<T: Element> {
    base: CUdeviceptr,
    /// How many bytes are reserved.
    reserved: usize,
    /// How many bytes are mapped.
    mapped: usize,
    /// Of how many bytes each size is a multiple.
    step: usize,
    parts: Vec<Part>,
    /// What devices may do with it, the context's own first.
    access: Vec<(device::Device, DeviceAccess)>,
    allocation: Arc<Allocation>,
    context: Context,
    element: PhantomData<T>,
}

/// Is memory that is mapped behind that of the part before.
struct Part {
    memory: PhysicalMemory,
    /// The driver's number for it, by which others find the range's record.
    number: u64,
}

impl<T: Element> AddressRange<T> {
    /// Reserves addresses for `len` elements, rounded up to the device's
    /// [granularity](PhysicalMemory::granularity); nothing is mapped there.
    ///
    /// Driver: [`cuMemAddressReserve`](crate::call::mem_address_reserve).
    ///
    /// # Errors
    ///
    /// [`Rule::Able`] if the device has no virtual memory; else as the driver answers.
    pub fn reserve(context: &Context, len: usize) -> Result<Self> {
        const CALL: &str = "AddressRange::reserve";
        let step = step(CALL, context)?;
        let reserved = round_up(CALL, byte_count::<T>(CALL, len)?, step)?;
        let base = match reserved {
            0 => CUdeviceptr(0),
            _ => {
                deferred::allocate(context, || call::mem_address_reserve(context, reserved, 0, 0))?
            }
        };
        Ok(Self {
            base,
            reserved,
            mapped: 0,
            step,
            parts: Vec::new(),
            access: vec![(context.device(), DeviceAccess::ReadWrite)],
            allocation: Arc::new(Allocation::new(reserved)),
            context: context.clone(),
            element: PhantomData,
        })
    }

    /// Maps memory of the context's device behind what is mapped, until there are at least `len`
    /// elements; they hold whatever the memory held before.
    ///
    /// Driver: [`cuMemCreate`](crate::call::mem_create), [`cuMemMap`](crate::call::mem_map),
    /// [`cuMemSetAccess`](crate::call::mem_set_access).
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if there are not so many addresses; else as the driver answers. Then the range
    /// is as it was.
    pub fn grow(&mut self, len: usize) -> Result<()> {
        const CALL: &str = "AddressRange::grow";
        let need = round_up(CALL, byte_count::<T>(CALL, len)?, self.step)?;
        if need > self.reserved {
            let have = self.capacity().into();
            return Err(Error::refused(CALL, "len", Rule::Reach, len.into(), have));
        }
        match need.checked_sub(self.mapped) {
            None | Some(0) => Ok(()),
            Some(more) => self.map(PhysicalMemory::new(&self.context, more)?),
        }
    }

    /// Maps `memory` behind what is mapped. It may be of another device: those that have access must
    /// reach it.
    ///
    /// Driver: [`cuMemMap`](crate::call::mem_map), [`cuMemSetAccess`](crate::call::mem_set_access).
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if there are not so many addresses left, [`Rule::Able`] if a device that has
    /// access does not reach the memory's; else as the driver answers. Then the memory is released,
    /// and the range as it was.
    pub fn map(&mut self, memory: PhysicalMemory) -> Result<()> {
        const CALL: &str = "AddressRange::map";
        let (len, left) = (memory.len(), self.reserved - self.mapped);
        if len > left {
            return Err(Error::refused(CALL, "memory", Rule::Reach, len.into(), left.into()));
        }
        if len == 0 {
            return Ok(());
        }
        for (device, _) in self.access.iter().filter(|(_, may)| *may != DeviceAccess::Denied) {
            check_reach(CALL, *device, memory.device())?;
        }
        let start = self.at(self.mapped);
        // SAFETY: the addresses are reserved, and nothing is mapped from there on.
        unsafe { call::mem_map(&self.context, start, len, 0, &memory.held(), 0) }?;
        if let Err(error) = self.grant(start, len, &self.access) {
            // SAFETY: it was just mapped so, and nothing has used it.
            if let Err(error) = unsafe { call::mem_unmap(&self.context, start, len) } {
                self.context.report(error);
            }
            return Err(error);
        }
        let number = number_of(start);
        alias(number, &self.allocation);
        self.parts.push(Part { memory, number });
        self.mapped += len;
        Ok(())
    }

    /// Waits until nothing uses the memory that was mapped last, unmaps it, and hands it over; none
    /// if nothing is mapped.
    ///
    /// Driver: [`cuMemUnmap`](crate::call::mem_unmap).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work. Then the memory stays the range's.
    pub fn unmap_last(&mut self) -> Result<Option<PhysicalMemory>> {
        let Some(last) = self.parts.last() else { return Ok(None) };
        let len = last.memory.len();
        let start = self.mapped - len;
        self.allocation.wait_for_all(Area::bytes(start, len))?;
        // SAFETY: it is mapped so, nothing uses it, and a new use needs the range.
        unsafe { call::mem_unmap(&self.context, self.at(start), len) }?;
        self.mapped = start;
        let part = self.parts.pop();
        Ok(part.map(|part| {
            forget_alias(part.number);
            part.memory
        }))
    }

    /// Fills it with `value`, in the order of `stream`, as
    /// [`DeviceBuffer::fill`](crate::DeviceBuffer::fill) does.
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

    /// Returns how many elements are mapped.
    pub const fn len(&self) -> usize {
        match self.mapped.checked_div(size_of::<T>()) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Tells whether none is mapped.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns for how many elements there are addresses.
    pub const fn capacity(&self) -> usize {
        match self.reserved.checked_div(size_of::<T>()) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// Returns the first address.
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::as_device_ptr`](crate::DeviceBuffer::as_device_ptr), of what is mapped.
    pub const unsafe fn as_device_ptr(&self) -> CUdeviceptr {
        self.base
    }

    /// Returns the address of a byte of the range.
    const fn at(&self, offset: usize) -> CUdeviceptr {
        CUdeviceptr(self.base.0 + offset as u64)
    }
}

impl<T: Element> fmt::Debug for AddressRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressRange")
            .field("base", &self.base)
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

// SAFETY: what is mapped stays so until the drop or until a call that borrows the range mutably; the
// context's device may read and write it, and it has this one record, which is found by its numbers
// too.
unsafe impl<T: Element> Memory for AddressRange<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.base.0).unwrap_or(0);
        Region::new(address, self.len() * size_of::<T>(), Kind::Virtual)
            .with_home(&self.context)
            .within(&self.allocation, 0)
    }
}

// SAFETY: nothing but calls reaches the bytes; what unmaps them waits for their uses, or comes when
// there are none any more.
unsafe impl<T: Element> Steady for AddressRange<T> {}

// SAFETY: the addresses are the device's.
unsafe impl<T: Element> Device for AddressRange<T> {}

buffer!(AddressRange<T>, OnDevice);

impl<T: Element> Drop for AddressRange<T> {
    fn drop(&mut self) {
        if self.base.0 == 0 {
            return;
        }
        let parts = self.parts.drain(..);
        let handles = parts.map(|part| {
            forget_alias(part.number);
            part.memory.into_handle()
        });
        let reservation =
            Reservation::new(self.base, self.reserved, self.mapped, handles.collect());
        let address = Address::Range(reservation);
        deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
    }
}
