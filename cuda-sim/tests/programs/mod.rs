//! Programs of random steps on several streams, whose result a model knows. Each step waits for what
//! it conflicts with, so that nothing is to be found; one wait less, and an oracle tells whether
//! something is.

#![allow(dead_code, reason = "not every user uses all of it")]

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;

use cuda_sys::*;

use crate::common::*;

/// How many device buffers there are; as many pinned ones follow them.
pub(crate) const BUFFERS: usize = 4;
/// How many parts a buffer has; a step touches some that lie together.
pub(crate) const PARTS: usize = 4;
/// How many bytes a part has.
const PART: usize = 32;

/// Is some parts of a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) buffer: usize,
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Span {
    fn cells(self) -> impl Iterator<Item = usize> {
        (self.first..self.first + self.count).map(move |part| self.buffer * PARTS + part)
    }

    const fn bytes(self) -> usize {
        self.count * PART
    }

    const fn is_pinned(self) -> bool {
        self.buffer >= BUFFERS
    }
}

/// Is a step of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Fills parts with a value.
    Fill { on: usize, to: Span, value: u8 },
    /// Copies parts to the first ones of another buffer.
    Copy { on: usize, to: usize, from: Span },
    /// Lets a host function add one to each byte of a pinned buffer.
    Host { on: usize, page: usize },
    /// Frees a buffer and allocates it anew.
    Renew { buffer: usize },
    /// Destroys a stream and creates another in its place.
    Restart { stream: usize },
    /// Reads a buffer.
    Read { buffer: usize },
}

/// Is an event that lives as long as somebody may wait for it.
struct Event(CUevent);

impl Drop for Event {
    fn drop(&mut self) {
        ok!(cuEventDestroy_v2(self.0));
    }
}

/// Is what a step did to a part: its number, its stream, and the event behind it.
#[derive(Clone)]
struct Use {
    step: usize,
    stream: usize,
    is_host: bool,
    done: Rc<Event>,
}

/// Is what was done to a part since its last write, which comes first.
#[derive(Clone, Default)]
struct Uses {
    write: Option<Use>,
    reads: Vec<Use>,
}

/// Is what a program did.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How many waits on streams there were.
    pub(crate) waits: usize,
    /// Whether two steps that conflict are in no order.
    pub(crate) races: bool,
    /// Whether a host function was one side of a conflict without order.
    pub(crate) races_with_host: bool,
    /// Whether all that was read is what the model has.
    pub(crate) is_right: bool,
}

/// Is the address and the size of a pinned buffer, at a place that stays.
type Page = Box<(usize, usize)>;

struct Runner {
    streams: Vec<(usize, CUstream)>,
    next_stream: usize,
    buffers: Vec<u64>,
    model: Vec<Vec<u8>>,
    uses: Vec<Uses>,
    pages: Vec<Page>,
    /// All steps that come before the next one of each stream, by the stream's number.
    before: Vec<BTreeSet<usize>>,
    /// All steps that come before each step; empty without an oracle.
    ancestors: Vec<BTreeSet<usize>>,
    known: BTreeSet<usize>,
    has_oracle: bool,
    /// How many steps there were.
    count: usize,
    skipped: Option<usize>,
    outcome: Outcome,
}

extern "system" fn add_one(page: *mut c_void) {
    let page: *const (usize, usize) = page.cast_const().cast();
    // SAFETY: the program keeps the pair until it ends.
    let (address, bytes) = unsafe { *page };
    let at = ptr::with_exposed_provenance_mut::<u8>(address);
    // SAFETY: the pair is that of a pinned buffer, which nothing else uses meanwhile.
    let bytes = unsafe { std::slice::from_raw_parts_mut(at, bytes) };
    bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
}

/// Runs a program on `streams` non-blocking streams, without its `skipped`-th wait. The oracle costs
/// the square of the steps.
pub(crate) fn run(
    steps: &[Step],
    streams: usize,
    skipped: Option<usize>,
    has_oracle: bool,
) -> Outcome {
    start();
    let mut runner = Runner {
        streams: Vec::new(),
        next_stream: 0,
        buffers: Vec::new(),
        model: vec![vec![0; PARTS * PART]; 2 * BUFFERS],
        uses: vec![Uses::default(); 2 * BUFFERS * PARTS],
        pages: Vec::new(),
        before: Vec::new(),
        ancestors: Vec::new(),
        known: BTreeSet::new(),
        has_oracle,
        count: 0,
        skipped,
        outcome: Outcome { waits: 0, races: false, races_with_host: false, is_right: true },
    };
    for buffer in 0..2 * BUFFERS {
        let address = runner.allocate(buffer);
        runner.buffers.push(address);
    }
    ok!(cuCtxSynchronize());
    for _ in 0..streams {
        let stream = runner.new_stream();
        runner.streams.push(stream);
    }
    for &step in steps {
        runner.step(step);
    }
    for buffer in 0..2 * BUFFERS {
        runner.step(Step::Read { buffer });
    }
    runner.finish()
}

impl Runner {
    fn allocate(&mut self, buffer: usize) -> u64 {
        let address =
            if buffer < BUFFERS { alloc(PARTS * PART).0 } else { pinned(PARTS * PART) as u64 };
        ok!(cuMemsetD8_v2(CUdeviceptr(address), 0, PARTS * PART));
        self.model[buffer].fill(0);
        address
    }

    fn new_stream(&mut self) -> (usize, CUstream) {
        self.next_stream += 1;
        self.before.push(BTreeSet::new());
        (self.next_stream - 1, stream(1))
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Fill { on, to, value } => {
                let stream = self.order(on, &[(to, true)], false);
                ok!(cuMemsetD8Async(self.at(to), value, to.bytes(), stream));
                let range = to.first * PART..to.first * PART + to.bytes();
                self.model[to.buffer][range].fill(value);
                self.note(on, &[(to, true)], false);
            }
            Step::Copy { on, to, from } => {
                let to = Span { buffer: to, first: 0, count: from.count };
                // Between pinned buffers the call waits, which is another thing.
                if to.buffer == from.buffer || to.is_pinned() && from.is_pinned() {
                    return;
                }
                let both = [(to, true), (from, false)];
                let stream = self.order(on, &both, false);
                ok!(cuMemcpyAsync(self.at(to), self.at(from), to.bytes(), stream));
                let start = from.first * PART;
                let source = self.model[from.buffer][start..start + from.bytes()].to_vec();
                self.model[to.buffer][..to.bytes()].copy_from_slice(&source);
                self.note(on, &both, false);
            }
            Step::Host { on, page } => {
                let span = Span { buffer: BUFFERS + page, first: 0, count: PARTS };
                let stream = self.order(on, &[(span, true)], true);
                let address = usize::try_from(self.at(span).0).unwrap_or(0);
                let mut pair: Page = Box::new((address, span.bytes()));
                let data = ptr::from_mut(&mut *pair).cast();
                ok!(cuLaunchHostFunc(stream, Some(add_one), data));
                self.pages.push(pair);
                let bytes = self.model[span.buffer].iter_mut();
                bytes.for_each(|byte| *byte = byte.wrapping_add(1));
                self.note(on, &[(span, true)], true);
            }
            Step::Renew { buffer } => {
                let whole = Span { buffer, first: 0, count: PARTS };
                self.host_waits(whole, true);
                self.free(buffer);
                self.buffers[buffer] = self.allocate(buffer);
                ok!(cuStreamSynchronize(LEGACY));
                whole.cells().for_each(|cell| self.uses[cell] = Uses::default());
            }
            Step::Restart { stream } => {
                ok!(cuStreamDestroy_v2(self.streams[stream].1));
                self.streams[stream] = self.new_stream();
            }
            Step::Read { buffer } => {
                let whole = Span { buffer, first: 0, count: PARTS };
                self.host_waits(whole, false);
                let bytes = read(CUdeviceptr(self.buffers[buffer]), PARTS * PART);
                self.outcome.is_right &= bytes == self.model[buffer];
            }
        }
    }

    fn at(&self, span: Span) -> CUdeviceptr {
        CUdeviceptr(self.buffers[span.buffer] + (span.first * PART) as u64)
    }

    /// Returns the uses that a new one of these spans conflicts with.
    fn conflicts(&self, spans: &[(Span, bool)]) -> Vec<Use> {
        let mut found = Vec::new();
        for &(span, writes) in spans {
            for cell in span.cells() {
                found.extend(self.uses[cell].write.clone());
                if writes {
                    found.extend(self.uses[cell].reads.clone());
                }
            }
        }
        found.sort_by_key(|used| used.step);
        found.dedup_by_key(|used| used.step);
        found
    }

    /// Lets a stream wait for what the next step conflicts with.
    fn order(&mut self, on: usize, spans: &[(Span, bool)], is_host: bool) -> CUstream {
        let (number, stream) = self.streams[on];
        let conflicts = self.conflicts(spans);
        for used in &conflicts {
            if used.stream == number {
                continue;
            }
            if self.skipped != Some(self.outcome.waits) {
                ok!(cuStreamWaitEvent(stream, used.done.0, 0));
                if self.has_oracle {
                    let ancestors = self.ancestors[used.step].clone();
                    self.before[number].extend(ancestors);
                }
            }
            self.outcome.waits += 1;
        }
        if self.has_oracle {
            let is_before = |step| self.before[number].contains(step) || self.known.contains(step);
            for used in conflicts.iter().filter(|used| !is_before(&used.step)) {
                self.outcome.races |= !is_host && !used.is_host;
                self.outcome.races_with_host |= is_host || used.is_host;
            }
        }
        stream
    }

    /// Notes what the step did.
    fn note(&mut self, on: usize, spans: &[(Span, bool)], is_host: bool) {
        let (stream, raw) = self.streams[on];
        let done = Rc::new(Event(event()));
        ok!(cuEventRecord(done.0, raw));
        let step = self.count;
        self.count += 1;
        if self.has_oracle {
            self.before[stream].insert(step);
            let ancestors = self.before[stream].union(&self.known).copied().collect();
            self.ancestors.push(ancestors);
        }
        let used = Use { step, stream, is_host, done };
        for &(span, writes) in spans {
            for cell in span.cells() {
                if writes {
                    self.uses[cell] = Uses { write: Some(used.clone()), reads: Vec::new() };
                } else {
                    // A later read of a stream stands for its earlier ones.
                    self.uses[cell].reads.retain(|read| read.stream != stream);
                    self.uses[cell].reads.push(used.clone());
                }
            }
        }
    }

    /// Lets the host wait for all writes of a span, and for its reads if it is to be `written`.
    fn host_waits(&mut self, span: Span, written: bool) {
        for used in self.conflicts(&[(span, written)]) {
            ok!(cuEventSynchronize(used.done.0));
            if self.has_oracle {
                self.known.extend(&self.ancestors[used.step]);
            }
        }
    }

    fn free(&self, buffer: usize) {
        let address = CUdeviceptr(self.buffers[buffer]);
        if buffer < BUFFERS {
            free(address);
        } else {
            ok!(cuMemFreeHost(as_host(address)));
        }
    }

    fn finish(mut self) -> Outcome {
        ok!(cuCtxSynchronize());
        for buffer in 0..2 * BUFFERS {
            self.free(buffer);
        }
        for (_, stream) in &self.streams {
            ok!(cuStreamDestroy_v2(*stream));
        }
        self.uses.clear();
        end();
        self.outcome
    }
}

/// Makes steps of a stream of random numbers.
pub(crate) fn step_of(mut random: impl FnMut(usize) -> usize, streams: usize) -> Step {
    let span = |random: &mut dyn FnMut(usize) -> usize| {
        let first = random(PARTS);
        Span { buffer: random(2 * BUFFERS), first, count: 1 + random(PARTS - first) }
    };
    let on = random(streams);
    match random(20) {
        0..7 => {
            let value = u8::try_from(random(256)).unwrap_or(0);
            Step::Fill { on, to: span(&mut random), value }
        }
        7..15 => Step::Copy { on, from: span(&mut random), to: random(2 * BUFFERS) },
        15 => Step::Host { on, page: random(BUFFERS) },
        16 => Step::Renew { buffer: random(2 * BUFFERS) },
        17 => Step::Restart { stream: on },
        _ => Step::Read { buffer: random(2 * BUFFERS) },
    }
}

/// Makes a program of a seed.
pub(crate) fn of_seed(mut seed: u64, steps: usize, streams: usize) -> Vec<Step> {
    let mut random = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % bound.max(1)
    };
    (0..steps).map(|_| step_of(&mut random, streams)).collect()
}
