//! The golden expansions compile as they stand.

#![expect(clippy::allow_attributes, reason = "the toy serves several tests")]
#![allow(dead_code, missing_docs, unreachable_pub, reason = "expansions to compile, not to call")]
#![allow(unused_parens, unused_qualifications, reason = "an expansion stands anywhere")]
#![allow(clippy::all, reason = "as above: what the attribute emits is not looked at by clippy")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "an expansion has no comments")]

#[path = "toy/shim.rs"]
mod shim;

use std::ffi::{c_char, c_int, c_void};

use shim::{Address, Attribute, BoxCopy, Function, RawStream, Shape, Unit};

include!("golden/expanded.rs");
