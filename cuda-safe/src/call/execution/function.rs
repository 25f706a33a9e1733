//! What is asked of and said of kernels.

use core::ffi::{c_char, c_int};

use cuda_codegen::driver;
use cuda_sys::{CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUmodule};

/// Asks for an attribute of a kernel.
#[driver(cuFuncGetAttribute, home = handle)]
pub fn func_get_attribute(
    #[out] value @ pi: *mut c_int,
    #[value] attribute @ attrib: CUfunction_attribute,
    #[handle] function @ hfunc: CUfunction,
);

/// Sets an attribute of a kernel.
#[driver(cuFuncSetAttribute, home = handle)]
pub fn func_set_attribute(
    #[handle] function @ hfunc: CUfunction,
    #[value] attribute @ attrib: CUfunction_attribute,
    #[value] value: c_int,
);

/// Says what a kernel prefers, cache or shared memory.
#[driver(cuFuncSetCacheConfig, home = handle)]
pub fn func_set_cache_config(#[handle] function @ hfunc: CUfunction, #[value] config: CUfunc_cache);

/// Asks for the module of a kernel.
#[driver(cuFuncGetModule, home = handle)]
pub fn func_get_module(#[out] module @ hmod: *mut CUmodule, #[handle] function @ hfunc: CUfunction);

/// Asks for a kernel's name.
#[driver(cuFuncGetName, home = handle)]
pub fn func_get_name(
    #[text(kept)] name: *mut *const c_char,
    #[handle] function @ hfunc: CUfunction,
);

/// Counts a kernel's parameters.
#[driver(cuFuncGetParamCount, home = handle)]
pub fn func_get_param_count(
    #[handle] function @ func: CUfunction,
    #[out] param_count @ paramCount: *mut usize,
);

/// Asks whether a kernel's code is loaded.
#[driver(cuFuncIsLoaded, home = handle)]
pub fn func_is_loaded(#[out] state: *mut CUfunctionLoadingState, #[handle] function: CUfunction);

/// Loads a kernel's code.
#[driver(cuFuncLoad, home = handle)]
pub fn func_load(#[handle] function: CUfunction);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &FUNC_GET_ATTRIBUTE,
    &FUNC_SET_ATTRIBUTE,
    &FUNC_SET_CACHE_CONFIG,
    &FUNC_GET_MODULE,
    &FUNC_GET_NAME,
    &FUNC_GET_PARAM_COUNT,
    &FUNC_IS_LOADED,
    &FUNC_LOAD,
];
