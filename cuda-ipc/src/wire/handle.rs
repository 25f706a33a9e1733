//! By what the driver opens memory of another process.

use std::fmt;

use super::WireError;

/// The bytes of a legacy memory handle (`CU_IPC_HANDLE_SIZE`).
pub const LEGACY_HANDLE_SIZE: usize = 64;

/// Is what the driver opens memory of another process by.
///
/// A handle neither names a lifetime nor authenticates anybody: the driver opens whatever is at its
/// place now, for whoever has the bytes. What is around it in a descriptor is for that reason.
///
/// Driver: `CUipcMemHandle`, chapter Memory Management.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryHandle {
    /// Of `cuIpcGetMemHandle`: names an allocation of `cuMemAlloc` from its first byte on.
    Legacy([u8; LEGACY_HANDLE_SIZE]),
}

impl MemoryHandle {
    const LEGACY: u16 = 1;

    /// Returns the number that stands for its kind in a descriptor.
    pub const fn kind(&self) -> u16 {
        match self {
            Self::Legacy(_) => Self::LEGACY,
        }
    }

    /// Returns its bytes, which mean something to the driver only.
    pub const fn bytes(&self) -> &[u8] {
        match self {
            Self::Legacy(bytes) => bytes,
        }
    }

    /// Checks that a handle was filled in.
    pub(super) fn check(&self) -> Result<(), WireError> {
        let bytes = self.bytes();
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(WireError::HandleZero { have: bytes.len() });
        }
        Ok(())
    }

    /// Checks a kind and a length; only one of each is known.
    pub(super) fn check_kind(kind: u16, length: u16) -> Result<(), WireError> {
        const LENGTH: u16 = 64;
        if kind != Self::LEGACY {
            let need = "1 (legacy memory handle)";
            return Err(WireError::Unknown { field: "handle kind", need, have: kind.into() });
        }
        if length != LENGTH {
            return Err(WireError::HandleLength { need: LENGTH, have: length });
        }
        Ok(())
    }
}

impl fmt::Debug for MemoryHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes hold an address of the exporter: they are not for logs.
        f.debug_struct("MemoryHandle").field("kind", &self.kind()).finish_non_exhaustive()
    }
}
