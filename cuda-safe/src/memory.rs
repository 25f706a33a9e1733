//! The types that own memory, and what may stand in it.
//!
//! | type | memory | its drop |
//! |---|---|---|
//! | [`DeviceBuffer`] | of a device, from a pool | waits for nothing: the free comes on the stream, behind every use |
//! | [`DeviceBuffer`] | of a device, plain or in padded rows | waits for nothing that uses other memory unless the buffer is idle: then `cuMemFree` waits for every kernel of the context |
//! | [`ManagedBuffer`] | of host and devices, moved to where it is used | as that of plain memory |
//! | [`PinnedBuffer`] | of the host, page-locked | the same, with `cuMemFreeHost` |
//! | [`WriteCombinedBuffer`] | of the host, page-locked; the CPU only writes it | the same |
//! | [`RegisteredHost`] | a vector or boxed slice, page-locked | the same, with `cuMemHostUnregister` |
//! | [`MemoryPool`] | what memory of pools comes from | waits for nothing |
//! | [`AddressRange`] | of devices, mapped to addresses that were reserved | waits for nothing: it is unmapped once nothing uses it |
//! | [`PhysicalMemory`] | of a device, without an address | waits for nothing |
//! | [`Global`](crate::Global) | a variable of a module | lets go of its module |
//! | [`External`] | of others, with what owns it | drops the owner, once no stream uses the memory |
//!
//! A buffer that a stream still uses when it is dropped is freed later: by the next allocation, drop
//! or synchronise of the context that finds it idle, at the latest with the context. A forgotten
//! buffer leaks its memory, and nothing else. [`registered()`] lends memory that is only borrowed, and
//! waits for every use before it returns.
//!
//! Parts of all of them are a [`Slice`] or [`SliceMut`].
//!
//! | type | `Send` | `Sync` |
//! |---|---|---|
//! | [`DeviceBuffer`], [`ManagedBuffer`], [`PinnedBuffer`], [`WriteCombinedBuffer`], [`Registered`], [`AddressRange`] | if the elements are | if the elements are |
//! | [`RegisteredHost`] | yes: its elements must be | if the elements are |
//! | [`Slice`] | if the elements are `Sync` | if the elements are |
//! | [`SliceMut`] | if the elements are | if the elements are |
//! | [`MemoryPool`], [`PoolProperties`], [`PhysicalMemory`], [`Location`], [`Advice`], [`DeviceAccess`] | yes | yes |

mod device;
mod external;
mod fill;
mod locked;
mod managed;
mod pinned;
mod pool;
mod registered;
mod slice;
mod threads;
mod virtual_memory;
mod write_combined;

pub use device::DeviceBuffer;
pub use external::External;
pub(crate) use fill::fill;
pub use managed::{Advice, Location, ManagedBuffer};
pub use pinned::PinnedBuffer;
pub use pool::{MemoryPool, PoolProperties};
pub use registered::{Registered, RegisteredHost, registered, registered_read_only};
pub use slice::{DevicePlace, HostPlace, OnBoth, OnDevice, OnHost, Place, Slice, SliceMut};
pub(crate) use slice::{buffer, device_address};
pub(crate) use virtual_memory::Reservation;
pub use virtual_memory::{AddressRange, DeviceAccess, PhysicalMemory};
pub use write_combined::WriteCombinedBuffer;

use crate::error::{Error, Quantity, Result, Rule};

/// Is what may stand in memory that a device reads and writes: any bytes are a value, and a value
/// has no padding.
pub trait Element: bytemuck::Pod {}

impl<T: bytemuck::Pod> Element for T {}

/// Returns how many bytes `len` elements have.
fn byte_count<T>(call: &'static str, len: usize) -> Result<usize> {
    // What the driver allocates is aligned so.
    const { assert!(align_of::<T>() <= 256) };
    len.checked_mul(size_of::<T>()).ok_or_else(|| {
        Error::refused(call, "len", Rule::Fit, Quantity::Overflow, usize::MAX.into())
    })
}

/// Returns how many elements of `T` so many bytes are.
pub(crate) fn divided<T: Element>(call: &'static str, bytes: usize) -> Result<usize> {
    match (bytes.checked_div(size_of::<T>()), bytes.checked_rem(size_of::<T>())) {
        (Some(len), Some(0)) => Ok(len),
        // Elements without bytes are as many as anybody says, so that nobody can say.
        (None, _) | (_, None) => {
            let (need, have) = (Quantity::Word("elements of at least one byte"), 0_usize.into());
            Err(Error::refused(call, "len", Rule::Quotient, need, have))
        }
        (Some(len), Some(_)) => {
            let need = (len * size_of::<T>()).into();
            Err(Error::refused(call, "len", Rule::Quotient, need, bytes.into()))
        }
    }
}
