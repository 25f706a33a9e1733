//! Unified addressing.
//!
//! Chapter: Unified Addressing, whole.

use core::ffi::c_void;

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUpointer_attribute};

use crate::shim::attribute::PointerAttribute;

pub(in crate::call) mod memory;

pub use memory::*;

/// Asks for an attribute of a pointer: `pointer_get_attribute::<BufferId>(&buffer)`.
#[driver(cuPointerGetAttribute)]
pub fn pointer_get_attribute(
    #[out(attribute)] data: *mut c_void,
    #[attribute(PointerAttribute)] attribute: CUpointer_attribute,
    #[any(share, bytes(1))] ptr: CUdeviceptr,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[&POINTER_GET_ATTRIBUTE];
