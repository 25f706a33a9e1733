//! Refusals of messages: which field, what was needed, what was there.

use cuda_safe::PartialBytes;
use cuda_safe::layout::LayoutError;

/// Says why bytes are no message, or values no descriptor.
///
/// `need` is what the format asks for, `have` what was there. Lengths and sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message ends before a field does.
    #[error("the message ends in `{field}` (need {need} bytes, have {have})")]
    Truncated {
        /// The field.
        field: &'static str,
        /// Bytes from the start of the message to the end of the field.
        need: usize,
        /// Bytes of the message.
        have: usize,
    },
    /// The message goes on behind its last field.
    #[error("there are bytes behind the last field (need {need} bytes, have {have})")]
    TrailingBytes {
        /// Bytes that the fields take.
        need: usize,
        /// Bytes of the message.
        have: usize,
    },
    /// The first bytes are not those of this kind of message.
    #[error("`magic` is of another format (need {need:02x?}, have {have:02x?})")]
    Magic {
        /// The format's first bytes.
        need: [u8; 8],
        /// The message's.
        have: [u8; 8],
    },
    /// The message is of a version that is not known here.
    #[error("`version` is not known (need {need}, have {have})")]
    Version {
        /// The version that is known.
        need: u16,
        /// The message's.
        have: u16,
    },
    /// The message is not as long as it says.
    #[error("`length` is not the message's (need {need}, have {have})")]
    Length {
        /// The length that the message states.
        need: u64,
        /// The length that it has.
        have: u64,
    },
    /// The message was changed on the way.
    #[error("`checksum` does not fit the bytes (need {need:#010x}, have {have:#010x})")]
    Checksum {
        /// The checksum that the message states.
        need: u32,
        /// The checksum of its bytes.
        have: u32,
    },
    /// A field that has only the value zero as yet has another.
    #[error("`{field}` must be zero (need 0, have {have})")]
    NotZero {
        /// The field.
        field: &'static str,
        /// Its first byte that is not zero.
        have: u8,
    },
    /// A field has a value that is not known here.
    #[error("`{field}` has an unknown value (need {need}, have {have})")]
    Unknown {
        /// The field.
        field: &'static str,
        /// The values that are known.
        need: &'static str,
        /// The value.
        have: u64,
    },
    /// A handle is as long as its kind says.
    #[error("`handle` has another length (need {need}, have {have})")]
    HandleLength {
        /// The length of this kind of handle.
        need: u16,
        /// The length that the message states.
        have: u16,
    },
    /// A handle is not all zero: that one was never filled in.
    #[error("`handle` was never filled in (need a byte that is not 0, have {have} zeros)")]
    HandleZero {
        /// Bytes of the handle.
        have: usize,
    },
    /// An element is a whole number of bytes, and has at least one.
    #[error("`dtype` is not of whole bytes (need a positive multiple of 8 bits, have {have})")]
    ElementSize {
        /// Bits of an element.
        have: u32,
    },
    /// A layout has at most 64 axes.
    #[error("`ndim` is too large (need at most {need}, have {have})")]
    TooManyAxes {
        /// The most axes of a layout.
        need: usize,
        /// The axes that the message states.
        have: usize,
    },
    /// The layout's items are the elements.
    #[error("`layout` has another item size than the dtype (need {need}, have {have})")]
    ItemSize {
        /// Bytes of an element.
        need: i64,
        /// Bytes of the layout's items.
        have: i64,
    },
    /// A number is one that the machine can count to.
    #[error("`{field}` is too large (need at most {need}, have {have})")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// The largest value.
        need: u64,
        /// The value.
        have: u64,
    },
    /// Shape, strides and offset are a layout.
    #[error("`shape`, `strides` and `offset` are no layout: {0}")]
    Layout(#[from] LayoutError),
    /// No element begins before the allocation does.
    #[error("the layout begins before the allocation (need offset 0 or more, have {have})")]
    BeforeAllocation {
        /// The lowest byte offset of an element.
        have: i64,
    },
    /// No element ends behind the allocation.
    #[error("the layout ends behind the allocation (need {need} bytes, have {have})")]
    BehindAllocation {
        /// Bytes of the allocation that the layout needs.
        need: u64,
        /// Bytes of the allocation.
        have: u64,
    },
}

impl From<PartialBytes> for WireError {
    fn from(refused: PartialBytes) -> Self {
        Self::ElementSize { have: refused.have }
    }
}
