//! Random programs on 2 to 8 streams, with every wait counted: a stream waits for another only for
//! a use that overlaps, conflicts, and is not behind it yet. And what streams wait for by value.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

use std::time::Duration;

use cuda_safe::shim::{Device, Kind, Memory, Region, Steady};
use cuda_safe::{Context, DeviceBuffer, Stream, call};
use cuda_sim::{Config, Scheduler, isolated};

/// Is a source of numbers that is the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

const BLOCK: usize = 16;
const BLOCKS: usize = 12;

/// Is some blocks of a buffer, split as a view would be.
struct Part<'a>(Region<'a>);

impl<'a> Part<'a> {
    fn of(buffer: &'a DeviceBuffer<u8>, first: usize, blocks: usize) -> Self {
        // SAFETY: the address is only passed to calls of this crate.
        let address = usize::try_from(unsafe { buffer.as_device_ptr() }.0).unwrap();
        let region = Region::new(address + first * BLOCK, blocks * BLOCK, Kind::Alloc);
        let region = region.with_home(buffer.context());
        Self(region.within(buffer.allocation(), first * BLOCK))
    }
}

// SAFETY: whoever makes one takes care that nobody writes to its blocks at the same time.
unsafe impl Memory for Part<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}
// SAFETY: the buffer's record is named.
unsafe impl Steady for Part<'_> {}
// SAFETY: the buffer is on the device.
unsafe impl Device for Part<'_> {}

fn context() -> Context {
    cuda_safe::Device::get(0).unwrap().context().unwrap()
}

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
}

/// Is what happened so far, as far as waits depend on it.
struct Model {
    uses: Vec<Use>,
    /// Up to which use of each other stream each stream is known to be behind it.
    behind: Vec<Vec<usize>>,
    /// The uses up to here are done, and the host knows.
    reached: usize,
}

impl Model {
    /// Returns for how many other streams a call with these uses may wait, and notes them.
    fn step(&mut self, uses: &[Use]) -> usize {
        let mut streams = Vec::new();
        for next in uses {
            for earlier in &self.uses {
                let is_needed = earlier.stream != next.stream
                    && earlier.number > self.reached
                    && earlier.conflicts(next)
                    && earlier.number > self.behind[next.stream][earlier.stream];
                if is_needed {
                    streams.push((next.stream, earlier.stream, earlier.number));
                }
            }
        }
        for (stream, other, number) in &streams {
            let known = &mut self.behind[*stream][*other];
            *known = (*known).max(*number);
        }
        self.uses.extend(uses);
        streams.sort_unstable();
        streams.dedup_by_key(|(_, other, _)| *other);
        // Each operand of a call may need its own wait for one stream.
        streams.len() * uses.len()
    }
}

fn program(context: &Context, random: &mut Random) {
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
    for (calls, may_wait) in steps {
        let waits = log[calls].iter().filter(|call| call.function == "cuStreamWaitEvent").count();
        assert!(waits <= may_wait, "a call waits {waits} times, and needs {may_wait}");
    }
}

/// Counts the driver's calls so far, which is how long the log is.
fn made() -> usize {
    usize::try_from(cuda_sim::call_count()).unwrap()
}

fn programs(seeds: std::ops::Range<u64>) {
    let context = context();
    for seed in seeds {
        program(&context, &mut Random(seed));
        let report = cuda_sim::report();
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
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
