//! Constants that need a word of explanation. The lists are generated; see `UNEXPOSED` and `MOVED`.

use crate::Version;

/// Is a constant that the headers declare and this crate leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexposed {
    /// The C name.
    pub name: &'static str,
    /// Why it is left out.
    pub reason: &'static str,
}

/// Is a constant whose value changed between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The C name.
    pub name: &'static str,
    /// Each value, with the first release that has it.
    pub values: &'static [(Version, u32)],
}
