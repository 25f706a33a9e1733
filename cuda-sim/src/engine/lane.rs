//! Lanes: the orders in which work is queued. A stream is one; so is a context's legacy stream, and
//! a thread's per-thread stream.

use std::collections::{BTreeMap, HashMap};

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
    pub(crate) label: String,
}

/// Holds all lanes.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    all: BTreeMap<LaneId, Lane>,
    last_id: LaneId,
    /// How many of them are closed.
    closed: usize,
}

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
            label: label(id),
        };
        self.all.insert(id, lane);
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
        self.all
            .iter()
            .filter(move |(_, lane)| lane.context == context)
            .map(|(&id, lane)| (id, lane))
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

    /// Tells whether there are closed lanes.
    pub(crate) const fn has_closed(&self) -> bool {
        self.closed > 0
    }

    /// Forgets the closed lanes of which all work is known to be done.
    pub(crate) fn sweep(&mut self, known: &Clock) {
        self.all.retain(|&id, lane| !(lane.closed && known.covers(id, lane.count)));
        self.closed = self.all.values().filter(|lane| lane.closed).count();
    }

    /// Forgets the lanes that are gone in the clocks of those that are not.
    pub(crate) fn prune(&mut self) {
        let known: Vec<LaneId> = self.all.keys().copied().collect();
        for lane in self.all.values_mut() {
            lane.clock.retain(|id| known.binary_search(&id).is_ok());
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
