//! Registered memory that its registration owns.
#![expect(unsafe_code, reason = "owns boxed slices by address while streams use them")]

use core::ptr::NonNull;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::{record, register};
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::error::Result;
use crate::memory::Element;
use crate::memory::slice::{OnHost, Slice, SliceMut, buffer, host_buffer, locked_buffer};
use crate::shim::{Allocation, Area, Host, Kind, Memory, Region, Relaxed, Steady};

/// Is a vector or boxed slice, registered: page-locked memory like a
/// [`PinnedBuffer`](crate::PinnedBuffer)'s.
///
/// Its drop waits for nothing that uses other memory unless it is idle: then `cuMemHostUnregister`
/// waits for every kernel of the context. Where that fails the memory leaks, because a device may
/// still reach it.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, DeviceBuffer, RegisteredHost, Stream, call};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let numbers = RegisteredHost::new(&context, vec![1_u16, 2, 3])?;
/// let mut buffer = DeviceBuffer::<u16>::uninitialized(&stream, 3)?;
/// call::memcpy_htod_async(&mut buffer, &numbers, &stream)?;
/// assert_eq!(*numbers.into_inner()?, [1, 2, 3]); // Waits for the copy.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: memory of [`cuMemHostRegister_v2`](crate::call::mem_host_register), chapter Memory
/// Management.
pub struct RegisteredHost<T: Element + Send> {
    /// None once it was handed back.
    owner: Option<Owner<T>>,
    allocation: Arc<Allocation>,
    context: Context,
}

/// Is a boxed slice by its address: a box would claim that nobody else uses it.
struct Owner<T>(NonNull<[T]>);

// SAFETY: it owns its elements as a box does.
unsafe impl<T: Send> Send for Owner<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Owner<T> {}

impl<T> Owner<T> {
    fn new(elements: Box<[T]>) -> Self {
        Self(NonNull::from(Box::leak(elements)))
    }

    fn address(&self) -> usize {
        self.0.cast::<T>().as_ptr().expose_provenance()
    }

    fn into_inner(self) -> Box<[T]> {
        let owner = ManuallyDrop::new(self);
        // SAFETY: it came from a box, and is not used after this.
        unsafe { Box::from_raw(owner.0.as_ptr()) }
    }
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and is not used after this.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<T: Element + Send> RegisteredHost<T> {
    /// Registers a vector or a boxed slice.
    ///
    /// Driver: [`cuMemHostRegister_v2`](crate::call::mem_host_register).
    ///
    /// # Errors
    ///
    /// As the driver answers; then the elements are dropped.
    pub fn new(context: &Context, elements: impl Into<Box<[T]>>) -> Result<Self> {
        let elements = elements.into();
        let bytes = size_of_val(&*elements);
        let owner = Owner::new(elements);
        // SAFETY: the owner keeps the bytes, and is only dropped once they are unregistered.
        unsafe { register(context, owner.address(), bytes, 0) }?;
        let allocation = record(owner.address(), bytes);
        Ok(Self { owner: Some(owner), allocation, context: context.clone() })
    }

    /// Waits until nothing uses it any more, undoes the registration, and hands the elements back.
    ///
    /// Driver: [`cuMemHostUnregister`](crate::call::mem_host_unregister).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work. Then the memory is leaked, or
    /// given up as by a drop.
    pub fn into_inner(mut self) -> Result<Box<[T]>> {
        self.allocation.wait_for_all(Area::bytes(0, self.allocation.len()))?;
        let Some(owner) = self.owner.take().map(ManuallyDrop::new) else { return Ok(Box::new([])) };
        if !self.allocation.is_empty() {
            let _relaxed = Relaxed::enter();
            let address = core::ptr::with_exposed_provenance_mut(owner.address());
            // SAFETY: it is registered, and nothing uses it any more.
            unsafe { call::mem_host_unregister(&self.context, address) }?;
        }
        Ok(ManuallyDrop::into_inner(owner).into_inner())
    }

    /// Returns how many elements it has.
    pub fn len(&self) -> usize {
        self.as_part().len()
    }

    /// Tells whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the context in which it is registered.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }
}

impl<T: Element + Send> fmt::Debug for RegisteredHost<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredHost").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: the owner keeps the memory, which is registered for all contexts and has this one record.
unsafe impl<T: Element + Send> Memory for RegisteredHost<T> {
    fn region(&self) -> Region<'_> {
        let address = self.owner.as_ref().map_or(0, Owner::address);
        Region::new(address, self.allocation.len(), Kind::Registered).within(&self.allocation, 0)
    }
}

// SAFETY: slices are lent after waiting, and the drop frees the bytes only if they are not in use.
unsafe impl<T: Element + Send> Steady for RegisteredHost<T> {}

// SAFETY: it is memory of the host.
unsafe impl<T: Element + Send> Host for RegisteredHost<T> {}

buffer!(RegisteredHost<T>, OnHost, Send);
host_buffer!(RegisteredHost<T>, Send);
locked_buffer!(RegisteredHost<T>, Send);

impl<T: Element + Send> Drop for RegisteredHost<T> {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        if self.allocation.is_empty() {
            return;
        }
        let address = owner.address();
        let owner: Box<dyn Send> = Box::new(owner);
        let address = Address::Registered(address, ManuallyDrop::new(owner));
        deferred::give_up(&self.context, address, Arc::clone(&self.allocation));
    }
}
