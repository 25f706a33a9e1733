//! Virtual memory: addresses that are reserved, and physical memory that is mapped there.
//!
//! | type | is | its drop |
//! |---|---|---|
//! | [`PhysicalMemory`] | memory of a device, without an address | releases it, and waits for nothing |
//! | [`AddressRange`] | reserved addresses, with memory mapped from the first on | unmaps, releases, and frees the addresses, once nothing uses them |
//!
//! Memory that is mapped belongs to its range until it is unmapped: no bytes have two addresses, so
//! that whether two operands share bytes is seen.

mod physical;
mod range;

use cuda_sys::CUmemAccess_flags;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Quantity, Result, Rule};

pub use physical::PhysicalMemory;
pub use range::AddressRange;
pub(crate) use range::Reservation;

/// Says what a device may do with mapped memory.
///
/// Driver: [`CUmemAccess_flags`](crate::sys::CUmemAccess_flags), chapter Virtual Memory Management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceAccess {
    /// Nothing.
    Denied,
    /// It may read it.
    Read,
    /// It may read and write it.
    ReadWrite,
}

impl DeviceAccess {
    const fn flags(self) -> CUmemAccess_flags {
        match self {
            Self::Denied => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
            Self::Read => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            Self::ReadWrite => CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        }
    }

    const fn word(self) -> Quantity {
        Quantity::Word(match self {
            Self::Denied => "no access",
            Self::Read => "reading",
            Self::ReadWrite => "reading and writing",
        })
    }
}

/// Refuses a device that has no virtual memory; of a driver that knows none, the call itself says so.
fn check_able(call: &'static str, context: &Context) -> Result<()> {
    if context.device().has_virtual_memory()? == Some(false) {
        let need = Quantity::Word("virtual memory management");
        return Err(Error::refused(call, "context", Rule::Able, need, Quantity::Word("none")));
    }
    Ok(())
}

/// Refuses a device that can't reach the memory of another: the driver would say so at the first use
/// only.
fn check_reach(call: &'static str, device: Device, owner: Device) -> Result<()> {
    if device == owner || device.can_reach(owner)? {
        return Ok(());
    }
    let need = Quantity::Word("a device that reaches the memory's");
    let have = Quantity::Device(device.ordinal());
    Err(Error::refused(call, "device", Rule::Able, need, have))
}
