//! The functions of the driver, a file a chapter or a part of one of its manual.
//!
//! `entry` has what happens around each of them, `engine` what they are made of.

pub(crate) mod array;
pub(crate) mod array_copy;
pub(crate) mod batch_copy;
pub(crate) mod box_copy;
pub(crate) mod capture;
pub(crate) mod context;
pub(crate) mod context_settings;
pub(crate) mod descriptor;
pub(crate) mod device;
pub(crate) mod device_attribute;
pub(crate) mod device_properties;
pub(crate) mod event;
pub(crate) mod fill;
pub(crate) mod function;
pub(crate) mod graph;
pub(crate) mod host_function;
pub(crate) mod host_memory;
pub(crate) mod initialization;
pub(crate) mod ipc;
pub(crate) mod launch;
pub(crate) mod library;
pub(crate) mod linear_copy;
pub(crate) mod link;
pub(crate) mod location;
pub(crate) mod managed;
pub(crate) mod managed_advice;
pub(crate) mod memory;
pub(crate) mod memory_operations;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod peer;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod pool_sharing;
pub(crate) mod primary_context;
pub(crate) mod stream;
pub(crate) mod stream_attribute;
pub(crate) mod stream_memory;
pub(crate) mod texture_object;
pub(crate) mod unions;
pub(crate) mod virtual_memory;
pub(crate) mod virtual_sharing;
