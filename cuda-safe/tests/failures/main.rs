//! What every public function does when the driver fails.
//!
//! A test lists the functions that it is of. In `each_call_fails!` each driver call of the body fails in
//! turn: nothing leaks, is freed twice or panics, and the error names that call and its code. In
//! `asks_no_driver!` the body makes no driver call. `cargo xtask operations` compares the lists with what
//! is public; a function that is in neither stands with a reason in `excused.txt`.
#![cfg(all(feature = "driver", feature = "ndarray"))]
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test makes raw memory, and may panic")]

#[macro_use]
mod given;

mod contexts;
mod device_memory;
mod devices;
mod events;
mod external;
mod host_memory;
mod managed;
mod modules;
mod operands;
mod parts;
mod pools;
mod records;
mod streams;
mod values;
mod variables;
mod views;
mod virtual_memory;
