//! Each annotated call is made once on the simulator, with what its gates let through.
//!
//! Handles that no type of the crate owns are numbers that name nothing: the simulator says so, a
//! driver would crash. What the simulator does not support it answers with 801. How often each
//! answer came is printed, and no gate refuses.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]
#![expect(clippy::print_stdout, reason = "prints how often each answer came")]

use std::collections::BTreeSet;

use cuda_safe::call;
use cuda_safe::sys::Version;
use cuda_sim::{Config, isolated};

/// Makes a call, and notes its answer.
macro_rules! run {
    ($tally:ident, $symbol:literal, $call:expr) => {
        $tally.note($symbol, $call.map(drop))
    };
}

/// Makes a call for which its caller vouches, and notes its answer.
macro_rules! unchecked {
    ($tally:ident, $symbol:literal, $call:expr) => {
        // SAFETY: the simulator checks what it is given, and no handle here names anything.
        run!($tally, $symbol, unsafe { $call })
    };
}

#[path = "every_call/device.rs"]
mod device;
#[path = "every_call/execution.rs"]
mod execution;
#[path = "every_call/graph.rs"]
mod graph;
#[path = "every_call/graph_work.rs"]
mod graph_work;
#[path = "every_call/interop.rs"]
mod interop;
#[path = "every_call/memory.rs"]
mod memory;
#[path = "every_call/memory_beyond.rs"]
mod memory_beyond;
#[path = "every_call/objects.rs"]
mod objects;
#[path = "every_call/stream.rs"]
mod stream;

use objects::{Objects, Tally};

#[test]
fn every_call_runs_once() {
    // What the calls make is nobody's.
    let config = Config::new().version(Version::new(13, 5));
    isolated!(config).unchecked().run(|| {
        let mut tally = Tally::default();
        let groups = [
            device::all,
            execution::all,
            graph::all,
            graph_work::all,
            interop::all,
            memory::all,
            memory_beyond::all,
            stream::all,
        ];
        for group in groups {
            // Each with objects of its own: some calls are hard on what they are given.
            let mut on = Objects::new();
            group(&mut on, &mut tally);
        }
        println!("{tally}");
        let known: BTreeSet<_> = call::contracts().map(|contract| contract.symbol).collect();
        assert_eq!(tally.symbols(), known, "a call is not run here, or one is gone");
        assert_eq!(tally.refused(), [""; 0], "a gate refuses what it should let through");
    });
}
