//! The driver's calls, checked: one function a C function, with the operands' types and facts on
//! its signature.
//!
//! Nothing here but `#[driver]` items and what the language of `cuda-codegen` cannot say. Each call
//! is one driver call (beside entering a context and inserted waits), refuses what the driver
//! would read or write out of bounds, and answers as the driver does. A file is a chapter of the
//! driver's manual, and says so; beside each function stands its [`Contract`](crate::shim::Contract), in
//! capitals. Calls that have no function here are listed in `call/unannotated.txt`, with the reason.
//!
//! *A call in `cuda-sys` is valid if the call of the same name here, with the same operands, would
//! not refuse; all other use may be undefined behaviour.*

mod context;
mod contracts;
mod coredump;
mod device;
mod egl;
mod error;
mod event;
mod execution;
mod external;
mod gl;
mod graph;
mod graphics;
mod green_context;
mod initialization;
mod library;
mod memory;
mod memory_operation;
mod module;
mod multicast;
mod occupancy;
mod peer;
mod pool;
mod primary_context;
mod profiler;
mod stream;
mod surface_object;
mod tensor_map;
mod texture_object;
mod unified;
mod version;
mod virtual_memory;

pub use context::*;
pub use contracts::contracts;
pub use coredump::*;
pub use device::*;
pub use egl::*;
pub use error::*;
pub use event::*;
pub use execution::*;
pub use external::*;
pub use gl::*;
pub use graph::*;
pub use graphics::*;
pub use green_context::*;
pub use initialization::*;
pub use library::*;
pub use memory::*;
pub use memory_operation::*;
pub use module::*;
pub use multicast::*;
pub use occupancy::*;
pub use peer::*;
pub use pool::*;
pub use primary_context::*;
pub use profiler::*;
pub use stream::*;
pub use surface_object::*;
pub use tensor_map::*;
pub use texture_object::*;
pub use unified::*;
pub use version::*;
pub use virtual_memory::*;
