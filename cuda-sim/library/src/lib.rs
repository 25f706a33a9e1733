//! The simulated CUDA driver as a shared library: `libcuda.so.1` for programs in any language.
//!
//! Every function of the driver is here by its C name, and calls the simulator's. How it is put in
//! a real driver's place, and what steers it, is said in the README beside this crate.
//!
//! The simulator is installed at the first call, into this library's own copy of the table of
//! `cuda-sys`. So that table never looks for a file, which would find this very library.
//!
//! Unsafe, because C functions are: each passes on what its caller promises.

#![cfg(target_os = "linux")]

mod end;
mod settings;
mod start;

use std::ffi::*;

use cuda_sys::*;

macro_rules! forward {
    ($([$header:literal $since:literal $deprecated:literal]
        $name:ident($($parameter:ident: $ty:ty),*) -> $output:ty;)*) => {$(
        // SAFETY: it has the type that the driver's header declares for this name.
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($parameter: $ty),*) -> $output {
            match start::started() {
                // SAFETY: the caller's promise is the C function's own contract.
                Ok(()) => unsafe { cuda_sys::$name($($parameter),*) },
                Err(code) => code,
            }
        }
    )*};
}

cuda_sys::for_each_driver_function!(forward);
