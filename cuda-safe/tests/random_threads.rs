//! Random programs from 2 to 8 threads on as many streams; and what streams wait for by value.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod common;

use std::time::Duration;

use cuda_safe::{Context, DeviceBuffer, Stream, call};
use cuda_sim::{Config, Scheduler, isolated};

use common::{BLOCK, Part, Random};

fn context() -> Context {
    cuda_safe::Device::get(0).unwrap().context().unwrap()
}

/// From 2 to 8 threads, each on a stream that changes, each with blocks of its own in one buffer:
/// their halves don't race, and what one thread leaves is there for the next.
fn threads(seeds: std::ops::Range<u64>) {
    let context = context();
    for seed in seeds {
        let mut random = Random(seed);
        let count = 2 + random.below(7);
        let streams: Vec<Stream> =
            (0..2 + random.below(7)).map(|_| Stream::new(&context).unwrap()).collect();
        let written = DeviceBuffer::<u8>::allocate(&context, BLOCK * 8).unwrap();
        let mut shared = DeviceBuffer::<u8>::allocate(&context, BLOCK * 8).unwrap();
        call::memset_d8(&mut shared, 77).unwrap();
        for round in 0..2_u64 {
            std::thread::scope(|scope| {
                for thread in 0..count {
                    let (written, shared, streams) = (&written, &shared, &streams);
                    let mut random = Random(seed * 100 + round * 10 + thread as u64);
                    scope.spawn(move || {
                        for step in 0..20_u8 {
                            let stream = &streams[random.below(streams.len())];
                            let mut own = Part::of(written, thread, 1);
                            if random.below(2) == 0 {
                                call::memset_d8_async(&mut own, step, stream).unwrap();
                            } else {
                                let from = Part::of(shared, random.below(8), 1);
                                call::memcpy_dtod_async(&mut own, &from, stream).unwrap();
                            }
                        }
                        let mut own = Part::of(written, thread, 1);
                        let stream = &streams[random.below(streams.len())];
                        let last = u8::try_from(thread).unwrap();
                        call::memset_d8_async(&mut own, last, stream).unwrap();
                    });
                }
            });
        }
        let mut bytes = [0_u8; BLOCK * 8];
        call::memcpy_dtoh(&mut bytes, &written).unwrap();
        for (thread, block) in bytes.chunks(BLOCK).take(count).enumerate() {
            assert_eq!(block, [u8::try_from(thread).unwrap(); BLOCK], "seed {seed}");
        }
        let report = cuda_sim::report();
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
}

#[test]
fn from_two_to_eight_threads() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || threads(0..20));
}

#[test]
#[ignore = "takes minutes"]
fn from_two_to_eight_threads_a_thousand_times() {
    let config = Config::new().scheduler(Scheduler::Lazy);
    isolated!(config).limit(Duration::from_secs(1800)).run(|| threads(0..1000));
}

/// A stream waits for a value that only another can write, which first needs what the one did
/// before: an event recorded behind the wait would never come.
#[test]
fn a_value_that_is_waited_for_can_be_written() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        let context = context();
        let (waits, writes) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let mut flag = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8(&mut flag, 0).unwrap();
        call::memset_d8_async(&mut buffer, 1, &waits).unwrap();
        call::stream_wait_value32(&waits, &flag, 1, 0).unwrap();
        call::memset_d8_async(&mut buffer, 2, &writes).unwrap();
        call::stream_write_value32(&writes, &flag, 1, 0).unwrap();
        waits.synchronize().unwrap();
        let mut bytes = [0_u8; 64];
        call::memcpy_dtoh(&mut bytes, &buffer).unwrap();
        assert_eq!(bytes, [2; 64]);
    });
}
