//! A CUDA release as an ordered value.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context as _, Error};
use serde::Deserialize;

/// Is a CUDA release, `12.4`, as the headers number it: `1000 * major + 10 * minor`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Release(pub(crate) u32);

impl Release {
    /// Reads the value of `CUDA_VERSION`, or the number that ends a `PFN_…_v12040` type.
    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

impl FromStr for Release {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let unreadable = || format!("`{text}` is no CUDA release; write it as 12.4");
        let (major, minor) = text.split_once('.').with_context(unreadable)?;
        let major: u32 = major.parse().with_context(unreadable)?;
        let minor: u32 = minor.parse().with_context(unreadable)?;
        Ok(Self(1000 * major + 10 * minor))
    }
}

impl TryFrom<String> for Release {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}
