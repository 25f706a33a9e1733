//! What an element is: the triple of DLPack.

use std::fmt;

use super::WireError;

/// Is the type of an element, as DLPack counts types: a code, bits, lanes.
///
/// The numbers are DLPack's own, so that every type that it knows passes, also one that is not
/// known here. The bytes of an element are little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DType {
    code: u8,
    bits: u8,
    lanes: u16,
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
}

impl DType {
    /// Makes a type from DLPack's numbers.
    ///
    /// # Errors
    ///
    /// Refuses elements of no bits, and of bits that are not whole bytes.
    pub fn new(code: u8, bits: u8, lanes: u16) -> Result<Self, WireError> {
        let have = u32::from(bits) * u32::from(lanes);
        if have == 0 || have % 8 != 0 {
            return Err(WireError::ElementSize { have });
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

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, bits, lanes } = self;
        match code {
            0 => write!(f, "int{bits}")?,
            1 => write!(f, "uint{bits}")?,
            2 => write!(f, "float{bits}")?,
            4 => write!(f, "bfloat{bits}")?,
            5 => write!(f, "complex{bits}")?,
            6 => f.write_str("bool")?,
            _ => write!(f, "type {code} of {bits} bits")?,
        }
        if *lanes == 1 { Ok(()) } else { write!(f, "x{lanes}") }
    }
}
