//! What an import lends to calls and views.
#![expect(unsafe_code, reason = "vouches for memory that is mapped while it is borrowed")]

use std::sync::Arc;

use cuda_safe::shim::{Device, Kind, Memory, Region, Steady};

use super::shared::Shared;

/// Is the memory of an import: an operand of the driver's calls, and what views are made of.
///
/// Driver: memory of [`cuIpcOpenMemHandle_v2`](cuda_safe::call::ipc_open_mem_handle), chapter
/// Memory Management.
#[derive(Debug)]
pub struct ImportedMemory(pub(super) Arc<Shared>);

// SAFETY: the mapping vouches for the region, and is there as long as what it is shared by. Other
// values that refer to the same bytes have the same mapping, and so the same record.
unsafe impl Memory for ImportedMemory {
    #[inline]
    fn region(&self) -> Region<'_> {
        match self.0.mapping() {
            Some(mapping) => mapping.region(),
            None => Region::new(0, 0, Kind::Imported),
        }
    }
}

// SAFETY: nothing but calls reaches the bytes in this process; whoever closes the mapping waits.
unsafe impl Steady for ImportedMemory {}

// SAFETY: the driver mapped it on the device.
unsafe impl Device for ImportedMemory {}
