//! The CUDA driver as it is: one raw binding for every driver from CUDA 11 on, loaded at run time.
//!
//! Functions, types and constants have the names of C, functions those of the exact symbol:
//! [`cuMemAlloc_v2`] is what a C program that says `cuMemAlloc` links to. There are no features for
//! CUDA versions. Nothing is loaded before the first call, and nothing has to be there:
//!
//! * [`LIBRARY`]`.open()` finds the driver or says what was tried;
//! * `cuX(…)` calls, and answers `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED` if there is no driver and
//!   `CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER` if the driver lacks the function;
//! * [`TABLE`]`.cuX.get()` gives the function itself, or [`Missing`] with the symbol, the release
//!   that brought it, the driver's version and its file.
//!
//! ```
//! match cuda_sys::LIBRARY.open() {
//!     Ok(driver) => println!("{} answers", driver.origin()),
//!     Err(error) => println!("no driver: {error}"),
//! }
//! ```
//!
//! A status must be looked at (row 22 of the log of public reports):
//!
//! ```compile_fail
//! #![deny(unused_must_use)]
//! unsafe { cuda_sys::cuInit(0) };
//! ```
//!
//! ```
//! #![deny(unused_must_use)]
//! let status = unsafe { cuda_sys::cuInit(0) };
//! println!("{status:?}");
//! ```
//!
//! A further library is a feature and a module of the same form: `nvml` and `nvrtc`.
//!
//! Nothing here is safe. `cuda-safe` is the checked layer.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("CUDA drivers exist for 64-bit targets only");

mod bind;
mod driver;
mod exceptions;
#[rustfmt::skip]
#[expect(
    missing_docs,
    nonstandard_style,
    clippy::too_many_arguments,
    reason = "names and parameters are C's, and C's manual documents them"
)]
mod generated;
mod layout;
mod library;
mod open;
mod record;
mod version;

pub use bind::{Absence, Absent, Slot, Symbol};
pub use exceptions::{Moved, Unexposed};
pub use generated::driver::*;
pub use generated::*;
pub use library::{
    AlreadyLoaded, Attempt, InstalledBy, Library, LoadError, Missing, Opened, Origin, Outcome,
    Specification, SymbolSource, Unavailable, VersionQuery,
};
pub use version::Version;

/// Holds the workspace's README to its word: its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
