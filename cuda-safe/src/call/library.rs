//! Libraries: code that is loaded for every context.
//!
//! Chapter: Library Management, whole.

use core::ffi::{c_char, c_int, c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUdevice, CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUjit_option, CUkernel,
    CUlibrary, CUlibraryOption, CUmodule,
};

/// Loads a library from an image; whoever loads it unloads it.
///
/// # Safety
///
/// The image is a whole cubin or fat binary, or PTX that ends with a zero byte; both lists of
/// values are as long as their lists of options, each what its option asks for.
#[driver(cuLibraryLoadData, order = host, home = none)]
pub unsafe fn library_load_data(
    #[out] library: *mut CUlibrary,
    #[host(read, opaque)] image @ code: *const c_void,
    #[items(num_jit_options, value)] jit_options @ jitOptions: *mut CUjit_option,
    #[raw] jit_values @ jitOptionsValues: *mut *mut c_void,
    #[from(jit_options.count)] num_jit_options @ numJitOptions: c_uint,
    #[items(num_library_options, value)] library_options @ libraryOptions: *mut CUlibraryOption,
    #[raw] library_values @ libraryOptionValues: *mut *mut c_void,
    #[from(library_options.count)] num_library_options @ numLibraryOptions: c_uint,
);

/// Loads a library from a file; whoever loads it unloads it.
///
/// # Safety
///
/// Both lists of values are as long as their lists of options, each what its option asks for.
#[driver(cuLibraryLoadFromFile, home = none)]
pub unsafe fn library_load_from_file(
    #[out] library: *mut CUlibrary,
    #[text] file @ fileName: *const c_char,
    #[items(num_jit_options, value)] jit_options @ jitOptions: *mut CUjit_option,
    #[raw] jit_values @ jitOptionsValues: *mut *mut c_void,
    #[from(jit_options.count)] num_jit_options @ numJitOptions: c_uint,
    #[items(num_library_options, value)] library_options @ libraryOptions: *mut CUlibraryOption,
    #[raw] library_values @ libraryOptionValues: *mut *mut c_void,
    #[from(library_options.count)] num_library_options @ numLibraryOptions: c_uint,
);

/// Unloads a library.
///
/// # Safety
///
/// The library is loaded, and nothing uses it or its kernels any more.
#[driver(cuLibraryUnload, home = none)]
pub unsafe fn library_unload(#[raw] library: CUlibrary);

/// Finds a kernel by its name.
#[driver(cuLibraryGetKernel, home = none)]
pub fn library_get_kernel(
    #[out] kernel @ pKernel: *mut CUkernel,
    #[handle] library: CUlibrary,
    #[text] name: *const c_char,
);

/// Counts a library's kernels.
#[driver(cuLibraryGetKernelCount, home = none)]
pub fn library_get_kernel_count(#[out] count: *mut c_uint, #[handle] library @ lib: CUlibrary);

/// Lists a library's kernels, as many as there is room for.
#[driver(cuLibraryEnumerateKernels, home = none)]
pub fn library_enumerate_kernels(
    #[items(count, out)] kernels: *mut CUkernel,
    #[from(kernels.count)] count @ numKernels: c_uint,
    #[handle] library @ lib: CUlibrary,
);

/// Finds a global variable in the context: its address and its bytes.
#[driver(cuLibraryGetGlobal, home = given)]
pub fn library_get_global(
    #[out] dptr: *mut CUdeviceptr,
    #[out] size @ bytes: *mut usize,
    #[handle] library: CUlibrary,
    #[text] name: *const c_char,
);

/// Finds a managed variable: its address and its bytes.
#[driver(cuLibraryGetManaged, home = none)]
pub fn library_get_managed(
    #[out] dptr: *mut CUdeviceptr,
    #[out] size @ bytes: *mut usize,
    #[handle] library: CUlibrary,
    #[text] name: *const c_char,
);

/// Returns the module that a library is in the context.
#[driver(cuLibraryGetModule, home = given)]
pub fn library_get_module(#[out] mod_ @ pMod: *mut CUmodule, #[handle] library: CUlibrary);

/// Finds a function by its name that host and device call by one address.
#[driver(cuLibraryGetUnifiedFunction, home = none)]
pub fn library_get_unified_function(
    #[out] function @ fptr: *mut *mut c_void,
    #[handle] library: CUlibrary,
    #[text] name @ symbol: *const c_char,
);

/// Asks for an attribute of a kernel on a device.
#[driver(cuKernelGetAttribute, home = none)]
pub fn kernel_get_attribute(
    #[out] value @ pi: *mut c_int,
    #[value] attribute @ attrib: CUfunction_attribute,
    #[handle] kernel: CUkernel,
    #[handle] device @ dev: CUdevice,
);

/// Sets an attribute of a kernel on a device.
#[driver(cuKernelSetAttribute, home = none)]
pub fn kernel_set_attribute(
    #[value] attribute @ attrib: CUfunction_attribute,
    #[value] value @ val: c_int,
    #[handle] kernel: CUkernel,
    #[handle] device @ dev: CUdevice,
);

/// Says what a kernel prefers on a device, cache or shared memory.
#[driver(cuKernelSetCacheConfig, home = none)]
pub fn kernel_set_cache_config(
    #[handle] kernel: CUkernel,
    #[value] config: CUfunc_cache,
    #[handle] device @ dev: CUdevice,
);

/// Returns the function that a kernel is in the context.
#[driver(cuKernelGetFunction, home = given)]
pub fn kernel_get_function(#[out] function @ pFunc: *mut CUfunction, #[handle] kernel: CUkernel);

/// Asks for the library of a kernel.
#[driver(cuKernelGetLibrary, home = none)]
pub fn kernel_get_library(#[out] library @ pLib: *mut CUlibrary, #[handle] kernel: CUkernel);

/// Asks for a kernel's name.
#[driver(cuKernelGetName, home = none)]
pub fn kernel_get_name(#[text(kept)] name: *mut *const c_char, #[handle] kernel @ hfunc: CUkernel);

/// Counts a kernel's parameters.
#[driver(cuKernelGetParamCount, home = none)]
pub fn kernel_get_param_count(
    #[handle] kernel: CUkernel,
    #[out] param_count @ paramCount: *mut usize,
);

/// Asks where a parameter of a kernel lies among its parameters, and how many bytes it has.
#[driver(cuKernelGetParamInfo, home = none)]
pub fn kernel_get_param_info(
    #[handle] kernel: CUkernel,
    #[value] param_index @ paramIndex: usize,
    #[out] param_offset @ paramOffset: *mut usize,
    #[out] param_size @ paramSize: *mut usize,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &LIBRARY_LOAD_DATA,
    &LIBRARY_LOAD_FROM_FILE,
    &LIBRARY_UNLOAD,
    &LIBRARY_GET_KERNEL,
    &LIBRARY_GET_KERNEL_COUNT,
    &LIBRARY_ENUMERATE_KERNELS,
    &LIBRARY_GET_GLOBAL,
    &LIBRARY_GET_MANAGED,
    &LIBRARY_GET_MODULE,
    &LIBRARY_GET_UNIFIED_FUNCTION,
    &KERNEL_GET_ATTRIBUTE,
    &KERNEL_SET_ATTRIBUTE,
    &KERNEL_SET_CACHE_CONFIG,
    &KERNEL_GET_FUNCTION,
    &KERNEL_GET_LIBRARY,
    &KERNEL_GET_NAME,
    &KERNEL_GET_PARAM_COUNT,
    &KERNEL_GET_PARAM_INFO,
];
