//! Lanes: the orders in which work is queued. A stream is one; so is a context's legacy stream, and
//! a thread's per-thread stream.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::engine::clock::{Clock, LaneId};
use crate::engine::handle::Handle;
use crate::engine::work::ItemId;

/// Is how a lane is ordered with its context's legacy lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// Its work waits for all blocking lanes, and theirs for it.
    Legacy,
    /// An ordinary or a per-thread stream.
    Blocking,
    /// A stream that the legacy lane doesn't know.
    NonBlocking,
}

/// Is a lane.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) context: Handle,
    pub(crate) kind: LaneKind,
    /// The work that was queued last; zero if none was.
    pub(crate) last: ItemId,
    /// What comes before the next work.
    pub(crate) clock: Clock,
    /// How much work was queued.
    pub(crate) count: u64,
    /// Whether its stream was destroyed: what is queued still runs.
    closed: bool,
    /// What a sentence calls it.
    pub(crate) label: Arc<str>,
}

/// Holds all lanes.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    all: BTreeMap<LaneId, Lane>,
    /// Those of each context, in the order in which they were made.
    by_context: HashMap<Handle, Vec<LaneId>>,
    last_id: LaneId,
    /// How many of them are closed.
    closed: usize,
    /// How many closed ones are worth a sweep: twice as many as the last one left.
    worth: usize,
}

/// With fewer closed lanes than this a sweep isn't worth its cost.
const LEAST_WORTH: usize = 32;

/// How many closed lanes are kept whose work has run and isn't known to be done. The races of older
/// ones are missed.
pub(crate) const MOST_CLOSED: usize = 1024;

impl Lanes {
    /// Adds a lane; `label` makes its name of its number.
    pub(crate) fn add(
        &mut self,
        context: Handle,
        kind: LaneKind,
        label: impl FnOnce(LaneId) -> String,
    ) -> LaneId {
        self.last_id += 1;
        let id = self.last_id;
        let lane = Lane {
            context,
            kind,
            last: 0,
            clock: Clock::default(),
            count: 0,
            closed: false,
            label: label(id).into(),
        };
        self.all.insert(id, lane);
        self.by_context.entry(context).or_default().push(id);
        id
    }

    pub(crate) fn get(&self, id: LaneId) -> Option<&Lane> {
        self.all.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: LaneId) -> Option<&mut Lane> {
        self.all.get_mut(&id)
    }

    /// Returns the lanes of a context.
    pub(crate) fn of(&self, context: Handle) -> impl Iterator<Item = (LaneId, &Lane)> {
        let ids = self.by_context.get(&context).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|&id| self.all.get(&id).map(|lane| (id, lane)))
    }

    /// Closes a lane: its stream is gone.
    pub(crate) fn close(&mut self, id: LaneId) {
        if let Some(lane) = self.all.get_mut(&id)
            && !lane.closed
        {
            lane.closed = true;
            self.closed += 1;
        }
    }

    /// Closes the lanes of a context.
    pub(crate) fn close_all(&mut self, context: Handle) {
        let theirs: Vec<_> = self.of(context).map(|(id, _)| id).collect();
        for id in theirs {
            self.close(id);
        }
    }

    /// Tells whether there are so many closed lanes that a sweep is worth its cost.
    pub(crate) const fn wants_sweep(&self) -> bool {
        self.closed > self.worth && self.closed > LEAST_WORTH
    }

    /// Tells whether a lane takes work.
    pub(crate) fn is_open(&self, id: LaneId) -> bool {
        self.all.get(&id).is_some_and(|lane| !lane.closed)
    }

    /// Forgets the closed lanes of which all work is known to be done; if `is_pending` says that
    /// none of it is queued, also the oldest of too many others.
    pub(crate) fn sweep(
        &mut self,
        known: &Clock,
        most: usize,
        is_pending: impl Fn(ItemId) -> bool,
    ) {
        let mut closed = 0;
        self.all.retain(|&id, lane| {
            let is_gone = lane.closed && known.covers(id, lane.count);
            closed += usize::from(lane.closed && !is_gone);
            !is_gone
        });
        let mut excess = closed.saturating_sub(most);
        self.all.retain(|_, lane| {
            let is_gone = lane.closed && excess > 0 && !is_pending(lane.last);
            excess -= usize::from(is_gone);
            !is_gone
        });
        self.closed = self.all.values().filter(|lane| lane.closed).count();
        self.worth = 2 * self.closed;
        let all = &self.all;
        self.by_context.retain(|_, ids| {
            ids.retain(|id| all.contains_key(id));
            !ids.is_empty()
        });
    }

    /// Forgets the lanes that are gone in the clocks of those that are not.
    pub(crate) fn prune(&mut self) {
        let known: HashSet<LaneId> = self.all.keys().copied().collect();
        for lane in self.all.values_mut() {
            lane.clock.retain(|id| known.contains(&id));
        }
    }

    /// Returns the identities of all lanes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = LaneId> {
        self.all.keys().copied()
    }

    pub(crate) fn contains(&self, id: LaneId) -> bool {
        self.all.contains_key(&id)
    }
}

/// Holds the lanes that belong to a context and not to a stream object.
#[derive(Debug, Default)]
pub(crate) struct OwnLanes {
    pub(crate) legacy: LaneId,
    pub(crate) per_thread: HashMap<std::thread::ThreadId, LaneId>,
}

#[cfg(test)]
mod tests {
    use super::{LEAST_WORTH, LaneKind, MOST_CLOSED};
    use crate::config::Config;
    use crate::engine::access::{AccessBox, AccessKind};
    use crate::engine::address_space::AddressSpace;
    use crate::engine::registry::{Allocation, MemoryKind};
    use crate::engine::scheduler::Other;
    use crate::engine::state::State;
    use crate::engine::work::{Touch, Work};
    use crate::report::Side;

    /// Uses a stream after the other on one allocation, each after the one before, and returns how
    /// many lanes are left, how many the host's clock and a stream's name, and how many accesses are
    /// remembered.
    fn streams(config: Config, waits: bool) -> [usize; 4] {
        let space = AddressSpace::new(64 << 20).unwrap();
        let mut state = State::new(config, vec![0], space);
        let memory = state.registry.add(Allocation {
            id: 0,
            base: 0x1000,
            size: 64,
            kind: MemoryKind::Host,
            device: 0,
            context: 1,
            flags: 0,
            made_by: Side::new("cuMemHostAlloc", ""),
            history: Vec::new(),
        });
        let area = AccessBox::linear(0x1000, 64);
        let touch = Touch { memory, kind: AccessKind::Write, area, operand: "dst" };
        let main = state.lanes.add(1, LaneKind::NonBlocking, |id| format!("stream #{id}"));
        let clock_of = |state: &State, lane| state.lanes.get(lane).unwrap().clock.clone();
        let mut last = 0;
        for _ in 0..5000 {
            let lane = state.lanes.add(1, LaneKind::NonBlocking, |id| format!("stream #{id}"));
            let clock = clock_of(&state, main);
            let other = Other { item: Some((last, &clock)), mark: None };
            let touches = std::slice::from_ref(&touch);
            let item =
                state.enqueue_after(lane, "cuMemcpy", touches, Work::Nothing, other).unwrap();
            let clock = clock_of(&state, lane);
            let other = Other { item: Some((item, &clock)), mark: None };
            last = state.enqueue_after(main, "cuMemcpy", &[], Work::Nothing, other).unwrap();
            if waits {
                state.known(&clock);
            }
            state.close_lane(lane);
        }
        assert!(state.findings.all().is_empty());
        let history = state.registry.get(memory).unwrap().history.len();
        [state.lanes.all.len(), state.host_clock.len(), clock_of(&state, main).len(), history]
    }

    #[test]
    fn streams_that_are_gone_leave_nothing_behind() {
        let left = streams(Config::new(), true);
        assert!(left.iter().all(|&left| left <= 2 * LEAST_WORTH), "{left:?}");
        assert_eq!(left[3], 1);
    }

    #[test]
    fn streams_that_nobody_waited_for_leave_little_behind() {
        let [lanes, host, last, history] = streams(Config::new(), false);
        assert!([lanes, last].iter().all(|&left| left <= 3 * MOST_CLOSED), "{lanes} {last}");
        assert_eq!([host, history], [0, 1]);
    }

    #[test]
    fn without_reports_nothing_is_kept() {
        let [lanes, host, last, history] = streams(Config::new().reports(false), false);
        assert!(lanes <= 2 * LEAST_WORTH, "{lanes}");
        assert_eq!([host, last, history], [0; 3]);
    }
}
