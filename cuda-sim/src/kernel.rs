//! What kernels do: bodies in Rust, registered by the names of their entries.
//!
//! The simulator reads of an image what a launch needs, but runs no instructions. A kernel does what
//! the body says that was registered for its name, exactly as the image has it: mangled, unless it is
//! `extern "C"`. A launch of a kernel without a body is refused with `CUDA_ERROR_NOT_SUPPORTED`, and
//! the report says which name to register. A body can be registered before or after the simulator is
//! installed or the module is loaded; the launch decides. A driver that is loaded as a library has
//! none; there, [`Config::kernel`](crate::Config::kernel) lets kernels do nothing, or fail.
//!
//! A body is called once a launch, with the grid and the block, and loops over threads itself, or has
//! [`Launch::for_each_thread`] do it. It reaches memory through [`Launch`] only, which checks every
//! access as a device does and more exactly: outside of an allocation, or in memory that the device
//! may not touch, it is `CUDA_ERROR_ILLEGAL_ADDRESS`; at an address that is no multiple of the
//! element's size, `CUDA_ERROR_MISALIGNED_ADDRESS`; an error of the body's own, or a panic, is
//! `CUDA_ERROR_LAUNCH_FAILED`. Each of them stays: every call that needs the device answers it from
//! then on, and the report says which kernel touched what, through which parameter.
//!
//! A body runs inside of the driver, and must not call it, nor [`report`](crate::report()) and the
//! like.
//!
//! ```
//! use cuda_sim::{Config, kernel};
//! use cuda_sys::*;
//! use std::ptr;
//!
//! kernel::register("saxpy", |launch| {
//!     let factor = launch.parameter::<f32>(0)?;
//!     let (x, y) = (launch.pointer(1)?, launch.pointer(2)?);
//!     let count = launch.parameter::<u32>(3)?;
//!     launch.for_each_thread(|launch, thread| {
//!         let [index, ..] = thread.global();
//!         if index < count.into() {
//!             let sum = factor * launch.read::<f32>(x, index)? + launch.read::<f32>(y, index)?;
//!             launch.write(y, index, sum)?;
//!         }
//!         Ok(())
//!     })
//! });
//!
//! let image = c"
//!     .version 7.8
//!     .target sm_70
//!     .address_size 64
//!     .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) { ret; }
//! ";
//!
//! cuda_sim::install(Config::new())?;
//! let (mut context, mut module, mut function) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
//! let (mut x, mut y) = (CUdeviceptr(0), CUdeviceptr(0));
//! let (mut factor, mut count, mut result) = (2_f32, 3_u32, [0_f32; 3]);
//! let [one, five] = [[1_f32, 2.0, 3.0], [5.0; 3]].map(|values| values.map(f32::to_ne_bytes));
//! let mut parameters: [*mut std::ffi::c_void; 4] = [
//!     (&raw mut factor).cast(),
//!     (&raw mut x).cast(),
//!     (&raw mut y).cast(),
//!     (&raw mut count).cast(),
//! ];
//! // SAFETY: the pointers point to what the calls read and write, and the sizes are theirs.
//! let answers = unsafe {
//!     [
//!         cuInit(0),
//!         cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)),
//!         cuCtxSetCurrent(context),
//!         cuModuleLoadData(&mut module, image.as_ptr().cast()),
//!         cuModuleGetFunction(&mut function, module, c"saxpy".as_ptr()),
//!         cuMemAlloc_v2(&mut x, 12),
//!         cuMemAlloc_v2(&mut y, 12),
//!         cuMemcpyHtoD_v2(x, one.as_ptr().cast(), 12),
//!         cuMemcpyHtoD_v2(y, five.as_ptr().cast(), 12),
//!         cuLaunchKernel(
//!             function, 1, 1, 1, 32, 1, 1, 0, ptr::null_mut(), parameters.as_mut_ptr(), ptr::null_mut(),
//!         ),
//!         cuMemcpyDtoH_v2(result.as_mut_ptr().cast(), y, 12),
//!         cuMemFree_v2(x),
//!         cuMemFree_v2(y),
//!         cuModuleUnload(module),
//!         cuDevicePrimaryCtxRelease_v2(CUdevice(0)),
//!     ]
//! };
//! assert_eq!(answers, [CUresult::CUDA_SUCCESS; 15]);
//! assert_eq!(result, [7.0, 9.0, 11.0]);
//! assert!(cuda_sim::finish().is_clean(), "{}", cuda_sim::finish());
//! # Ok::<(), cuda_sim::InstallError>(())
//! ```
//!
//! # Races
//!
//! What a body touches is compared with all that nothing orders before or after it, as it is for
//! copies. Without more that happens when the kernel runs, so that work that the host waited for
//! meanwhile, and memory that was freed, can hide a race. A [`Body`] that declares its accesses with
//! [`Body::accesses`] is compared when it is launched, under every scheduler alike; bytes that it then
//! touches without having declared them are reported.
//!
//! Atomic operations race with reads and writes, not with each other.

mod arguments;
mod atomic;
mod error;
mod launch;
mod memory;
mod registration;

pub use arguments::{Access, Arguments};
pub use atomic::Atomic;
pub use error::KernelError;
pub use launch::{Launch, Thread};
pub use registration::{Body, register};

pub(crate) use registration::{inside, is_inside, panic_text, registered, run};
