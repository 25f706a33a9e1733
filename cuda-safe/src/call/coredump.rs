//! Core dumps.
//!
//! Chapter: Coredump Attributes Control API.

use core::ffi::c_void;

use cuda_codegen::driver;
use cuda_sys::CUcoredumpSettings;

/// Asks for a setting of the context's core dumps; answers how many bytes it is.
#[driver(cuCoredumpGetAttribute, order = host, home = given)]
pub fn coredump_get_attribute(
    #[value] setting @ attrib: CUcoredumpSettings,
    #[host(write, bytes(size))] value: *mut c_void,
    #[from(value.len)] size: *mut usize,
);

/// Asks for a setting of core dumps; answers how many bytes it is.
#[driver(cuCoredumpGetAttributeGlobal, order = host, home = none)]
pub fn coredump_get_attribute_global(
    #[value] setting @ attrib: CUcoredumpSettings,
    #[host(write, bytes(size))] value: *mut c_void,
    #[from(value.len)] size: *mut usize,
);

/// Sets how the context's core dumps are made.
#[driver(cuCoredumpSetAttribute, order = host, home = given)]
pub fn coredump_set_attribute(
    #[value] setting @ attrib: CUcoredumpSettings,
    #[host(read, bytes(size))] value: *mut c_void,
    #[from(value.len)] size: *mut usize,
);

/// Sets how core dumps are made.
#[driver(cuCoredumpSetAttributeGlobal, order = host, home = none)]
pub fn coredump_set_attribute_global(
    #[value] setting @ attrib: CUcoredumpSettings,
    #[host(read, bytes(size))] value: *mut c_void,
    #[from(value.len)] size: *mut usize,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &COREDUMP_GET_ATTRIBUTE,
    &COREDUMP_GET_ATTRIBUTE_GLOBAL,
    &COREDUMP_SET_ATTRIBUTE,
    &COREDUMP_SET_ATTRIBUTE_GLOBAL,
];
