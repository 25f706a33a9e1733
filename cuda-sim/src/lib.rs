//! A CUDA driver in plain Rust over host memory, for machines without a GPU.
//!
//! [`install`] puts it into [`cuda_sys`]'s table; from there on every `cuda_sys::cuX` calls it. It
//! is the same interface, and where a real driver was measured it gives the same answers; but it is
//! stricter than one, can fail on demand, runs queued work as late as it likes, and tells what a
//! program did wrong.
//!
//! ```
//! use cuda_sim::{Config, Scheduler};
//! use cuda_sys::*;
//!
//! cuda_sim::install(Config::new().scheduler(Scheduler::Lazy))?;
//!
//! let (mut context, mut memory, mut bytes) = (std::ptr::null_mut(), CUdeviceptr(0), [0_u8; 4]);
//! // SAFETY: the pointers point to what the calls write, and the sizes are theirs.
//! let answers = unsafe {
//!     [
//!         cuInit(0),
//!         cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)),
//!         cuCtxSetCurrent(context),
//!         cuMemAlloc_v2(&mut memory, 4),
//!         cuMemsetD8_v2(memory, 7, 4),
//!         cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), memory, 4),
//!         cuMemFree_v2(memory),
//!     ]
//! };
//! assert_eq!(answers, [CUresult::CUDA_SUCCESS; 7]);
//! assert_eq!(bytes, [7; 4]);
//!
//! // The primary context was never released.
//! assert_eq!(cuda_sim::finish().count(cuda_sim::FindingKind::Leak), 1);
//! # Ok::<(), cuda_sim::InstallError>(())
//! ```
//!
//! # What differs from a real driver
//!
//! * [`SIMULATED`] lists the functions that are simulated; everything else answers
//!   `CUDA_ERROR_NOT_SUPPORTED`.
//! * Kernels run no instructions: they do what was registered for their names, see [`kernel`]. Images
//!   are PTX, cubins for the device, and fat binaries of both, plain or compressed; of PTX the bodies
//!   are not read, so that what a compiler would refuse in them is not refused.
//! * Graphs hold kernels, copies, fills, host functions, events, allocations, waits for values and
//!   writes of them, and graphs; none of conditions, semaphores, batches of copies or launches by the
//!   device. A capture refuses, and ends by, what was measured
//!   to end one. A graph's nodes run on as many branches as its edges leave, in the order of the
//!   [`Scheduler`], and those that no edge orders are looked at for races at each launch.
//! * Arrays have formats of whole bytes in 1, 2 or 4 channels: none of blocks, and none of planes.
//! * Device memory cannot be reached by the host: its addresses fault, as a real device's do.
//! * Work runs inside of driver calls, in the order of the [`Scheduler`].
//! * Work behind a wait for a value is not looked at for races: what the value orders is the
//!   program's matter. A wait that neither queued work, nor the host, nor another process can end is
//!   reported, and the call that waits answers 702.
//! * A handle that was destroyed is refused and reported; a real driver crashes. Work on a stream or
//!   memory of another context of the device goes well, as with a real driver, and is reported.
//! * A kernel's error stays in every context of every device (measured); that of
//!   [`Config::break_context`] in one.
//! * What was measured call by call, and where the simulator differs from it, is in the files
//!   `h200.txt` and `differs.txt` of `cuda-sim/library/tests/answers`.
//! * A forked child has no driver: its calls answer `CUDA_ERROR_NOT_INITIALIZED`, as a real driver's.
//! * Programs on the CUDA *runtime* do not run on it: `cuGetExportTable` finds nothing.
//! * Host functions must not panic: their type does not let a panic pass, so that it ends the
//!   process, as it does under a real driver.
//!
//! # Second processes
//!
//! Memory and events pass between processes that both have the simulator, by the same handles as
//! with a real driver. A program that starts another hands it its configuration:
//!
//! ```
//! use cuda_sim::{Config, ENVIRONMENT};
//!
//! let config = Config::from_environment()?.unwrap_or_default();
//! let mut second = std::process::Command::new("second");
//! second.env(ENVIRONMENT, config.to_text());
//! # Ok::<(), cuda_sim::InvalidConfig>(())
//! ```
//!
//! Races between two processes are looked for in memory of legacy handles, not in that of pools and
//! virtual memory. File descriptors are the program's to close, those that it exports and those that it
//! imports: one that is open at the end is a leak. What it makes of one with `dup` is its own matter.
//!
//! Each process finds the other's memory under `/proc`: both must be of one user, and see each
//! other's process numbers. That is stricter than a real driver, which asks nobody. Pools and
//! virtual memory pass as file descriptors, and need neither; what a descriptor or a mapping holds
//! outlives the process that made it. Descriptors of DMA buffers there are none.
//!
//! # Testing with it
//!
//! It is installed once a process. [`isolated!`] runs a test's body in a process of its own, and
//! [`for_each_failure!`] runs it again and again with each driver call failing in turn. A test that
//! needs a second process starts itself once more with [`peer`], and asks [`role`] which it is.
//!
//! The README beside this crate says how to test one's own code with it in continuous integration,
//! in Rust or, as a shared library in the driver's place, in any language.
//!
//! # Threads
//!
//! What one thread of the program has waited for counts as known to all of them: that they tell each
//! other, by a lock or a channel, is not seen, and a clock a thread would find races where there are
//! none. So a race is missed between two threads of which one waited for the driver and the other
//! did not ask it.
//!
//! # What it costs
//!
//! [`Config::reports`]`(false)` stops looking for races and for host access to pinned memory under a
//! pending copy. A program that never waits keeps 1024 closed streams and 2048 accesses an
//! allocation in mind; races of older ones are missed.
//!
//! # What is measured
//!
//! Comments and documentation call an answer *measured* if it was seen on a real driver (CUDA 13.0
//! on an H200), and *manual* if it follows the driver's manual or, where that is silent, the less
//! convenient reading.

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("the simulator needs Linux: memory files and /proc");

mod call_site;
mod config;
mod driver;
mod engine;
mod entry;
mod fault;
mod fork;
mod install;
pub mod kernel;
mod listed;
mod log;
mod partly;
mod report;
mod table;
mod testing;

/// How to test one's own code with the simulator, and what it cannot do.
#[cfg(any(doc, doctest))]
#[doc = include_str!("../README.md")]
pub mod guide {}

pub use call_site::CallSite;
pub use config::{Config, ENVIRONMENT, Feature, InvalidConfig, Scheduler};
pub use engine::access::{AccessBox, AccessKind};
pub use install::{InstallError, install};
pub use log::{Call, call_count, calls};
pub use partly::PARTLY;
pub use report::{Finding, FindingKind, Report, Side, finish, report};
pub use table::SIMULATED;
pub use testing::device_run::{is_on_device, not_run};
pub use testing::isolated::{Isolated, peer, role, test_path};
