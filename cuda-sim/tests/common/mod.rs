//! What the tests share: driver calls without ceremony.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    unreachable_pub,
    reason = "not every test uses all of it"
)]

pub(crate) mod busy;

use std::ptr;

use cuda_sys::*;

/// Calls a function of the driver and returns its code as a number.
macro_rules! code {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the tests give each call the pointers and sizes that its manual asks for, or
        // such that the simulator refuses.
        let answer = unsafe { cuda_sys::$name($($argument),*) };
        answer.0
    }};
}

/// Calls a function of the driver, which must succeed.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($crate::common::code!($name($($argument),*)), 0, stringify!($name))
    };
}

pub(crate) use {code, ok};

pub(crate) const LEGACY: CUstream = ptr::null_mut();

/// Initialises, and makes the primary context of device 0 current.
pub(crate) fn start() -> CUcontext {
    ok!(cuInit(0));
    let mut context = ptr::null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
    ok!(cuCtxSetCurrent(context));
    context
}

/// Releases what [`start`] retained.
pub(crate) fn end() {
    ok!(cuCtxSetCurrent(ptr::null_mut()));
    ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
}

pub(crate) fn alloc(bytes: usize) -> CUdeviceptr {
    let mut address = CUdeviceptr(0);
    ok!(cuMemAlloc_v2(&mut address, bytes));
    address
}

pub(crate) fn free(address: CUdeviceptr) {
    ok!(cuMemFree_v2(address));
}

pub(crate) fn pinned(bytes: usize) -> *mut u8 {
    let mut address = ptr::null_mut();
    ok!(cuMemHostAlloc(&mut address, bytes, 0));
    address.cast()
}

pub(crate) fn stream(flags: u32) -> CUstream {
    let mut stream = ptr::null_mut();
    ok!(cuStreamCreate(&mut stream, flags));
    stream
}

pub(crate) fn event() -> CUevent {
    let mut event = ptr::null_mut();
    ok!(cuEventCreate(&mut event, 2));
    event
}

/// Reads device memory.
pub(crate) fn read(address: CUdeviceptr, bytes: usize) -> Vec<u8> {
    let mut host = vec![0; bytes];
    ok!(cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), address, bytes));
    host
}

/// Writes device memory, and waits for it.
pub(crate) fn write(address: CUdeviceptr, bytes: &[u8]) {
    ok!(cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()));
    ok!(cuStreamSynchronize(LEGACY));
}

/// Returns an address that many bytes further on.
pub(crate) fn at(address: CUdeviceptr, bytes: u64) -> CUdeviceptr {
    CUdeviceptr(address.0 + bytes)
}

/// Returns the pointer that has a device's address.
pub(crate) fn as_host(address: CUdeviceptr) -> *mut std::ffi::c_void {
    ptr::with_exposed_provenance_mut(usize::try_from(address.0).unwrap_or(0))
}

/// Begins PTX that every device of the tests reads.
pub(crate) const PTX: &str = ".version 7.8\n.target sm_70\n.address_size 64\n";

/// Loads a module of PTX, without its first lines.
pub(crate) fn module(text: &str) -> CUmodule {
    let text = std::ffi::CString::new(format!("{PTX}{text}")).unwrap_or_default();
    let mut module = ptr::null_mut();
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    module
}

pub(crate) fn function(module: CUmodule, name: &std::ffi::CStr) -> CUfunction {
    let mut function = ptr::null_mut();
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

/// Launches a kernel of that many blocks and threads, and returns the code.
pub(crate) fn launch(
    function: CUfunction,
    [grid, block]: [u32; 2],
    stream: CUstream,
    parameters: &[*const std::ffi::c_void],
) -> u32 {
    let mut pointers: Vec<_> = parameters.iter().map(|pointer| pointer.cast_mut()).collect();
    let pointers = pointers.as_mut_ptr();
    code!(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, pointers, ptr::null_mut()))
}

/// Returns the pointer to a parameter.
pub(crate) fn parameter<T>(value: &T) -> *const std::ffi::c_void {
    ptr::from_ref(value).cast()
}
