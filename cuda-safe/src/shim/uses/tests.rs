//! Use records against a model that remembers every use and every order between streams.
//!
//! Random programs: uses begin (settle) and end (touch) in any interleaving that the borrow checker
//! allows, streams are found to have reached marks. No wait may be missing, none needless.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::super::area::Area;
use super::super::operand::Access;
use super::{FEW, Marks, Pending, Uses};

#[derive(Debug)]
struct Stream {
    id: u64,
    reached: AtomicU64,
}

impl Marks for Stream {
    fn id(&self) -> u64 {
        self.id
    }

    fn reached(&self) -> u64 {
        self.reached.load(Ordering::Relaxed)
    }
}

const STREAMS: usize = 4;
type Clock = [u64; STREAMS];

#[derive(Clone, Debug)]
enum Step {
    Begin { stream: usize, access: Access, area: Area },
    End { which: usize },
    Reach { stream: usize, back: u64 },
    DropReached,
}

fn step() -> impl Strategy<Value = Step> {
    let access = prop_oneof![Just(Access::Read), Just(Access::Write)];
    let area = prop_oneof![
        3 => (0_usize..4, 1_usize..4).prop_map(|(start, len)| Area::bytes(8 * start, 8 * len)),
        1 => (0_usize..8, 1_usize..5, 1_usize..5)
            .prop_map(|(start, width, height)| Area::rows(start, 8, width, height)),
        1 => Just(Area::EMPTY),
    ];
    prop_oneof![
        6 => (0..STREAMS, access, area)
            .prop_map(|(stream, access, area)| Step::Begin { stream, access, area }),
        6 => any::<usize>().prop_map(|which| Step::End { which }),
        1 => (0..STREAMS, 0_u64..3).prop_map(|(stream, back)| Step::Reach { stream, back }),
        1 => Just(Step::DropReached),
    ]
}

/// Is a use as the model remembers it.
#[derive(Clone, Debug)]
struct Done {
    stream: usize,
    mark: u64,
    access: Access,
    area: Area,
    /// What is done before it, by stream.
    clock: Clock,
}

struct Begun {
    stream: usize,
    access: Access,
    area: Area,
    clock: Clock,
    pending: Vec<Pending<Stream>>,
}

struct Model {
    streams: Vec<Arc<Stream>>,
    uses: Uses<Stream>,
    done: Vec<Done>,
    begun: Vec<Begun>,
    issued: Clock,
    /// What everything that comes on a stream is behind.
    clocks: [Clock; STREAMS],
}

impl Model {
    fn new() -> Self {
        let stream = |id| Arc::new(Stream { id, reached: AtomicU64::new(0) });
        Self {
            streams: (1..=STREAMS as u64).map(stream).collect(),
            uses: Uses::new(),
            done: Vec::new(),
            begun: Vec::new(),
            issued: [0; STREAMS],
            clocks: [[0; STREAMS]; STREAMS],
        }
    }

    /// What is known to be done: what was reached, and what that was behind.
    fn known(&self) -> Clock {
        let mut known = [0; STREAMS];
        for (stream, known) in known.iter_mut().enumerate() {
            *known = self.streams[stream].reached();
        }
        for done in &self.done {
            if done.mark <= self.streams[done.stream].reached() {
                join(&mut known, &done.clock);
            }
        }
        known
    }

    fn begin(&mut self, stream: usize, access: Access, area: Area) {
        let clashes = |other: &Begun| other.access.conflicts(access) && other.area.overlaps(&area);
        if self.begun.iter().any(clashes) {
            // The borrow checker does not allow it.
            return;
        }
        let pending = self.uses.settle(self.streams[stream].id, access, &area);
        for wait in &pending {
            let other = usize::try_from(wait.timeline.id).unwrap() - 1;
            let needed = self.done.iter().any(|done| {
                done.stream == other
                    && done.mark <= wait.mark
                    && done.access.conflicts(access)
                    && done.area.overlaps(&area)
                    && done.mark > self.streams[other].reached()
            });
            assert!(needed, "a needless wait for mark {} of stream {other}", wait.mark);
            assert_ne!(other, stream, "a stream waits for itself");
            let mut behind = self.clocks[stream];
            behind[other] = behind[other].max(wait.mark);
            for done in &self.done {
                if done.stream == other && done.mark <= wait.mark {
                    join(&mut behind, &done.clock);
                }
            }
            self.clocks[stream] = behind;
        }
        let known = self.known();
        for done in &self.done {
            if done.access.conflicts(access) && done.area.overlaps(&area) {
                let behind = done.stream == stream
                    || self.clocks[stream][done.stream] >= done.mark
                    || known[done.stream] >= done.mark;
                assert!(behind, "no wait for {done:?} before {access:?} of {area:?} on {stream}");
            }
        }
        let clock = self.clocks[stream];
        self.begun.push(Begun { stream, access, area, clock, pending });
    }

    fn end(&mut self, which: usize) {
        if self.begun.is_empty() {
            return;
        }
        let which = which % self.begun.len();
        let Begun { stream, access, area, mut clock, pending } = self.begun.swap_remove(which);
        self.issued[stream] += 1;
        let mark = self.issued[stream];
        clock[stream] = mark;
        self.uses.touch(&self.streams[stream], mark, access, &area, pending.iter());
        if !area.is_empty() {
            self.done.push(Done { stream, mark, access, area, clock });
        }
    }

    fn reach(&mut self, stream: usize, back: u64) {
        let mark = self.issued[stream].saturating_sub(back);
        self.streams[stream].reached.fetch_max(mark, Ordering::Relaxed);
    }

    fn run(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Begin { stream, access, area } => self.begin(stream, access, area),
                Step::End { which } => self.end(which),
                Step::Reach { stream, back } => self.reach(stream, back),
                Step::DropReached => self.uses.drop_reached(),
            }
        }
        // Who frees the memory waits for everything that is not known to be done.
        while !self.begun.is_empty() {
            self.end(0);
        }
        let mut known = self.known();
        for wait in self.uses.outstanding() {
            let other = usize::try_from(wait.timeline.id).unwrap() - 1;
            known[other] = known[other].max(wait.mark);
            for done in &self.done {
                if done.stream == other && done.mark <= wait.mark {
                    join(&mut known, &done.clock);
                }
            }
        }
        for done in &self.done {
            assert!(known[done.stream] >= done.mark, "forgotten: {done:?}");
        }
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (here, there) in clock.iter_mut().zip(other) {
        *here = (*here).max(*there);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_wait_is_missing_and_none_needless(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        Model::new().run(steps);
    }
}

fn stream(id: u64) -> Arc<Stream> {
    Arc::new(Stream { id, reached: AtomicU64::new(0) })
}

fn none() -> std::iter::Empty<&'static Pending<Stream>> {
    std::iter::empty()
}

const ALL: Area = Area::bytes(0, 100);

#[test]
fn a_loop_on_one_stream_is_one_use() {
    let (uses, only) = (Uses::new(), stream(1));
    for mark in 1..1000 {
        assert!(uses.settle(1, Access::Write, &ALL).is_empty());
        assert!(!uses.touch(&only, mark, Access::Write, &ALL, none()));
    }
    assert_eq!(uses.len(), 1);
    assert_eq!(uses.settle(2, Access::Read, &ALL)[0].mark, 999);
}

#[test]
fn readers_wait_for_writers_only() {
    let (uses, writer, first, second) = (Uses::new(), stream(1), stream(2), stream(3));
    uses.touch(&writer, 1, Access::Write, &ALL, none());
    let settled = uses.settle(2, Access::Read, &ALL);
    assert_eq!(settled.len(), 1);
    uses.touch(&first, 1, Access::Read, &ALL, settled.iter());
    let settled = uses.settle(3, Access::Read, &ALL);
    assert_eq!(settled.iter().map(|wait| wait.timeline.id).collect::<Vec<_>>(), [1]);
    uses.touch(&second, 1, Access::Read, &ALL, settled.iter());
    // A writer waits for both readers, also where one slot would hold only the last.
    let settled = uses.settle(4, Access::Write, &ALL);
    assert_eq!(settled.len(), 3);
}

#[test]
fn two_threads_on_two_halves_lose_neither_use() {
    let (uses, first, second) = (Uses::new(), stream(1), stream(2));
    let (left, right) = (Area::bytes(0, 50), Area::bytes(50, 50));
    let one = uses.settle(1, Access::Write, &left);
    let two = uses.settle(2, Access::Write, &right);
    uses.touch(&second, 1, Access::Write, &right, two.iter());
    uses.touch(&first, 1, Access::Write, &left, one.iter());
    assert!(uses.settle(1, Access::Write, &left).is_empty());
    assert_eq!(uses.settle(3, Access::Read, &ALL).len(), 2);
}

#[test]
fn marks_that_arrive_in_the_wrong_order_keep_the_higher() {
    let (uses, only) = (Uses::new(), stream(1));
    uses.touch(&only, 2, Access::Write, &ALL, none());
    uses.touch(&only, 1, Access::Write, &ALL, none());
    assert_eq!(uses.settle(2, Access::Read, &ALL)[0].mark, 2);
}

#[test]
fn a_long_record_drops_what_was_reached() {
    let (uses, only) = (Uses::new(), stream(1));
    let mut asked = false;
    for mark in 1..=FEW as u64 + 1 {
        let area = Area::bytes(usize::try_from(mark).unwrap() * 10, 10);
        asked = uses.touch(&only, mark, Access::Write, &area, none());
    }
    assert!(asked);
    only.reached.store(7, Ordering::Relaxed);
    uses.drop_reached();
    assert_eq!(uses.len(), FEW + 1 - 7);
}
