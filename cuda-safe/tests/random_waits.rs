//! Random programs on 2 to 8 streams, with every wait counted: a stream waits for another only for
//! a use that overlaps, conflicts, and is not behind it yet.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod common;

use std::time::Duration;

use cuda_safe::{Context, DeviceBuffer, Stream, call};
use cuda_sim::{Config, Scheduler, isolated};

use common::{BLOCK, Part, Random};

const BLOCKS: usize = 12;

/// Is one use of some blocks of a buffer.
#[derive(Clone, Copy)]
struct Use {
    stream: usize,
    number: usize,
    buffer: usize,
    blocks: (usize, usize),
    writes: bool,
}

impl Use {
    fn conflicts(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && (self.writes || other.writes)
            && self.blocks.0 < other.blocks.1
            && other.blocks.0 < self.blocks.1
    }

    /// Tells whether waiting for this use is waiting for an earlier one that it came after.
    fn stands_for(&self, earlier: &Self) -> bool {
        self.buffer == earlier.buffer
            && (self.writes || !earlier.writes)
            && self.blocks.0 <= earlier.blocks.0
            && earlier.blocks.1 <= self.blocks.1
    }
}

/// Is what happened so far, as far as waits depend on it.
struct Model {
    uses: Vec<Use>,
    /// Up to which use of each other stream each stream has waited.
    behind: Vec<Vec<usize>>,
    /// The uses up to here are done, and the host knows.
    reached: usize,
}

impl Model {
    /// Returns how often a call with these uses may wait, and notes them.
    fn step(&mut self, uses: &[Use]) -> usize {
        let mut waits = 0;
        for next in uses {
            let mut others: Vec<usize> = Vec::new();
            for earlier in self.uses.iter().filter(|earlier| {
                earlier.stream != next.stream
                    && earlier.number > self.reached
                    && earlier.conflicts(next)
            }) {
                let behind = &mut self.behind[next.stream][earlier.stream];
                if earlier.number > *behind {
                    *behind = earlier.number;
                    others.push(earlier.stream);
                }
            }
            others.sort_unstable();
            others.dedup();
            waits += others.len();
        }
        for next in uses {
            self.uses.retain(|earlier| {
                let comes_after = earlier.stream == next.stream || earlier.conflicts(next);
                !(comes_after && next.stands_for(earlier))
            });
        }
        self.uses.extend(uses);
        waits
    }
}

fn program(context: &Context, random: &mut Random) -> usize {
    let count = 2 + random.below(7);
    let streams: Vec<Stream> = (0..count).map(|_| Stream::new(context).unwrap()).collect();
    let buffers: Vec<DeviceBuffer<u8>> =
        (0..2).map(|_| DeviceBuffer::allocate(context, BLOCK * BLOCKS).unwrap()).collect();
    let mut model = Model { uses: Vec::new(), behind: vec![vec![0; count]; count], reached: 0 };
    let mut steps = Vec::new();
    for number in 1..=80 {
        let stream = random.below(count);
        let (first, buffer) = (random.below(BLOCKS), random.below(2));
        let blocks = 1 + random.below((BLOCKS - first).min(4));
        let mut part = Part::of(&buffers[buffer], first, blocks);
        let written = Use { stream, number, buffer, blocks: (first, first + blocks), writes: true };
        let before = made();
        let may_wait = match random.below(8) {
            0..4 => {
                call::memset_d8_async(&mut part, 1, &streams[stream]).unwrap();
                model.step(&[written])
            }
            4..7 => {
                let from = random.below(BLOCKS - blocks + 1);
                let source = Part::of(&buffers[1 - buffer], from, blocks);
                call::memcpy_dtod_async(&mut part, &source, &streams[stream]).unwrap();
                let blocks = (from, from + blocks);
                let read = Use { buffer: 1 - buffer, blocks, writes: false, ..written };
                model.step(&[written, read])
            }
            _ => {
                streams.iter().for_each(|stream| stream.synchronize().unwrap());
                model.reached = number;
                0
            }
        };
        steps.push((before..made(), may_wait));
    }
    let log = cuda_sim::calls();
    assert_eq!(log.len(), made());
    let mut made = 0;
    for (calls, may_wait) in steps {
        let waits = log[calls].iter().filter(|call| call.function == "cuStreamWaitEvent").count();
        assert!(waits <= may_wait, "a call waits {waits} times, and needs {may_wait}");
        made += waits;
    }
    made
}

/// Counts the driver's calls so far, which is how long the log is.
fn made() -> usize {
    usize::try_from(cuda_sim::call_count()).unwrap()
}

fn programs(seeds: std::ops::Range<u64>) {
    let context = cuda_safe::Device::get(0).unwrap().context().unwrap();
    let mut waits = 0;
    for seed in seeds {
        waits += program(&context, &mut Random(seed));
        let report = cuda_sim::report();
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
    // A model that lets nothing through would say nothing about what is let through.
    assert!(waits > 0, "no program waits");
}

/// Returns a configuration that keeps the log, which the waits are counted in.
fn logged(scheduler: Scheduler) -> Config {
    Config::new().scheduler(scheduler).log(true)
}

#[test]
fn no_needless_wait() {
    isolated!(logged(Scheduler::Lazy), || programs(0..20));
}

#[test]
#[ignore = "takes minutes"]
fn no_needless_wait_in_a_thousand_programs() {
    let hour = Duration::from_secs(3600);
    isolated!(logged(Scheduler::Lazy)).limit(hour).run(|| programs(0..1000));
}

#[test]
#[ignore = "takes minutes"]
fn no_needless_wait_in_a_thousand_programs_in_random_order() {
    let hour = Duration::from_secs(3600);
    isolated!(logged(Scheduler::Seeded(7))).limit(hour).run(|| programs(1000..2000));
}
