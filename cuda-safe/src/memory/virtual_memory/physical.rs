//! Physical memory: what can be mapped to reserved addresses.
#![expect(unsafe_code, reason = "owns the handle of physical memory")]

use std::fmt;
use std::mem;
use std::sync::Arc;

use cuda_sys::{
    CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation,
};

use super::check_able;
use crate::call;
use crate::context::Context;
use crate::deferred::{self, Address};
use crate::device::Device;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{Allocation, Handle};

/// Is memory of a device that has no address until an [`AddressRange`](super::AddressRange) maps it.
///
/// What it is mapped to owns it; [`unmap_last`](super::AddressRange::unmap_last) gives it back, with
/// what is in it, to be mapped elsewhere.
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{AddressRange, Device, PhysicalMemory, PinnedBuffer, Stream};
///
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let memory = PhysicalMemory::new(&context, 1000)?; // Rounded up, mostly to 2 MiB.
/// let mut first = AddressRange::<u8>::reserve(&context, memory.len())?;
/// let mut second = AddressRange::<u8>::reserve(&context, memory.len())?;
/// first.map(memory)?;
/// first.fill(7, &stream)?;
/// if let Some(memory) = first.unmap_last()? {
///     second.map(memory)?;
/// }
/// let mut answer = PinnedBuffer::<u8>::zeroed(&context, 4)?;
/// answer.copy_from(&second.slice(..4)?, &stream)?;
/// assert_eq!(answer.as_slice()?, [7; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: [`CUmemGenericAllocationHandle`](crate::sys::CUmemGenericAllocationHandle), chapter
/// Virtual Memory Management.
pub struct PhysicalMemory {
    /// 0 of what has no bytes, or was given away.
    handle: CUmemGenericAllocationHandle,
    len: usize,
    context: Context,
}

impl PhysicalMemory {
    /// Allocates `bytes` bytes of the context's device, rounded up to its
    /// [granularity](Self::granularity); they hold whatever the memory held before.
    ///
    /// Driver: [`cuMemCreate`](crate::call::mem_create).
    ///
    /// # Errors
    ///
    /// [`Rule::Able`] if the device has no virtual memory; else as the driver answers.
    pub fn new(context: &Context, bytes: usize) -> Result<Self> {
        Self::with_handle_types(context, bytes, CUmemAllocationHandleType::default())
    }

    /// Allocates as [`new`](Self::new) does, memory of which handles of such types can be made for
    /// other processes.
    ///
    /// Driver: [`cuMemCreate`](crate::call::mem_create).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_handle_types(
        context: &Context,
        bytes: usize,
        types: CUmemAllocationHandleType,
    ) -> Result<Self> {
        const CALL: &str = "PhysicalMemory::new";
        check_able(CALL, context)?;
        let properties = properties(context.device(), types);
        let len = round_up(CALL, bytes, granularity(&properties)?)?;
        let handle = match len {
            0 => CUmemGenericAllocationHandle(0),
            _ => deferred::allocate(context, || call::mem_create(context, len, &properties, 0))?,
        };
        Ok(Self { handle, len, context: context.clone() })
    }

    /// Returns of how many bytes the device's physical memory is a multiple.
    ///
    /// Driver: [`cuMemGetAllocationGranularity`](crate::call::mem_get_allocation_granularity).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn granularity(context: &Context) -> Result<usize> {
        check_able("PhysicalMemory::granularity", context)?;
        granularity(&properties(context.device(), CUmemAllocationHandleType::default()))
    }

    /// Returns how many bytes it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the context in which it was allocated.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the device whose memory it is.
    pub fn device(&self) -> Device {
        self.context.device()
    }

    /// Returns the driver's handle, 0 of what has no bytes; the value releases it.
    pub const fn raw(&self) -> CUmemGenericAllocationHandle {
        self.handle
    }

    /// Lends the handle to a call, which needs bytes to be there.
    pub(super) const fn held(&self) -> Held<'_> {
        Held(self)
    }

    /// Gives the handle away, to be released by whoever has it now.
    pub(super) fn into_handle(mut self) -> CUmemGenericAllocationHandle {
        mem::replace(&mut self.handle, CUmemGenericAllocationHandle(0))
    }
}

/// Returns of how many bytes addresses and sizes of a range in the context are multiples.
pub(super) fn step(call: &'static str, context: &Context) -> Result<usize> {
    check_able(call, context)?;
    granularity(&properties(context.device(), CUmemAllocationHandleType::default()))
}

fn granularity(properties: &CUmemAllocationProp) -> Result<usize> {
    let recommended = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    call::mem_get_allocation_granularity(properties, recommended)
}

fn properties(device: Device, types: CUmemAllocationHandleType) -> CUmemAllocationProp {
    let mut properties = CUmemAllocationProp::zeroed();
    properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = types;
    properties.location = CUmemLocation::device(device.ordinal());
    properties
}

/// Rounds a number of bytes up to a multiple of `step`.
pub(super) fn round_up(call: &'static str, bytes: usize, step: usize) -> Result<usize> {
    bytes.checked_next_multiple_of(step.max(1)).ok_or_else(|| {
        Error::refused(call, "len", Rule::Fit, Quantity::Overflow, usize::MAX.into())
    })
}

impl fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PhysicalMemory")
            .field("len", &self.len)
            .field("device", &self.device())
            .finish_non_exhaustive()
    }
}

/// Is the handle of memory that has bytes.
pub(super) struct Held<'a>(&'a PhysicalMemory);

// SAFETY: the handle is held until the drop; it belongs to no context.
unsafe impl Handle for Held<'_> {
    type Raw = CUmemGenericAllocationHandle;

    fn raw(&self) -> CUmemGenericAllocationHandle {
        self.0.handle
    }

    fn home(&self) -> Option<&Context> {
        None
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        if self.handle.0 != 0 {
            let nothing = Arc::new(Allocation::new(0));
            deferred::give_up(&self.context, Address::Physical(self.handle), nothing);
        }
    }
}
