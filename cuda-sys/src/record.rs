//! What every C struct and union has: it starts as zeroed memory, and the members of its anonymous
//! unions have accessors.

use core::ffi::c_uint;

/// Gives each record `zeroed()` and `Default`.
macro_rules! zeroed {
    ($($record:ident,)*) => {
        $(impl $record {
            /// Returns it with every byte zero, as the driver wants what is not set.
            pub const fn zeroed() -> Self {
                let record = core::mem::MaybeUninit::<Self>::zeroed();
                // SAFETY: a record of a C header holds integers, raw pointers and optional
                // function pointers; all of them may be zero.
                unsafe { record.assume_init() }
            }
        }

        impl Default for $record {
            fn default() -> Self {
                Self::zeroed()
            }
        })*
    };
}

/// Gives a record access to the members of its anonymous unions and structs, by names that stay
/// when a later header moves a member into or out of one.
macro_rules! accessors {
    ($record:ident { $($get:ident $set:ident: $ty:ty = $($path:ident).+,)* }) => {
        impl $record {
            $(
                #[doc = concat!("Returns the member `", stringify!($get), "`.")]
                ///
                /// # Safety
                ///
                /// It is the member that was last set, or the record was zeroed or filled by the
                /// driver before.
                pub const unsafe fn $get(&self) -> $ty {
                    // SAFETY: the caller's promise says that these bytes hold a value.
                    unsafe { self.$($path).+ }
                }

                #[doc = concat!("Sets the member `", stringify!($get), "`.")]
                pub const fn $set(&mut self, value: $ty) {
                    self.$($path).+ = value;
                }
            )*
        }
    };
}

pub(crate) use {accessors, zeroed};

/// Puts a record's size and version into one number, as NVML wants it in the `version` field.
#[expect(clippy::cast_possible_truncation, reason = "NVML's records are far below 16 MiB")]
#[cfg_attr(not(feature = "nvml"), expect(dead_code, reason = "only NVML numbers its records"))]
pub(crate) const fn struct_version(size: usize, version: c_uint) -> c_uint {
    size as c_uint | version << 24
}
