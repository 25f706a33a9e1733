//! Unified addressing.
//!
//! Chapter: Unified Addressing.

use core::ffi::c_void;

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUpointer_attribute};

use crate::shim::attribute::PointerAttribute;

/// Asks for an attribute of a pointer: `pointer_get_attribute::<BufferId>(&buffer)`.
#[driver(cuPointerGetAttribute)]
pub fn pointer_get_attribute(
    #[out(attribute)] data: *mut c_void,
    #[attribute(PointerAttribute)] attribute: CUpointer_attribute,
    #[any(share, bytes(1))] ptr: CUdeviceptr,
);
