//! The table of calls under capture.

pub(crate) mod kernel_rows;
pub(crate) mod memory_rows;
pub(crate) mod rows;
pub(crate) mod scene;
