//! What a checked call is made of: operands, gates, use records, contexts, contracts.
//!
//! A function of [`call`](crate::call) goes through the same steps each time, and each step is one
//! function of a module here:
//!
//! | step | does | in |
//! |---|---|---|
//! | present | takes the function from its slot, typed as it was annotated | `gate` |
//! | derive | computes the parameters that follow from operands | `gate` |
//! | home | finds the one context of all operands | `home` |
//! | reach | refuses operands that are too small, misplaced or of the wrong kind | `gate` |
//! | disjoint | refuses operands that share bytes of which some are written | `gate` |
//! | settle | enters the context, and waits for earlier uses that the call must not pass | `home`, `settle` |
//! | call | is the one unsafe line | |
//! | touch | records the uses that the call leaves behind | `settle` |
//! | check | makes an error of the driver's answer | `gate` |
//! | outs | returns what the driver wrote | |
//!
//! Whoever has memory of their own to pass to calls implements [`Memory`] and what follows it.

mod adopted;
mod area;
mod arguments;
pub mod attribute;
mod callback;
mod contract;
mod descriptor;
mod gate;
mod home;
mod list;
mod operand;
mod ordered;
mod pointer;
mod records;
mod region;
mod relaxed;
mod settle;
mod timeline;
mod uses;
mod value;

pub(crate) mod raw;

pub use adopted::Adopted;
pub(crate) use adopted::parameter_sizes;
pub use area::Area;
pub use arguments::{
    Argument, Arguments, Implied, KernelMemory, Reads, Used, Writes, implied, reads, writes,
};
pub use callback::pending_callbacks;
pub use contract::{Contract, Order, Row};
pub use operand::{Access, Device, Extent, Handle, Host, Memory, Steady, Volume};
pub use region::{Allocation, Kind, Region};
pub use value::{Output, Plain, Text};

pub(crate) use arguments::{Given, Passed, arity, sealed};
pub(crate) use callback::{Job, Posted, Trampoline, forget, is_inside, outside};
pub(crate) use descriptor::{descriptor, device_address, fields, host_address, memory_type, null};
pub(crate) use gate::{
    Size, align, base, bytes, check, disjoint, extent, fit, kind, opaque, present, quotient, rows,
    volume,
};
pub(crate) use home::{enter, home};
pub(crate) use list::{Handles, Operands, addresses, count, gather, list, list_mut};
pub(crate) use operand::{Held, Operand, Until, address};
pub(crate) use ordered::{Freed, first_write, free, keep, reclaim};
pub(crate) use pointer::{About, number_of, record_of};
pub(crate) use records::{alias, forget_alias};
pub(crate) use relaxed::Relaxed;
pub(crate) use settle::{default_timeline, fence, settle, settle_host, timeline, touch};
pub(crate) use timeline::{Block, Timeline, of_a_capture};
pub(crate) use value::{any_bytes, plain, plain_items, plain_record, text, text_at, zeroed};

pub(crate) use crate::context::Context;
pub(crate) use crate::error::Result;
pub use crate::stream::AnyStream;
pub(crate) use crate::stream::{Stream, on};
pub(crate) use cuda_sys as sys;
pub(crate) use cuda_sys::CUresult as Status;
