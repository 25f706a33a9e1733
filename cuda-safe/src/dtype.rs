//! Types of elements that are known at run time: the triple of DLPack.
//!
//! Not here: which types of Rust they are, which is [`Typed`](crate::Typed).

mod names;

use std::fmt;

pub use names::UnknownType;

/// Is the type of an element, as DLPack counts types: a code, bits, lanes.
///
/// The numbers are DLPack's own, so that every type that it knows passes, also one that has no name
/// here. The bytes of an element are little-endian. `Display` writes NumPy's name, and `parse` reads
/// it, or NumPy's short form:
///
/// ```
/// use cuda_safe::DType;
///
/// assert_eq!("<f4".parse(), Ok(DType::F32));
/// assert_eq!("uint8".parse(), Ok(DType::U8));
/// assert_eq!(DType::BF16.to_string(), "bfloat16");
/// assert_eq!(DType::C64.typestr().as_deref(), Some("<c8"));
/// # Ok::<(), cuda_safe::UnknownType>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// Refuses a type whose elements are not whole bytes, or have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an element must have whole bytes (need a positive multiple of 8 bits, have {have})")]
pub struct PartialBytes {
    /// Bits an element.
    pub have: u32,
}

macro_rules! dtypes {
    ($($(#[$meta:meta])* $name:ident = ($code:literal, $bits:literal);)*) => {
        impl DType { $(
            $(#[$meta])*
            pub const $name: Self = Self { code: $code, bits: $bits, lanes: 1 };
        )* }
    };
}

dtypes! {
    /// Signed, 8 bits.
    I8 = (0, 8);
    /// Signed, 16 bits.
    I16 = (0, 16);
    /// Signed, 32 bits.
    I32 = (0, 32);
    /// Signed, 64 bits.
    I64 = (0, 64);
    /// Unsigned, 8 bits.
    U8 = (1, 8);
    /// Unsigned, 16 bits.
    U16 = (1, 16);
    /// Unsigned, 32 bits.
    U32 = (1, 32);
    /// Unsigned, 64 bits.
    U64 = (1, 64);
    /// Floating point, 16 bits.
    F16 = (2, 16);
    /// Floating point, 32 bits.
    F32 = (2, 32);
    /// Floating point, 64 bits.
    F64 = (2, 64);
    /// Floating point with the exponent of 32 bits in 16.
    BF16 = (4, 16);
    /// Complex, twice 32 bits.
    C64 = (5, 64);
    /// Complex, twice 64 bits.
    C128 = (5, 128);
    /// Truth, a byte.
    BOOL = (6, 8);
    /// Floating point, 3 bits of exponent and 4 of mantissa.
    F8_E3M4 = (7, 8);
    /// Floating point, 4 bits of exponent and 3 of mantissa.
    F8_E4M3 = (8, 8);
    /// As [`F8_E4M3`](Self::F8_E4M3), with a bias of 11, one zero and no infinity.
    F8_E4M3B11FNUZ = (9, 8);
    /// As [`F8_E4M3`](Self::F8_E4M3), without infinity.
    F8_E4M3FN = (10, 8);
    /// As [`F8_E4M3FN`](Self::F8_E4M3FN), with one zero.
    F8_E4M3FNUZ = (11, 8);
    /// Floating point, 5 bits of exponent and 2 of mantissa.
    F8_E5M2 = (12, 8);
    /// As [`F8_E5M2`](Self::F8_E5M2), with one zero and no infinity.
    F8_E5M2FNUZ = (13, 8);
    /// A power of two, 8 bits of exponent.
    F8_E8M0FNU = (14, 8);
}

impl DType {
    /// Makes a type from DLPack's numbers.
    ///
    /// # Errors
    ///
    /// Refuses elements of no bits, and of bits that are not whole bytes.
    pub fn new(code: u8, bits: u8, lanes: u16) -> Result<Self, PartialBytes> {
        let have = u32::from(bits) * u32::from(lanes);
        if have == 0 || !have.is_multiple_of(8) {
            return Err(PartialBytes { have });
        }
        Ok(Self { code, bits, lanes })
    }

    /// Returns DLPack's number for the kind of numbers.
    pub const fn code(self) -> u8 {
        self.code
    }

    /// Returns the bits of one lane.
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// Returns how many numbers an element has.
    pub const fn lanes(self) -> u16 {
        self.lanes
    }

    /// Returns the bytes of an element.
    pub fn size(self) -> i64 {
        i64::from(self.bits) * i64::from(self.lanes) / 8
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
