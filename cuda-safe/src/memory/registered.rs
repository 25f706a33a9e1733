//! Memory of the host that others allocated, page-locked while it is registered.
//!
//! | form | memory | ends |
//! |---|---|---|
//! | [`RegisteredHost`] | a vector or boxed slice, which it owns | with its drop, once nothing uses it |
//! | [`registered()`], [`registered_read_only`] | borrowed | before the call returns, also when the closure panics |
#![expect(unsafe_code, reason = "registers memory that it owns or has borrowed")]

mod owned;

use core::marker::PhantomData;
use core::ptr;
use std::fmt;
use std::sync::Arc;

use cuda_sys::{
    CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_READ_ONLY,
    CUdeviceptr,
};

use super::Element;
use super::slice::{OnHost, Slice, SliceMut, buffer, host_buffer, locked_buffer};
use crate::call;
use crate::context::Context;
use crate::deferred;
use crate::error::Result;
use crate::shim::{Allocation, Area, Host, Kind, Memory, Region, Relaxed, Steady, record_of};

pub use owned::RegisteredHost;

/// Is borrowed memory of the host while it is registered.
///
/// Driver: memory of [`cuMemHostRegister_v2`](crate::call::mem_host_register), chapter Memory
/// Management.
pub struct Registered<'a, T: Element> {
    address: usize,
    allocation: Arc<Allocation>,
    context: &'a Context,
    /// The lifetime is of this one borrow: no other may stand for it.
    borrow: PhantomData<fn(&'a ()) -> &'a ()>,
    element: PhantomData<T>,
}

/// Registers memory while `work` runs, then waits until nothing uses it, and undoes it.
///
/// In `work` it is memory like a [`PinnedBuffer`](super::PinnedBuffer)'s: copies with it are
/// asynchronous.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, DeviceBuffer, Stream, call, registered};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let ones = DeviceBuffer::filled(&stream, 1000, 1_u32)?;
/// let mut numbers = vec![0_u32; 1000];
/// registered(&context, &mut numbers, |numbers| call::memcpy_dtoh_async(numbers, &ones, &stream))??;
/// assert_eq!(numbers, [1; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: [`cuMemHostRegister_v2`](crate::call::mem_host_register),
/// [`cuMemHostUnregister`](crate::call::mem_host_unregister).
///
/// # Errors
///
/// As the driver answers, also while it waits; it may be the answer to earlier work. If it can
/// neither wait for the uses nor undo the registration, it waits for the whole context. When even
/// that fails, the context is broken, and nothing runs in it any more.
pub fn registered<T: Element, R>(
    context: &Context,
    memory: &mut [T],
    work: impl FnOnce(&mut Registered<'_, T>) -> R,
) -> Result<R> {
    let (address, bytes) = (memory.as_mut_ptr().expose_provenance(), size_of_val(memory));
    let mut guard = Guard::new(context, address, bytes, 0)?;
    let result = work(&mut guard.lend());
    guard.finish().map(|()| result)
}

/// Registers memory that devices will only read, as [`registered()`] does; it may be mapped so that
/// nobody can write to it.
///
/// Driver: [`cuMemHostRegister_v2`](crate::call::mem_host_register),
/// [`cuMemHostUnregister`](crate::call::mem_host_unregister), with
/// [`CU_MEMHOSTREGISTER_READ_ONLY`](crate::sys::CU_MEMHOSTREGISTER_READ_ONLY).
///
/// # Errors
///
/// As [`registered()`]; the driver answers that it is unsupported if the device can't.
pub fn registered_read_only<T: Element, R>(
    context: &Context,
    memory: &[T],
    work: impl FnOnce(&Registered<'_, T>) -> R,
) -> Result<R> {
    let (address, bytes) = (memory.as_ptr().expose_provenance(), size_of_val(memory));
    let mut guard = Guard::new(context, address, bytes, CU_MEMHOSTREGISTER_READ_ONLY)?;
    let result = work(&guard.lend());
    guard.finish().map(|()| result)
}

/// Registers so many bytes; without bytes there is nothing to do.
///
/// # Safety
///
/// The bytes are memory of this process, and stay until they are unregistered.
unsafe fn register(context: &Context, address: usize, bytes: usize, flags: u32) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | flags;
    deferred::allocate(context, || {
        let address = ptr::with_exposed_provenance_mut(address);
        // SAFETY: the caller's promise.
        unsafe { call::mem_host_register(context, address, bytes, flags) }
    })
}

/// Finds or makes the record of registered bytes.
fn record(address: usize, bytes: usize) -> Arc<Allocation> {
    match bytes {
        0 => Arc::new(Allocation::new(0)),
        _ => record_of(CUdeviceptr(address as u64), bytes),
    }
}

/// Undoes a registration at its end, however that comes.
struct Guard<'a> {
    context: &'a Context,
    address: usize,
    allocation: Arc<Allocation>,
    done: bool,
}

impl<'a> Guard<'a> {
    fn new(context: &'a Context, address: usize, bytes: usize, flags: u32) -> Result<Self> {
        // SAFETY: the caller has borrowed the bytes, and drops the guard before that ends.
        unsafe { register(context, address, bytes, flags) }?;
        let allocation = record(address, bytes);
        Ok(Self { context, address, allocation, done: bytes == 0 })
    }

    fn lend<T: Element>(&self) -> Registered<'_, T> {
        Registered {
            address: self.address,
            allocation: Arc::clone(&self.allocation),
            context: self.context,
            borrow: PhantomData,
            element: PhantomData,
        }
    }

    /// Waits for every use, and undoes the registration; each of the two waits for all that uses
    /// the memory.
    fn finish(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(());
        }
        let waited = self.allocation.wait_for_all(Area::bytes(0, self.allocation.len()));
        let undone = {
            let _relaxed = Relaxed::enter();
            let address = ptr::with_exposed_provenance_mut(self.address);
            // SAFETY: it is registered. Should work still use it, this waits for that too.
            unsafe { call::mem_host_unregister(self.context, address) }
        };
        if waited.is_err() && undone.is_err() {
            self.context.synchronize()?;
        }
        waited.and(undone)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Only when the closure panics is there something left to do.
        if let Err(error) = self.finish() {
            self.context.report(error);
        }
    }
}

impl<T: Element> Registered<'_, T> {
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
        self.context
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }
}

impl<T: Element> fmt::Debug for Registered<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("len", &self.len()).finish_non_exhaustive()
    }
}

// SAFETY: the memory is borrowed and registered until the guard behind it ends, and has this one
// record; it is lent for writing only if it was borrowed so.
unsafe impl<T: Element> Memory for Registered<'_, T> {
    fn region(&self) -> Region<'_> {
        Region::new(self.address, self.allocation.len(), Kind::Registered)
            .within(&self.allocation, 0)
    }
}

// SAFETY: the guard waits for the record before the borrow ends; nobody can keep it from that.
unsafe impl<T: Element> Steady for Registered<'_, T> {}

// SAFETY: it is memory of the host.
unsafe impl<T: Element> Host for Registered<'_, T> {}

buffer!(Registered<'_, T>, OnHost);
host_buffer!(Registered<'_, T>);
locked_buffer!(Registered<'_, T>);
