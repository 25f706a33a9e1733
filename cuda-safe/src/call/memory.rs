//! Memory management.
//!
//! Chapter: Memory Management.

mod ipc;
mod rows;
mod runs;

pub use ipc::*;
pub use rows::*;
pub use runs::*;
