//! Random programs that order all that they do: under every scheduler they compute the same, which
//! is what a model of the memory says, and nothing is found. One wait less, and something is.

#![expect(clippy::indexing_slicing, reason = "bodies that several tests run are tests too")]

mod common;

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated};
use cuda_sys::*;

const BUFFERS: usize = 4;
const BYTES: usize = 64;
const STREAMS: usize = 3;
const STEPS: usize = 60;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}

/// Is what was done last to a buffer: the events behind it, by stream.
#[derive(Clone, Default)]
struct Uses {
    write: Option<(usize, CUevent)>,
    reads: Vec<(usize, CUevent)>,
}

/// Runs the program of a seed, without its `skipped`-th wait, and returns how many waits there are.
fn program(seed: u64, skipped: Option<usize>) -> usize {
    let mut random = Random(seed);
    start();
    let streams: Vec<_> = (0..STREAMS).map(|index| stream(u32::from(index > 0))).collect();
    let buffers: Vec<_> = (0..BUFFERS).map(|_| alloc(BYTES)).collect();
    let mut model = vec![[0_u8; BYTES]; BUFFERS];
    for &buffer in &buffers {
        ok!(cuMemsetD8_v2(buffer, 0, BYTES));
    }
    ok!(cuCtxSynchronize());
    let mut uses = vec![Uses::default(); BUFFERS];
    let (mut events, mut waits) = (Vec::new(), 0);
    for step in 0..STEPS {
        let on = random.below(STREAMS);
        let (to, from) = (random.below(BUFFERS), random.below(BUFFERS));
        let is_fill = random.below(2) == 0 || to == from;
        let mut earlier: Vec<_> =
            uses[to].write.into_iter().chain(uses[to].reads.clone()).collect();
        if !is_fill {
            earlier.extend(uses[from].write);
        }
        for (other, done) in earlier {
            if other != on {
                if skipped != Some(waits) {
                    ok!(cuStreamWaitEvent(streams[on], done, 0));
                }
                waits += 1;
            }
        }
        let done = event();
        events.push(done);
        if is_fill {
            let value = u8::try_from(step + 1).unwrap_or(0);
            ok!(cuMemsetD8Async(buffers[to], value, BYTES / 2, streams[on]));
            model[to][..BYTES / 2].fill(value);
        } else {
            ok!(cuMemcpyDtoDAsync_v2(at(buffers[to], 16), buffers[from], BYTES / 2, streams[on]));
            let source = model[from];
            model[to][16..16 + BYTES / 2].copy_from_slice(&source[..BYTES / 2]);
            uses[from].reads.push((on, done));
        }
        ok!(cuEventRecord(done, streams[on]));
        uses[to] = Uses { write: Some((on, done)), reads: Vec::new() };
    }
    ok!(cuCtxSynchronize());
    let right = buffers.iter().zip(&model).all(|(&buffer, model)| read(buffer, BYTES) == model);
    if skipped.is_none() {
        assert!(right, "seed {seed}");
    }
    for event in events {
        ok!(cuEventDestroy_v2(event));
    }
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
    for buffer in buffers {
        free(buffer);
    }
    end();
    waits
}

fn many() {
    for seed in 0..40 {
        program(seed, None);
    }
}

#[test]
fn eager() {
    isolated!(Config::new(), many);
}

#[test]
fn lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), many);
}

#[test]
fn seeded() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(42)), many);
}

#[test]
fn a_wait_that_is_missing_is_found() {
    isolated!(Config::new()).unchecked().run(|| {
        let (mut found, mut needless) = (0, 0);
        for seed in 0..4 {
            for skipped in 0..program(seed, None) {
                let before = cuda_sim::report().count(FindingKind::Race);
                program(seed, Some(skipped));
                // A wait may be implied by others; equal findings stand once.
                match cuda_sim::report().count(FindingKind::Race) > before {
                    true => found += 1,
                    false => needless += 1,
                }
            }
        }
        assert!(found > 50 && found > needless, "{found} found, {needless} needless");
    });
}
