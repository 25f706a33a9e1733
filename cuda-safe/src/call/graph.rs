//! Graphs.
//!
//! Chapter: Graph Management, whole.

pub(in crate::call) mod execution;
pub(in crate::call) mod graph;
pub(in crate::call) mod node;
pub(in crate::call) mod work;

pub use execution::*;
pub use graph::*;
pub use node::*;
pub use work::*;
