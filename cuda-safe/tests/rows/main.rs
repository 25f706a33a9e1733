//! Bugs of other libraries, by their rows of `docs/reports.toml`. Those about layouts alone are in
//! `layout_reports`.
#![cfg(feature = "driver")]
#![expect(unsafe_code, reason = "a test makes raw memory")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod common;
mod contexts;
mod copies;
mod errors;
mod host_memory;
mod memory;
mod pools;
mod processes;
mod streams;
