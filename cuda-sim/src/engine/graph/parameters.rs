//! C structs with pointers in them, kept as values.
//!
//! Unsafe, because a pointer does not pass between threads by itself.

#![expect(unsafe_code, reason = "a kept C struct passes between the threads of the program")]

use std::fmt;

/// Is a C struct that a program gave and gets back, laid out as that. The pointers in it are not
/// followed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Plain<T>(pub(crate) T);

// SAFETY: only the bits of the struct are kept here; whoever follows a pointer in it has the
// promise of the call that it came with.
unsafe impl<T: Copy> Send for Plain<T> {}

// SAFETY: as above; nothing changes the struct in its place.
unsafe impl<T: Copy> Sync for Plain<T> {}

impl<T> fmt::Debug for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("...")
    }
}
