//! Modules: code loaded into one context.
//!
//! Chapter: Module Management, whole.

use core::ffi::{c_char, c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUdeviceptr, CUfunction, CUjit_option, CUjitInputType, CUlinkState, CUmodule,
    CUmoduleLoadingMode,
};

/// Loads a module from a file; whoever loads it unloads it.
#[driver(cuModuleLoad, home = given)]
pub fn module_load(#[out] module: *mut CUmodule, #[text] file @ fname: *const c_char);

/// Loads a module from an image; whoever loads it unloads it. Waits for every kernel of the
/// context.
///
/// # Safety
///
/// The image is a whole cubin or fat binary, or PTX that ends with a zero byte.
#[driver(cuModuleLoadData, order = host, home = given)]
pub unsafe fn module_load_data(
    #[out] module: *mut CUmodule,
    #[host(read, opaque)] image: *const c_void,
);

/// Loads a module from an image, with options for the compiler.
///
/// # Safety
///
/// The image is a whole cubin or fat binary, or PTX that ends with a zero byte; the values are
/// as many as the options, each what its option asks for.
#[driver(cuModuleLoadDataEx, order = host, home = given)]
pub unsafe fn module_load_data_ex(
    #[out] module: *mut CUmodule,
    #[host(read, opaque)] image: *const c_void,
    #[from(options.count)] num_options @ numOptions: c_uint,
    #[items(num_options, value)] options: *mut CUjit_option,
    #[raw] values @ optionValues: *mut *mut c_void,
);

/// Loads a module from a fat binary.
///
/// # Safety
///
/// The image is a whole fat binary.
#[driver(cuModuleLoadFatBinary, order = host, home = given)]
pub unsafe fn module_load_fat_binary(
    #[out] module: *mut CUmodule,
    #[host(read, opaque)] image @ fatCubin: *const c_void,
);

/// Unloads a module, behind every kernel of the context.
///
/// # Safety
///
/// The module is of `context`, loaded, and nothing uses it or its functions any more.
#[driver(cuModuleUnload, home = given)]
pub unsafe fn module_unload(#[raw] module @ hmod: CUmodule);

/// Finds a kernel by its name.
#[driver(cuModuleGetFunction, home = handle)]
pub fn module_get_function(
    #[out] function @ hfunc: *mut CUfunction,
    #[handle] module @ hmod: CUmodule,
    #[text] name: *const c_char,
);

/// Counts a module's kernels.
#[driver(cuModuleGetFunctionCount, home = handle)]
pub fn module_get_function_count(#[out] count: *mut c_uint, #[handle] module @ mod_: CUmodule);

/// Lists a module's kernels, as many as there is room for.
#[driver(cuModuleEnumerateFunctions, home = handle)]
pub fn module_enumerate_functions(
    #[items(count, out)] functions: *mut CUfunction,
    #[from(functions.count)] count @ numFunctions: c_uint,
    #[handle] module @ mod_: CUmodule,
);

/// Finds a global variable by its name: its address and its bytes.
#[driver(cuModuleGetGlobal_v2, home = handle)]
pub fn module_get_global(
    #[out] dptr: *mut CUdeviceptr,
    #[out] size @ bytes: *mut usize,
    #[handle] module @ hmod: CUmodule,
    #[text] name: *const c_char,
);

/// Asks whether kernels are loaded when they are first used.
#[driver(cuModuleGetLoadingMode, home = none)]
pub fn module_get_loading_mode(#[out] mode: *mut CUmoduleLoadingMode);

/// Begins to link; whoever begins ends it.
///
/// # Safety
///
/// The values are as many as the options, each what its option asks for, and stay until the
/// linking ends.
#[driver(cuLinkCreate_v2, home = given)]
pub unsafe fn link_create(
    #[from(options.count)] num_options @ numOptions: c_uint,
    #[items(num_options, value)] options: *mut CUjit_option,
    #[raw] values @ optionValues: *mut *mut c_void,
    #[out] state_out @ stateOut: *mut CUlinkState,
);

/// Adds an input to what is linked.
///
/// # Safety
///
/// The state came from [`link_create`] in `context` and is not ended; the values are as many as
/// the options, each what its option asks for.
#[driver(cuLinkAddData_v2, order = host, home = given)]
pub unsafe fn link_add_data(
    #[raw] state: CUlinkState,
    #[value] kind @ type_: CUjitInputType,
    #[host(read, bytes(size))] data: *mut c_void,
    #[from(data.len)] size: usize,
    #[text] name: *const c_char,
    #[from(options.count)] num_options @ numOptions: c_uint,
    #[items(num_options, value)] options: *mut CUjit_option,
    #[raw] values @ optionValues: *mut *mut c_void,
);

/// Adds a file to what is linked.
///
/// # Safety
///
/// The state came from [`link_create`] in `context` and is not ended; the values are as many as
/// the options, each what its option asks for.
#[driver(cuLinkAddFile_v2, home = given)]
pub unsafe fn link_add_file(
    #[raw] state: CUlinkState,
    #[value] kind @ type_: CUjitInputType,
    #[text] path: *const c_char,
    #[from(options.count)] num_options @ numOptions: c_uint,
    #[items(num_options, value)] options: *mut CUjit_option,
    #[raw] values @ optionValues: *mut *mut c_void,
);

/// Links; answers where the image is, and its bytes. It stays until the linking ends.
///
/// # Safety
///
/// The state came from [`link_create`] in `context` and is not ended.
#[driver(cuLinkComplete, home = given)]
pub unsafe fn link_complete(
    #[raw] state: CUlinkState,
    #[out] cubin_out @ cubinOut: *mut *mut c_void,
    #[out] size_out @ sizeOut: *mut usize,
);

/// Ends a linking, and frees its image.
///
/// # Safety
///
/// The state came from [`link_create`] in `context` and is not ended; nothing uses its image.
#[driver(cuLinkDestroy, home = given)]
pub unsafe fn link_destroy(#[raw] state: CUlinkState);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MODULE_LOAD,
    &MODULE_LOAD_DATA,
    &MODULE_LOAD_DATA_EX,
    &MODULE_LOAD_FAT_BINARY,
    &MODULE_UNLOAD,
    &MODULE_GET_FUNCTION,
    &MODULE_GET_FUNCTION_COUNT,
    &MODULE_ENUMERATE_FUNCTIONS,
    &MODULE_GET_GLOBAL,
    &MODULE_GET_LOADING_MODE,
    &LINK_CREATE,
    &LINK_ADD_DATA,
    &LINK_ADD_FILE,
    &LINK_COMPLETE,
    &LINK_DESTROY,
];
