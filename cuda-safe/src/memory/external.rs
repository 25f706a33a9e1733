//! Memory of others, with what owns it.
#![expect(unsafe_code, reason = "vouches for addresses that its maker vouches for")]

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

use cuda_sys::{CUdeviceptr, CUmemorytype};

use super::Element;
use super::slice::{OnDevice, Slice, SliceMut, device_address};
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::shim::{About, Allocation, Area, Kind, Memory, Region, Steady};

/// Is memory that others allocated: an address, and an owner that keeps it allocated.
///
/// The driver says what the address is of: a device or the host, which device, which allocation.
/// Page-locked memory is found by either of its addresses: the CPU's, and a device's where that is
/// another; it is memory of the host then, and [`on_device`](Self::on_device) gives a device's.
/// Whoever refers to the same allocation shares its record, also a buffer of this crate, so that
/// each waits for the others' uses. Dropping it drops the owner once no stream uses the memory any
/// more, at once or from a thread that waits; forgetting it keeps the memory.
///
/// What is only borrowed can't be an owner, since a stream may use the memory for longer: a slice is
/// viewed by [`View::of_slice`](crate::View::of_slice).
///
/// Driver: what [`cuPointerGetAttributes`](crate::call::pointer_get_attributes) tells of an
/// address, chapter Unified Addressing.
pub struct External<O: Send + 'static> {
    address: usize,
    len: usize,
    /// Where in its allocation it begins.
    offset: usize,
    kind: Kind,
    allocation: Arc<Allocation>,
    context: Context,
    /// There until this is dropped.
    owner: Option<O>,
}

const CALL: &str = "External::new";

impl<O: Send + 'static> External<O> {
    /// Takes `len` bytes from `address` on, which `owner` keeps allocated.
    ///
    /// Driver: [`cuPointerGetAttributes`](crate::call::pointer_get_attributes).
    ///
    /// # Errors
    ///
    /// [`Rule::Kind`] if the driver doesn't know the address, or if it is a device's of memory that
    /// the CPU doesn't reach; [`Rule::Home`] if the memory is of another device
    /// than `context`; [`Rule::Reach`] if its allocation ends before. The owner is dropped then.
    ///
    /// # Safety
    ///
    /// Until the owner is dropped the bytes are allocated, and nobody reads or writes them without a
    /// call of this crate, except in an order with those calls that the caller sees to.
    #[inline]
    pub unsafe fn new(
        context: &Context,
        address: CUdeviceptr,
        len: usize,
        owner: O,
    ) -> Result<Self> {
        let make = |address, offset, kind, allocation| {
            let context = context.clone();
            Self { address, len, offset, kind, allocation, context, owner: Some(owner) }
        };
        if len == 0 {
            // An empty array may be nowhere.
            return Ok(make(0, 0, Kind::External, Arc::new(Allocation::new(0))));
        }
        let mut about = About::default();
        about.ask(address)?;
        let kind = kind_of(&about, context)?;
        let offset = about.offset(address);
        let left = offset.and_then(|offset| about.len.checked_sub(offset));
        match (offset, left) {
            (Some(offset), Some(left)) if len <= left => {
                let address = if kind.is_host() { about.host_address } else { address.0 };
                let address = usize::try_from(address).unwrap_or(0);
                Ok(make(address, offset, kind, Allocation::of_others(about.buffer_id, about.len)))
            }
            _ => Err(refused("len", Rule::Reach, len.into(), left.unwrap_or(0).into())),
        }
    }

    /// Takes the memory that an array reaches whose offsets count from `pointer`, as other libraries
    /// hand arrays over: with negative strides it begins before. Answers the layout whose offsets
    /// count from the memory's first byte.
    ///
    /// Driver: [`cuPointerGetAttributes`](crate::call::pointer_get_attributes).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new), of the bytes from the array's first to its last.
    pub unsafe fn of_array(
        context: &Context,
        pointer: CUdeviceptr,
        layout: &StridedLayout,
        owner: O,
    ) -> Result<(Self, StridedLayout)> {
        let (first, last) = layout.byte_bounds().unwrap_or((0, -1));
        let fit = || refused("layout", Rule::Fit, Quantity::Overflow, usize::MAX.into());
        let address = pointer.0.checked_add_signed(first).ok_or_else(fit)?;
        // Both are offsets of a layout; what lies between may still be more than a number holds.
        let span = last.checked_sub(first).and_then(|span| span.checked_add(1));
        let len = span.and_then(|len| usize::try_from(len).ok()).ok_or_else(fit)?;
        let start = layout.byte_offset().checked_sub(first).ok_or_else(fit)?;
        let moved = layout.with_byte_offset(if len == 0 { 0 } else { start })?;
        // SAFETY: the caller's promise is of these bytes.
        let external = unsafe { Self::new(context, CUdeviceptr(address), len, owner) }?;
        Ok((external, moved))
    }

    /// Lends it as elements for reading, by the address that the device of `context` has for it: for
    /// kernels and copies there.
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer), for
    /// memory of the host.
    ///
    /// # Errors
    ///
    /// As [`Slice::cast`]; else as the driver answers.
    pub fn on_device<'a, T: Element>(
        &'a self,
        context: &'a Context,
    ) -> Result<Slice<'a, T, OnDevice>> {
        Slice::<u8, _>::of(self.device_region(context)?).cast()
    }

    /// Lends it as elements for writing, by the address that the device of `context` has for it.
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer), for
    /// memory of the host.
    ///
    /// # Errors
    ///
    /// As [`Slice::cast`]; else as the driver answers.
    pub fn on_device_mut<'a, T: Element>(
        &'a mut self,
        context: &'a Context,
    ) -> Result<SliceMut<'a, T, OnDevice>> {
        SliceMut::<u8, _>::of(self.device_region(context)?).cast()
    }

    fn device_region<'a>(&'a self, context: &'a Context) -> Result<Region<'a>> {
        match self.kind.is_host() {
            true => device_address(self.region(), context),
            false => Ok(self.region()),
        }
    }

    /// Returns how many bytes it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns where the memory is: on a device, of the host and page-locked, or managed.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns what everything that refers to its allocation shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }
}

#[cold]
fn refused(operand: &'static str, rule: Rule, need: Quantity, have: Quantity) -> Error {
    Error::refused(CALL, operand, rule, need, have)
}

/// Says what kind of memory it is, and refuses what can't be used in the context.
fn kind_of(about: &About, context: &Context) -> Result<Kind> {
    let word = |need, have| {
        let (need, have) = (Quantity::Word(need), Quantity::Word(have));
        Err(refused("address", Rule::Kind, need, have))
    };
    if about.memory_type != 0 && about.buffer_id == 0 {
        return word("an allocation that the driver numbers", "memory without a number");
    }
    let kind = match CUmemorytype(about.memory_type) {
        _ if about.is_managed != 0 => Kind::Managed,
        CUmemorytype::CU_MEMORYTYPE_DEVICE => Kind::External,
        CUmemorytype::CU_MEMORYTYPE_HOST if about.host_address != 0 => Kind::Registered,
        CUmemorytype::CU_MEMORYTYPE_HOST => {
            return word("memory that the CPU reaches", "an address of a device");
        }
        _ => return word("memory that the driver knows", "an address of others"),
    };
    let need = context.device().ordinal();
    if kind == Kind::External && about.ordinal != need {
        let device = |number: i32| Quantity::Device(number);
        return Err(refused("address", Rule::Home, device(need), device(about.ordinal)));
    }
    Ok(kind)
}

impl<O: Send + 'static> fmt::Debug for External<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "External({:?})", self.region())
    }
}

// SAFETY: whoever made it said that the owner keeps the bytes, and the driver said what they are of;
// the record is the one of the allocation.
unsafe impl<O: Send + 'static> Memory for External<O> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let region =
            Region::new(self.address, self.len, self.kind).within(&self.allocation, self.offset);
        if self.kind.is_host() { region } else { region.with_home(&self.context) }
    }
}

// SAFETY: nothing but calls reaches the bytes, or whoever made it sees to the order; the owner is
// dropped only when nothing uses the allocation.
unsafe impl<O: Send + 'static> Steady for External<O> {}

impl<O: Send + 'static> Drop for External<O> {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        if self.len == 0 || self.allocation.is_unused() {
            return drop(owner);
        }
        // A forked child has neither the memory nor the streams that use it.
        if !self.context.is_own_process() {
            return std::mem::forget(owner);
        }
        if self.allocation.is_idle() {
            return drop(owner);
        }
        self.wait_elsewhere(owner);
    }
}

impl<O: Send + 'static> External<O> {
    /// Has a thread wait for the uses and drop the owner then. The context's own queue won't do: an
    /// owner may hold the context, which then never came to its end.
    #[cold]
    fn wait_elsewhere(&self, owner: O) {
        let (allocation, context) = (Arc::clone(&self.allocation), self.context.downgrade());
        // What no thread takes, and what can't be waited for, stays.
        let owner = ManuallyDrop::new(owner);
        let waiting = thread::Builder::new().name("cuda-safe owner".to_owned());
        let spawned = waiting.spawn(move || {
            let all = Area::bytes(0, allocation.len());
            let waited = allocation.wait_for_all(all).or_else(|error| {
                // A context that has come to its end has waited for all.
                let Some(context) = context.upgrade().map(Context::from) else { return Ok(()) };
                context.report(error);
                context.synchronize()
            });
            if waited.is_ok() {
                drop(ManuallyDrop::into_inner(owner));
            }
        });
        if spawned.is_err() {
            self.context.report(refused("owner", Rule::Fit, 1_usize.into(), 0_usize.into()));
        }
    }
}
