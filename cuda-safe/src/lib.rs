//! Typed, checked CUDA memory: strided layouts, and on them views, buffers and copies.
//!
//! [`layout`] describes how an array lies in memory. It needs no driver, no device and no feature:
//!
//! ```
//! use cuda_safe::StridedLayout;
//! use cuda_safe::layout::s;
//!
//! // A 576 × 768 image of 3-byte pixels, each row padded to 2560 bytes.
//! let image = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
//! let part = image.slice(&s![100..400, 50..350, ..])?;
//! assert_eq!(part.shape(), [300, 300, 3]);
//! assert_eq!(part.byte_offset(), 100 * 2560 + 50 * 3);
//! # Ok::<(), cuda_safe::layout::LayoutError>(())
//! ```
#![cfg_attr(feature = "driver", doc = include_str!("driver.md"))]
#![deny(unsafe_code)]

pub mod layout;

mod dtype;

#[cfg(feature = "driver")]
pub mod call;
#[cfg(feature = "driver")]
mod context;
#[cfg(feature = "driver")]
mod copy;
#[cfg(feature = "driver")]
mod deferred;
#[cfg(feature = "driver")]
mod device;
#[cfg(feature = "driver")]
mod error;
#[cfg(feature = "driver")]
mod event;
#[cfg(feature = "driver")]
mod fork;
#[cfg(feature = "driver")]
mod memory;
#[cfg(feature = "driver")]
mod module;
#[cfg(feature = "driver")]
pub mod shim;
#[cfg(feature = "driver")]
mod stream;
#[cfg(feature = "driver")]
mod view;
#[cfg(feature = "driver")]
mod wait;

#[cfg(all(doctest, feature = "driver"))]
#[doc = include_str!("holes.md")]
mod holes {}

/// The driver as it is, unchecked: a call there is valid if the call of the same name in [`call`],
/// with the same operands, would not refuse; all other use may be undefined behaviour.
#[cfg(feature = "driver")]
pub use cuda_sys as sys;

#[cfg(feature = "driver")]
pub use context::Context;
#[cfg(feature = "driver")]
pub use copy::{Plan, copy};
#[cfg(feature = "driver")]
pub use device::{Device, initialize};
pub use dtype::{DType, PartialBytes, UnknownType};
#[cfg(feature = "driver")]
pub use error::{Cause, Details, Error, Quantity, Result, Rule};
#[cfg(feature = "driver")]
pub use event::{Event, EventOptions, TimedEvent};
pub use layout::StridedLayout;
#[cfg(feature = "driver")]
pub use memory::{
    AddressRange, Advice, DeviceAccess, DeviceBuffer, DevicePlace, Element, External, HostPlace,
    Location, ManagedBuffer, MemoryPool, OnBoth, OnDevice, OnHost, PhysicalMemory, PinnedBuffer,
    Place, PoolProperties, Registered, RegisteredHost, Slice, SliceMut, WriteCombinedBuffer,
    registered, registered_read_only,
};
#[cfg(feature = "driver")]
pub use module::{Function, Global, LaunchShape, Module, implied, inout, input, output};
#[cfg(feature = "driver")]
pub use stream::{PerThreadStream, Stream, StreamOptions};
#[cfg(feature = "driver")]
pub use view::{AsView, ChunksMut, Dynamic, Item, Typed, View, ViewMut};
