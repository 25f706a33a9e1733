//! The table of calls under capture.

pub(crate) mod rows;
pub(crate) mod scene;
