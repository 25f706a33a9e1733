//! The answers of a real driver, row by row, on the simulator and, unchanged, on a device.
//!
//! Each test is a table of measurements. `docs/measured/rows-h200.md` lists the rows, and where the
//! simulator differs on purpose.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what tables share is a test too"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../remote/mod.rs"]
mod remote;

mod recorder;

mod device_attributes;
mod host_registration;
mod legacy_handles;
mod pointer_attributes;
mod reset;
mod returns;
mod shared_events;
mod sizes;
mod small_calls;
mod streams_and_events;
mod waits;

/// Runs a table of answers in a process of its own, on the simulator or a device.
macro_rules! table {
    ($title:literal, $body:expr) => {
        table!(cuda_sim::Config::new(), $title, $body)
    };
    ($config:expr, $title:literal, $body:expr) => {
        cuda_sim::isolated!($config).answers_only().run(|| {
            if cuda_sim::role().is_some() {
                crate::remote::serve();
                return;
            }
            let body: fn(&mut crate::recorder::Rows) = $body;
            let mut rows = crate::recorder::Rows::of($title);
            body(&mut rows);
            rows.end();
        })
    };
}

pub(crate) use table;
