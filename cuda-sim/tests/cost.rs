//! What a call costs.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::*;
use cuda_sim::{Config, isolated};

/// Returns the least time of a call over several rounds.
fn least(mut call: impl FnMut()) -> Duration {
    const CALLS: u32 = 2000;
    (0..20)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                call();
            }
            start.elapsed() / CALLS
        })
        .min()
        .unwrap_or(Duration::MAX)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are looked at")]
fn an_empty_call_costs_well_under_a_microsecond() {
    isolated!(Config::new(), || {
        start();
        let mut context = std::ptr::null_mut();
        let current = least(|| ok!(cuCtxGetCurrent(black_box(&mut context))));
        let (mine, done, memory, other) = (stream(1), event(), alloc(4096), alloc(4096));
        let query = least(|| ok!(cuStreamQuery(black_box(mine))));
        let fill = least(|| ok!(cuMemsetD8Async(memory, 0, 256, mine)));
        let copy = least(|| ok!(cuMemcpyDtoDAsync_v2(other, memory, 256, mine)));
        let record = least(|| ok!(cuEventRecord(done, mine)));
        let allocate = least(|| free(alloc(4096)));
        println!(
            "cuCtxGetCurrent {current:?}, cuStreamQuery {query:?}, cuMemsetD8Async {fill:?}, \
             cuMemcpyDtoDAsync {copy:?}, cuEventRecord {record:?}, cuMemAlloc + Free {allocate:?}"
        );
        // Debug builds are slower, and a busy machine is too.
        assert!(current < Duration::from_micros(5), "{current:?}");
        ok!(cuStreamDestroy_v2(mine));
        ok!(cuEventDestroy_v2(done));
        free(memory);
        free(other);
        end();
    });
}
