//! Memory management.
//!
//! Chapter: Memory Management, whole.

pub(in crate::call) mod allocation;
pub(in crate::call) mod array;
pub(in crate::call) mod array_copy;
pub(in crate::call) mod fill;
pub(in crate::call) mod ipc;
pub(in crate::call) mod rows;
pub(in crate::call) mod runs;
pub(in crate::call) mod unified_copy;
pub(in crate::call) mod volumes;

pub use allocation::*;
pub use array::*;
pub use array_copy::*;
pub use fill::*;
pub use ipc::*;
pub use rows::*;
pub use runs::*;
pub use unified_copy::*;
pub use volumes::*;
