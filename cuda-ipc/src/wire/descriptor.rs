//! What a descriptor says, and the rules that hold of it. Not here: its bytes.

use cuda_safe::StridedLayout;

use super::{DType, MemoryHandle, WireError};
use crate::identity::{DeviceUuid, Identity, Nonce};

/// Is where memory comes from: whose it is and how it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The process that shares it.
    pub exporter: Identity,
    /// The device that it is memory of.
    pub device: DeviceUuid,
    /// The driver's number for the allocation in the exporter, which no other there has or had.
    pub buffer_id: u64,
    /// The name of the export.
    pub nonce: Nonce,
    /// By what the driver opens it.
    pub handle: MemoryHandle,
    /// The bytes of the whole allocation.
    pub allocation_size: u64,
}

/// Says what memory is shared, by whom, and how an array lies in it.
///
/// Whoever holds a value knows that every element of the array lies in the allocation, and that the
/// handle is not empty. That the handle opens the allocation that is meant, nobody knows: that is
/// checked when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    source: Source,
    dtype: DType,
    layout: StridedLayout,
}

impl Descriptor {
    /// Makes the descriptor of an array in shared memory.
    ///
    /// The layout's byte offset counts from the allocation's first byte.
    ///
    /// # Errors
    ///
    /// Refuses a layout whose items are not of the type's size, one that reaches out of the
    /// allocation, and a handle of zeros.
    pub fn new(source: Source, dtype: DType, layout: StridedLayout) -> Result<Self, WireError> {
        source.handle.check()?;
        let (need, have) = (dtype.size(), layout.item_size());
        if need != have {
            return Err(WireError::ItemSize { need, have });
        }
        check_bounds(&layout, source.allocation_size)?;
        Ok(Self { source, dtype, layout })
    }

    /// Returns where the memory comes from.
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the type of the elements.
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns how the array lies in the allocation; its byte offset counts from the first byte.
    pub const fn layout(&self) -> &StridedLayout {
        &self.layout
    }
}

/// Checks that every byte of every element lies in `size` bytes; without elements, the offset.
fn check_bounds(layout: &StridedLayout, size: u64) -> Result<(), WireError> {
    let (first, last) = match layout.byte_bounds() {
        Some(bounds) => bounds,
        // No element, so no last byte: the one before the offset will do.
        None => (layout.byte_offset(), layout.byte_offset().saturating_sub(1)),
    };
    if first < 0 {
        return Err(WireError::BeforeAllocation { have: first });
    }
    // `last` is at least -1, and at most the largest signed number.
    let need = last.checked_add(1).map_or(1 << 63, i64::cast_unsigned);
    if need > size {
        return Err(WireError::BehindAllocation { need, have: size });
    }
    Ok(())
}
