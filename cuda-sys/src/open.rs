//! C enums as open integers: any value that a library returns is a value of the type.
//!
//! A Rust `enum` would make a value that a newer driver returns undefined behaviour. The
//! representation is 32 bits on every platform; C's own signedness differs between them, so a
//! negative constant stands as its bit pattern.

use core::fmt;

/// Declares an enum of which one constant holds at a time.
macro_rules! open_enum {
    ($(#[$attribute:meta])* $name:ident { $($constant:ident = $value:literal,)* }) => {
        crate::open::integer! { $(#[$attribute])* $name { $($constant = $value,)* } }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                crate::open::constant(f, stringify!($name), Self::CONSTANTS, self.0)
            }
        }
    };
}

/// Declares an enum whose constants combine with `|`.
macro_rules! flag_enum {
    ($(#[$attribute:meta])* $name:ident { $($constant:ident = $value:literal,)* }) => {
        crate::open::integer! { $(#[$attribute])* $name { $($constant = $value,)* } }

        impl $name {
            /// Tells whether every bit of `other` is set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl core::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl core::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.0 |= other.0;
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                crate::open::flags(f, stringify!($name), Self::CONSTANTS, self.0)
            }
        }
    };
}

/// Declares what both kinds share.
macro_rules! integer {
    ($(#[$attribute:meta])* $name:ident { $($constant:ident = $value:literal,)* }) => {
        #[doc = concat!("Is C's `enum ", stringify!($name), "`; any value may come from a library.")]
        $(#[$attribute])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            $(pub const $constant: Self = Self($value);)*

            /// Every constant that the headers name, with its value.
            pub const CONSTANTS: &'static [(&'static str, u32)] =
                &[$((stringify!($constant), $value),)*];
        }
    };
}

/// Declares a type for a number that is none: an address or a handle.
macro_rules! newtype {
    ($name:ident($number:ty): $meaning:literal) => {
        #[doc = concat!("Is ", $meaning, ".")]
        #[repr(transparent)]
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $number);

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }
    };
}

pub(crate) use {flag_enum, integer, newtype, open_enum};

/// Prints the constant of that value, or the number.
pub(crate) fn constant(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    constants: &[(&str, u32)],
    value: u32,
) -> fmt::Result {
    match constants.iter().find(|(_, known)| *known == value) {
        Some((constant, _)) => f.write_str(constant),
        None => write!(f, "{name}({value})"),
    }
}

/// Prints the flags that are set, and the bits that have no name as a number.
pub(crate) fn flags(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    constants: &[(&str, u32)],
    value: u32,
) -> fmt::Result {
    if let Some((constant, _)) = constants.iter().find(|(_, known)| *known == value) {
        return f.write_str(constant);
    }
    let mut rest = value;
    let mut separator = "";
    for (constant, bits) in constants {
        if *bits != 0 && rest & bits == *bits {
            write!(f, "{separator}{constant}")?;
            separator = " | ";
            rest &= !bits;
        }
    }
    if rest != 0 || separator.is_empty() {
        write!(f, "{separator}{name}({rest:#x})")?;
    }
    Ok(())
}
