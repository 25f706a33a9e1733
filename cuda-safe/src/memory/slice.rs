//! Parts of memory that something else owns, as elements one behind the other.
//!
//! A part borrows its owner, and records what is done with it in the owner's own record, with the
//! bytes of the part: streams and the CPU wait for what overlaps and for nothing else.
#![expect(unsafe_code, reason = "lends parts of memory that is borrowed from its owner")]

mod buffer;
mod range;

use core::marker::PhantomData;
use core::ops::RangeBounds;
use core::{ptr, slice};
use std::fmt;

use cuda_sys::CUdeviceptr;

use super::fill::fill;
use super::{Element, divided};
use crate::call;
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{Device, Host, Kind, Memory, Region, Steady};
use crate::stream::{AnyStream, on};
pub(crate) use buffer::buffer;
pub(super) use buffer::{host_buffer, locked_buffer};
use range::{bounds, middle};

/// Says who reaches the memory of a part.
pub trait Place: sealed::Sealed {}

/// Is a place that devices reach by its address.
pub trait DevicePlace: Place {}

/// Is a place that the CPU reaches by its address.
pub trait HostPlace: Place {}

/// Is memory of a device, or of the host by a device's address.
#[derive(Clone, Copy, Debug)]
pub enum OnDevice {}

/// Is page-locked memory of the host.
#[derive(Clone, Copy, Debug)]
pub enum OnHost {}

/// Is managed memory.
#[derive(Clone, Copy, Debug)]
pub enum OnBoth {}

impl Place for OnDevice {}
impl Place for OnHost {}
impl Place for OnBoth {}
impl DevicePlace for OnDevice {}
impl DevicePlace for OnBoth {}
impl HostPlace for OnHost {}
impl HostPlace for OnBoth {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::OnDevice {}
    impl Sealed for super::OnHost {}
    impl Sealed for super::OnBoth {}
}

/// Is a part of memory that can be read.
pub struct Slice<'a, T: Element, P: Place> {
    region: Region<'a>,
    element: PhantomData<(&'a [T], P)>,
}

/// Is a part of memory that can be read and written, by nobody else meanwhile.
pub struct SliceMut<'a, T: Element, P: Place> {
    region: Region<'a>,
    element: PhantomData<(&'a mut [T], P)>,
}

impl<T: Element, P: Place> Clone for Slice<'_, T, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, P: Place> Copy for Slice<'_, T, P> {}

impl<'a, T: Element, P: Place> Slice<'a, T, P> {
    /// Makes a part of all elements of a region that its owner has lent for so long.
    pub(crate) const fn of(region: Region<'a>) -> Self {
        Self { region, element: PhantomData }
    }

    /// Returns its region, for as long as its owner has lent it.
    pub(crate) const fn lent(&self) -> Region<'a> {
        self.region
    }

    /// Returns how many elements it has.
    pub const fn len(&self) -> usize {
        count::<T>(&self.region)
    }

    /// Tells whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a part of it.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if the range is not within it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self> {
        let (start, len) = bounds("Slice::slice", range, self.len())?;
        Ok(Self::of(run::<T>(self.region, start, len)))
    }

    /// Divides it before the element `middle`.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if it has not so many elements.
    pub fn split_at(&self, middle: usize) -> Result<(Self, Self)> {
        let [first, second] = halves::<T>("Slice::split_at", self.region, middle)?;
        Ok((Self::of(first), Self::of(second)))
    }

    /// Takes the same bytes as elements of another type.
    ///
    /// # Errors
    ///
    /// [`Rule::Quotient`] if they are not a whole number of them, [`Rule::Align`] if the address is
    /// not a multiple of their alignment.
    pub fn cast<U: Element>(self) -> Result<Slice<'a, U, P>> {
        check_cast::<U>("Slice::cast", &self.region)?;
        Ok(Slice::of(self.region))
    }
}

impl<'a, T: Element, P: Place> SliceMut<'a, T, P> {
    /// Makes a part of all elements of a region that its owner has lent for so long, to nobody else.
    pub(crate) const fn of(region: Region<'a>) -> Self {
        Self { region, element: PhantomData }
    }

    /// Returns its region, for as long as its owner has lent it.
    pub(crate) const fn lent(&self) -> Region<'a> {
        self.region
    }

    /// Returns how many elements it has.
    pub const fn len(&self) -> usize {
        count::<T>(&self.region)
    }

    /// Tells whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lends it for reading.
    pub const fn as_ref(&self) -> Slice<'_, T, P> {
        Slice::of(self.region)
    }

    /// Lends it for writing.
    pub const fn as_mut(&mut self) -> SliceMut<'_, T, P> {
        SliceMut::of(self.region)
    }

    /// Takes a part, in the place of all.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if the range is not within it.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let (start, len) = bounds("SliceMut::slice", range, self.len())?;
        Ok(Self::of(run::<T>(self.region, start, len)))
    }

    /// Divides it before the element `middle`; streams and the CPU may use both halves at once.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if it has not so many elements.
    pub fn split_at(self, middle: usize) -> Result<(Self, Self)> {
        let [first, second] = halves::<T>("SliceMut::split_at", self.region, middle)?;
        Ok((Self::of(first), Self::of(second)))
    }

    /// Takes the same bytes as elements of another type.
    ///
    /// # Errors
    ///
    /// As [`Slice::cast`].
    pub fn cast<U: Element>(self) -> Result<SliceMut<'a, U, P>> {
        check_cast::<U>("SliceMut::cast", &self.region)?;
        Ok(SliceMut::of(self.region))
    }
}

impl<T: Element, P: DevicePlace> SliceMut<'_, T, P> {
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
        fill(self.region, &value, stream)
    }
}

impl<'a, T: Element, P: HostPlace> Slice<'a, T, P> {
    /// Waits until nothing writes to it any more, and lends it for reading.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes to it.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; it may be the answer to earlier work.
    pub fn as_slice(&self) -> Result<&'a [T]> {
        self.region.wait_for_writes()?;
        // SAFETY: the owner vouches for the bytes, and lends them to no writer for so long.
        Ok(unsafe { slice::from_raw_parts(data(&self.region), self.len()) })
    }
}

impl<'a, T: Element, P: HostPlace> SliceMut<'a, T, P> {
    /// Waits until nothing writes to it any more, and lends it for reading.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes to it.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; it may be the answer to earlier work.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.as_ref().as_slice()
    }

    /// Waits until nothing uses it any more, and lends it for writing.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As the driver answers while it waits; it may be the answer to earlier work.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.as_mut().into_mut_slice()
    }

    /// Waits as [`as_mut_slice`](Self::as_mut_slice) does, and lends it for as long as its owner does.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As [`as_mut_slice`](Self::as_mut_slice).
    pub fn into_mut_slice(self) -> Result<&'a mut [T]> {
        self.region.wait_for_all()?;
        // SAFETY: the owner vouches for the bytes, and lends them to nobody else for so long; a new
        // use by a stream needs this value.
        Ok(unsafe { slice::from_raw_parts_mut(data(&self.region), self.len()) })
    }
}

impl<'a, T: Element> Slice<'a, T, OnHost> {
    /// Returns the same bytes by the address that the device of `context` has for them, for calls
    /// and kernels there.
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn on_device(&self, context: &'a Context) -> Result<Slice<'a, T, OnDevice>> {
        Ok(Slice::of(device_address(self.region, context)?))
    }
}

impl<'a, T: Element> SliceMut<'a, T, OnHost> {
    /// Returns the same bytes by the address that the device of `context` has for them, for calls
    /// and kernels there.
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn on_device(self, context: &'a Context) -> Result<SliceMut<'a, T, OnDevice>> {
        Ok(SliceMut::of(device_address(self.region, context)?))
    }
}

/// Asks for a device's address of page-locked memory.
pub(crate) fn device_address<'a>(region: Region<'a>, context: &'a Context) -> Result<Region<'a>> {
    let address = match region.is_empty() {
        true => CUdeviceptr(0),
        false => {
            let memory = Slice::<'_, u8, OnHost>::of(region);
            call::mem_host_get_device_pointer(context, &memory)?
        }
    };
    let address = usize::try_from(address.0).unwrap_or(0);
    Ok(region.at(address, Kind::Mapped).with_home(context))
}

const fn count<T>(region: &Region<'_>) -> usize {
    match region.len().checked_div(size_of::<T>()) {
        Some(len) => len,
        None => 0,
    }
}

fn data<T>(region: &Region<'_>) -> *mut T {
    if region.is_empty() {
        return ptr::dangling_mut();
    }
    ptr::with_exposed_provenance_mut(region.address())
}

/// Takes elements that are known to lie in the region.
fn run<T>(region: Region<'_>, start: usize, len: usize) -> Region<'_> {
    let (start, len) = (start * size_of::<T>(), len * size_of::<T>());
    region.run(start, len).unwrap_or(region)
}

fn halves<'a, T>(call: &'static str, region: Region<'a>, at: usize) -> Result<[Region<'a>; 2]> {
    let rest = middle(call, at, count::<T>(&region))?;
    Ok([run::<T>(region, 0, at), run::<T>(region, at, rest)])
}

fn check_cast<U: Element>(call: &'static str, region: &Region<'_>) -> Result<()> {
    divided::<U>(call, region.len())?;
    let (address, need) = (region.address(), align_of::<U>());
    if !region.is_empty() && !address.is_multiple_of(need) {
        let have = Quantity::from(1_usize << address.trailing_zeros());
        return Err(Error::refused(call, "address", Rule::Align, need.into(), have));
    }
    Ok(())
}

impl<T: Element, P: Place> fmt::Debug for Slice<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slice({:?})", self.region)
    }
}

impl<T: Element, P: Place> fmt::Debug for SliceMut<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SliceMut({:?})", self.region)
    }
}

macro_rules! memory {
    ($($name:ident)*) => { $(
        // SAFETY: the owner of the region has lent it for so long.
        unsafe impl<T: Element, P: Place> Memory for $name<'_, T, P> {
            #[inline]
            fn region(&self) -> Region<'_> {
                self.region
            }
        }
        // SAFETY: the owner waits for its record before it reads, writes or frees.
        unsafe impl<T: Element, P: Place> Steady for $name<'_, T, P> {}
        // SAFETY: the place says so.
        unsafe impl<T: Element, P: DevicePlace> Device for $name<'_, T, P> {}
        // SAFETY: the place says so.
        unsafe impl<T: Element, P: HostPlace> Host for $name<'_, T, P> {}
    )* };
}

memory!(Slice SliceMut);
