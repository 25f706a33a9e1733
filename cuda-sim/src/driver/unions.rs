//! Members of C's unions, read as the tags beside them say.
//!
//! Unsafe, because only the tag says which member a program has set. Every union read here holds
//! integers, addresses and handles, whose bytes are values whatever was set.

#![expect(unsafe_code, reason = "a union's member is read as its tag says")]

use std::ffi::c_int;

use cuda_sys::CUmemLocation;

/// Returns the number that goes with a location's type.
pub(crate) const fn location_id(location: &CUmemLocation) -> c_int {
    // SAFETY: all members are integers, and a record from C is initialised as a whole.
    unsafe { location.id() }
}
