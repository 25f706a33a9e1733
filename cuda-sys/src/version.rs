//! A CUDA version as an ordered value.

use core::fmt;

/// Is a version of CUDA, `12.4`, numbered as the driver does: `1000 * major + 10 * minor`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(u32);

impl Version {
    /// Makes the version of a major and a minor number.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self(1000 * major + 10 * minor)
    }

    /// Reads the number that `cuDriverGetVersion` gives, and `CUDA_VERSION`.
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number that `cuDriverGetVersion` gives.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the first of its two numbers.
    pub const fn major(self) -> u32 {
        self.0 / 1000
    }

    /// Returns the second of its two numbers.
    pub const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({self})")
    }
}
