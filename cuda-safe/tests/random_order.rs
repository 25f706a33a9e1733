//! Random programs on 2 to 8 streams and threads: the simulator reports no race, what is read is
//! what was written before, and no stream waits for another without need.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

mod common;

use cuda_safe::{Context, DeviceBuffer, PinnedBuffer, Stream, call};
use cuda_sim::{Config, Scheduler, isolated};

use common::{BLOCK, Part, Random};

const BLOCKS: usize = 16;

/// Runs random calls from one thread, and checks each byte against what the calls mean in order.
fn program(context: &Context, random: &mut Random) {
    let mut streams: Vec<Stream> =
        (0..2 + random.below(7)).map(|_| Stream::new(context).unwrap()).collect();
    streams.push(Stream::legacy(context));
    let mut buffers: Vec<_> =
        (0..2).map(|_| DeviceBuffer::allocate(context, BLOCK * BLOCKS).unwrap()).collect();
    let mut model = [[0_u8; BLOCKS], [0_u8; BLOCKS]];
    for buffer in &mut buffers {
        call::memset_d8(buffer, 0).unwrap();
    }
    for step in 0..60 {
        let which = random.below(2);
        let first = random.below(BLOCKS);
        let blocks = 1 + random.below(BLOCKS - first);
        let picked = random.below(streams.len());
        let stream = &streams[picked];
        let mut part = Part::of(&buffers[which], first, blocks);
        match random.below(8) {
            0..3 => {
                let byte = u8::try_from(step).unwrap();
                call::memset_d8_async(&mut part, byte, stream).unwrap();
                model[which][first..first + blocks].fill(byte);
            }
            3..5 => {
                let from = random.below(BLOCKS - blocks + 1);
                let source = Part::of(&buffers[1 - which], from, blocks);
                call::memcpy_dtod_async(&mut part, &source, stream).unwrap();
                let bytes = model[1 - which][from..from + blocks].to_vec();
                model[which][first..first + blocks].copy_from_slice(&bytes);
            }
            5 => {
                let mut pinned = PinnedBuffer::<u8>::zeroed(context, blocks * BLOCK).unwrap();
                call::memcpy_dtoh_async(&mut pinned, &part, stream).unwrap();
                let read = pinned.as_slice().unwrap();
                for (block, expected) in
                    read.chunks(BLOCK).zip(&model[which][first..first + blocks])
                {
                    assert_eq!(block, [*expected; BLOCK]);
                }
            }
            6 => {
                let byte = u8::try_from(step).unwrap() | 0x80;
                let source = PinnedBuffer::from_slice(context, &vec![byte; blocks * BLOCK]);
                call::memcpy_htod_async(&mut part, &source.unwrap(), stream).unwrap();
                model[which][first..first + blocks].fill(byte);
            }
            _ => streams[picked] = Stream::new(context).unwrap(),
        }
    }
    for (buffer, expected) in buffers.iter().zip(&model) {
        let mut bytes = [0_u8; BLOCK * BLOCKS];
        call::memcpy_dtoh(&mut bytes, buffer).unwrap();
        for (block, expected) in bytes.chunks(BLOCK).zip(expected) {
            assert_eq!(block, [*expected; BLOCK]);
        }
    }
}

fn programs(seeds: std::ops::Range<u64>) {
    let context = cuda_safe::Device::get(0).unwrap().context().unwrap();
    for seed in seeds {
        program(&context, &mut Random(seed));
        let report = cuda_sim::report();
        assert!(report.is_clean(), "seed {seed}: {report}");
    }
    assert_eq!(context.reported_errors(), 0);
}

#[test]
fn put_off_as_long_as_it_goes() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || programs(0..100));
}

#[test]
fn at_once() {
    isolated!(Config::new(), || programs(0..100));
}

macro_rules! in_a_random_order {
    ($($name:ident = $seed:literal),*) => { $(
        #[test]
        fn $name() {
            let config = Config::new().scheduler(Scheduler::Seeded($seed));
            isolated!(config, || programs(100 * $seed..100 * $seed + 100));
        }
    )* };
}

in_a_random_order!(in_random_order_1 = 1, in_random_order_2 = 2, in_random_order_3 = 3);

#[test]
fn from_many_threads() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        let context = cuda_safe::Device::get(0).unwrap().context().unwrap();
        for seed in 0..30_u64 {
            // Each thread has its blocks to write to, and all read the shared ones.
            let shared = DeviceBuffer::<u8>::allocate(&context, BLOCK * BLOCKS).unwrap();
            let mut shared = shared;
            call::memset_d8(&mut shared, 77).unwrap();
            let written = DeviceBuffer::<u8>::allocate(&context, BLOCK * BLOCKS).unwrap();
            let streams: Vec<_> = (0..3).map(|_| Stream::new(&context).unwrap()).collect();
            std::thread::scope(|scope| {
                for thread in 0..8_usize {
                    let (shared, written, streams) = (&shared, &written, &streams);
                    scope.spawn(move || {
                        let mut random = Random(seed * 8 + thread as u64);
                        for step in 0..40_u8 {
                            let stream = &streams[random.below(streams.len())];
                            let mut own = Part::of(written, 2 * thread, 2);
                            match random.below(2) {
                                0 => call::memset_d8_async(&mut own, step, stream).unwrap(),
                                _ => {
                                    let from = Part::of(shared, random.below(BLOCKS - 1), 2);
                                    call::memcpy_dtod_async(&mut own, &from, stream).unwrap();
                                }
                            }
                        }
                        let mut own = Part::of(written, 2 * thread, 2);
                        let last = &streams[random.below(streams.len())];
                        call::memset_d8_async(&mut own, u8::try_from(thread).unwrap(), last)
                            .unwrap();
                    });
                }
            });
            let mut bytes = [0_u8; BLOCK * BLOCKS];
            call::memcpy_dtoh(&mut bytes, &written).unwrap();
            for (index, block) in bytes.chunks(2 * BLOCK).enumerate() {
                assert_eq!(block, [u8::try_from(index).unwrap(); 2 * BLOCK]);
            }
        }
        let report = cuda_sim::report();
        assert!(report.is_clean(), "{report}");
    });
}
