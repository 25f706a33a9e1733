//! One mapping of another process's memory: opened, checked, used, closed once.
#![expect(unsafe_code, reason = "vouches for an address that the driver mapped, and unmaps it")]

use std::ffi::c_char;
use std::sync::Arc;
use std::time::Duration;

use cuda_safe::shim::attribute::{
    BufferId, DeviceOrdinal, PointerAttribute, RangeSize, RangeStart,
};
use cuda_safe::shim::{Allocation, Area, Device, Kind, Memory, Region, Steady};
use cuda_safe::sys::{CUdeviceptr, CUipcMem_flags, CUipcMemHandle};
use cuda_safe::{Context, call};

use super::error::ImportError;
use super::report::report;
use crate::wire::MemoryHandle;

/// Is memory of another process that is mapped into this one. It is not unmapped by itself.
#[derive(Debug)]
pub(super) struct Mapping {
    address: CUdeviceptr,
    allocation: Arc<Allocation>,
    context: Context,
}

impl Mapping {
    /// Maps what a handle names, says that it has `size` bytes, and checks that.
    pub(super) fn open(
        context: &Context,
        handle: &MemoryHandle,
        size: u64,
    ) -> Result<Self, ImportError> {
        let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
        let address = call::ipc_open_mem_handle(context, CUipcMemHandle::from(*handle), flags)?;
        // What is said here is checked before anybody else sees it.
        let len = usize::try_from(size).unwrap_or(usize::MAX);
        let allocation = Arc::new(Allocation::new(len));
        let mapping = Self { address, allocation, context: context.clone() };
        match mapping.check(size) {
            // Others who have a pointer into it find the record by this number.
            Ok(id) => Ok(Self { allocation: Allocation::of_buffer(id, len), ..mapping }),
            Err(error) => {
                // The error that is told is the first.
                if let Err(closing) = mapping.close() {
                    report(&closing);
                }
                Err(error)
            }
        }
    }

    /// Checks what the driver says of the mapping against what was shared; answers its number for
    /// it, which is of this process.
    fn check(&self, need: u64) -> Result<u64, ImportError> {
        let id = self.ask::<BufferId>()?;
        let base = self.ask::<RangeStart>()?.0;
        if base != self.address.0 {
            return Err(ImportError::Base { need: base, have: self.address.0 });
        }
        let have = self.ask::<RangeSize>()? as u64;
        if have != need {
            return Err(ImportError::Size { need, have });
        }
        let (need, have) = (self.context.device().ordinal(), self.ask::<DeviceOrdinal>()?);
        if have != need {
            return Err(ImportError::Ordinal { need, have });
        }
        Ok(id)
    }

    fn ask<A: PointerAttribute>(&self) -> cuda_safe::Result<A::Value> {
        call::pointer_get_attribute::<A>(self)
    }

    /// Tells whether everything that used it is known to be done.
    pub(super) fn is_idle(&self) -> bool {
        self.allocation.is_idle()
    }

    /// Waits until everything that used it is done.
    pub(super) fn wait(&self) -> cuda_safe::Result<()> {
        self.allocation.wait_for_all(self.area())
    }

    /// Waits as [`wait`](Self::wait), but no longer than `limit`; answers whether it is done.
    pub(super) fn wait_timeout(&self, limit: Duration) -> cuda_safe::Result<bool> {
        self.allocation.wait_timeout(self.area(), limit)
    }

    fn area(&self) -> Area {
        Area::bytes(0, self.allocation.len())
    }

    /// Unmaps it, behind every kernel of the context.
    pub(super) fn close(self) -> cuda_safe::Result<()> {
        // SAFETY: the address was opened in this context, once, and is closed once, because this
        // takes the only value that has it; whoever closes has waited for its uses.
        unsafe { call::ipc_close_mem_handle(&self.context, self.address) }
    }
}

// SAFETY: the address was mapped in that context and is unmapped by `close` only, which takes the
// value; its size was checked. The memory stays while it is mapped, whatever the exporter does.
// All that refers to it in this process goes through this value, and so through its one record.
unsafe impl Memory for Mapping {
    #[inline]
    fn region(&self) -> Region<'_> {
        let address = usize::try_from(self.address.0).unwrap_or(0);
        Region::new(address, self.allocation.len(), Kind::Imported)
            .with_home(&self.context)
            .within(&self.allocation, 0)
    }
}

// SAFETY: nothing but calls reaches the bytes in this process; whoever closes it waits before.
unsafe impl Steady for Mapping {}

// SAFETY: the driver mapped it on the device.
unsafe impl Device for Mapping {}

impl From<CUipcMemHandle> for MemoryHandle {
    fn from(handle: CUipcMemHandle) -> Self {
        Self::Legacy(handle.reserved.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes())))
    }
}

impl From<MemoryHandle> for CUipcMemHandle {
    fn from(handle: MemoryHandle) -> Self {
        let MemoryHandle::Legacy(bytes) = handle;
        Self { reserved: bytes.map(|byte| c_char::from_ne_bytes([byte])) }
    }
}
