//! What is behind the functions: memory, queued work, and the order in which it runs.

pub(crate) mod access;
pub(crate) mod address_space;
pub(crate) mod batch;
pub(crate) mod binary;
pub(crate) mod clock;
pub(crate) mod copy;
pub(crate) mod current;
pub(crate) mod execute;
pub(crate) mod handle;
pub(crate) mod image;
pub(crate) mod kernel;
pub(crate) mod lane;
pub(crate) mod managed;
pub(crate) mod mapping;
pub(crate) mod module;
pub(crate) mod operand;
pub(crate) mod pool;
pub(crate) mod queue;
pub(crate) mod raw;
pub(crate) mod registry;
pub(crate) mod scheduler;
pub(crate) mod state;
pub(crate) mod value;
pub(crate) mod virtual_memory;
pub(crate) mod work;
