//! Graphs.
//!
//! Chapter: Graph Management, whole.

pub(in crate::call) mod execution;
pub(in crate::call) mod node;
pub(in crate::call) mod whole;
pub(in crate::call) mod work;

pub use execution::*;
pub use node::*;
pub use whole::*;
pub use work::*;
