//! Profiler control.
//!
//! Chapter: Profiler Control, whole.

use cuda_codegen::driver;

/// Begins to profile.
#[driver(cuProfilerStart, home = given)]
pub fn profiler_start();

/// Ends the profiling.
#[driver(cuProfilerStop, home = given)]
pub fn profiler_stop();

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[&PROFILER_START, &PROFILER_STOP];
