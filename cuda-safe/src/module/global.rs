//! Variables of modules: device memory that is loaded with the code.
#![expect(unsafe_code, reason = "vouches for a variable's address, which its module keeps")]

use core::marker::PhantomData;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::Module;
use crate::call;
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};
use crate::memory::{Element, OnDevice, Slice, SliceMut, buffer, divided, fill};
use crate::shim::{About, Allocation, Device, Kind, Memory, Region, Steady};
use crate::stream::{AnyStream, on};

/// Is a variable of a module, `__device__` or `__constant__` in the source, as device memory. It
/// keeps the module loaded, and so do the streams that use it.
///
/// What the module's kernels do to it is ordered with the rest if a launch names it: as an argument,
/// or as memory that is [`implied`](crate::implied).
///
/// ```
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// use cuda_safe::{Device, Module, PinnedBuffer, Stream, call};
///
/// const PTX: &std::ffi::CStr = c"
///     .version 7.0
///     .target sm_70
///     .address_size 64
///     .visible .global .align 4 .b32 table[3] = {1, 2, 3};
/// ";
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let mut table = Module::from_ptx(&context, PTX)?.global::<u32>(c"table")?;
/// table.slice_mut(1..)?.fill(9, &stream)?;
/// let mut answer = PinnedBuffer::<u32>::zeroed(&context, 3)?;
/// call::memcpy_dtoh_async(&mut answer, &table, &stream)?;
/// assert_eq!(answer.as_slice()?, [1, 9, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: what [`cuModuleGetGlobal_v2`](crate::call::module_get_global) finds, chapter Module
/// Management.
pub struct Global<T: Element> {
    address: CUdeviceptr,
    /// How many bytes it has.
    bytes: usize,
    /// Where it begins in what its record is of.
    offset: usize,
    allocation: Arc<Allocation>,
    module: Module,
    element: PhantomData<T>,
}

const CALL: &str = "Module::global";

impl<T: Element> Global<T> {
    pub(super) fn of(module: &Module, name: &CStr) -> Result<Self> {
        let (address, bytes) = call::module_get_global(module, name)?;
        divided::<T>(CALL, bytes)?;
        let start = usize::try_from(address.0).unwrap_or(0);
        if !start.is_multiple_of(align_of::<T>()) {
            let have = Quantity::from(1_usize << start.trailing_zeros());
            return Err(Error::refused(CALL, "name", Rule::Align, align_of::<T>().into(), have));
        }
        let (allocation, offset) = record(module, start, bytes)?;
        module.0.keep(&allocation);
        let module = module.clone();
        Ok(Self { address, bytes, offset, allocation, module, element: PhantomData })
    }

    /// Returns how many elements it has.
    pub const fn len(&self) -> usize {
        match self.bytes.checked_div(size_of::<T>()) {
            Some(len) => len,
            None => 0,
        }
    }

    /// Tells whether it has no elements.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the module.
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        self.module.context()
    }

    /// Returns what everything that refers to its bytes shares.
    pub const fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
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

    /// Returns the address.
    ///
    /// # Safety
    ///
    /// As for [`DeviceBuffer::as_device_ptr`](crate::DeviceBuffer::as_device_ptr).
    pub const unsafe fn as_device_ptr(&self) -> CUdeviceptr {
        self.address
    }
}

/// Finds the record of bytes of a module, and where in it they begin. The driver may number all of a
/// module's variables as one, or each; where it numbers none, the module has one record.
fn record(module: &Module, start: usize, bytes: usize) -> Result<(Arc<Allocation>, usize)> {
    let address = CUdeviceptr(start as u64);
    let mut about = About::default();
    about.ask(address)?;
    match about.offset(address) {
        Some(offset) if about.buffer_id != 0 && about.len.saturating_sub(offset) >= bytes => {
            Ok((Allocation::of_buffer(about.buffer_id, about.len), offset))
        }
        _ => Ok((module.0.unnumbered(), start)),
    }
}

impl<T: Element> fmt::Debug for Global<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global")
            .field("address", &self.address)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

// SAFETY: the driver said where the variable is and how long; it stays as long as the module, which
// the value keeps. All values of one variable have its record.
unsafe impl<T: Element> Memory for Global<T> {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.address.0).unwrap_or(0);
        Region::new(address, self.bytes, Kind::Global)
            .with_home(self.module.context())
            .within(&self.allocation, self.offset)
    }
}

// SAFETY: nothing but calls reaches the bytes; the module is unloaded only when nothing uses its
// records.
unsafe impl<T: Element> Steady for Global<T> {}

// SAFETY: it is memory of the device.
unsafe impl<T: Element> Device for Global<T> {}

buffer!(Global<T>, OnDevice);
