//! The work that has not run, and which of it could.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::driver::ipc::board::Mark;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::work::{Item, ItemId, Work};

/// Is what follows a piece of queued work, and how much of what comes before it is queued.
#[derive(Debug, Default)]
struct Links {
    before: usize,
    followers: Vec<ItemId>,
}

/// Holds the work that has not run.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) items: BTreeMap<ItemId, Item>,
    links: HashMap<ItemId, Links>,
    /// What waits for no other work of this process, and has not begun.
    free: BTreeSet<ItemId>,
    /// What waits for another process, as far as is known.
    foreign: BTreeSet<ItemId>,
    /// What waits for a value in memory.
    values: BTreeSet<ItemId>,
    /// What others than driver calls may wait for, and has not begun.
    awaited: BTreeSet<ItemId>,
    /// The host functions that have not run, each with its lane and its place on it.
    calls: BTreeMap<ItemId, (LaneId, u64)>,
    running: usize,
    last_id: ItemId,
    /// A hash of the order in which work ran.
    pub(crate) order: u64,
}

impl Queue {
    /// Returns the identity of a piece of work that is run at once.
    pub(crate) const fn next_id(&mut self) -> ItemId {
        self.last_id += 1;
        self.last_id
    }

    pub(crate) fn add(&mut self, item: Item) -> ItemId {
        let id = self.next_id();
        let mut before = 0;
        for &earlier in &item.after {
            if self.is_pending(earlier) {
                before += 1;
                self.links.entry(earlier).or_default().followers.push(id);
            }
        }
        if before == 0 {
            self.free.insert(id);
        } else {
            self.links.entry(id).or_default().before = before;
        }
        if item.until.is_some() {
            self.foreign.insert(id);
        }
        if matches!(item.work, Work::WaitValue(_)) {
            self.values.insert(id);
        }
        if item.work.is_awaited() {
            self.awaited.insert(id);
        }
        if matches!(item.work, Work::Call(_)) {
            self.calls.insert(id, (item.lane, item.clock.count(item.lane)));
        }
        self.items.insert(id, item);
        id
    }

    /// Takes a piece of work out, and frees what waits for it alone.
    pub(crate) fn remove(&mut self, id: ItemId) -> Option<Item> {
        let item = self.items.remove(&id)?;
        self.free.remove(&id);
        self.foreign.remove(&id);
        self.values.remove(&id);
        self.awaited.remove(&id);
        self.calls.remove(&id);
        self.running -= usize::from(item.running);
        for follower in self.links.remove(&id).map(|links| links.followers).unwrap_or_default() {
            if let Some(links) = self.links.get_mut(&follower) {
                links.before = links.before.saturating_sub(1);
                if links.before == 0 {
                    self.free.insert(follower);
                }
            }
        }
        Some(item)
    }

    /// Notes that a piece of work has begun that stays queued until it is done.
    pub(crate) fn begin(&mut self, id: ItemId) {
        if let Some(item) = self.items.get_mut(&id)
            && !item.running
        {
            item.running = true;
            self.running += 1;
            self.free.remove(&id);
            self.awaited.remove(&id);
        }
    }

    /// Tells whether a piece of work is still queued.
    pub(crate) fn is_pending(&self, id: ItemId) -> bool {
        self.items.contains_key(&id)
    }

    /// Tells whether a piece of work could run now.
    pub(crate) fn is_ready(&self, id: ItemId) -> bool {
        self.free.contains(&id) && self.is_reached(id)
    }

    /// Tells whether what a piece of work waits for beside other work is there.
    fn is_reached(&self, id: ItemId) -> bool {
        if !self.foreign.contains(&id) && !self.values.contains(&id) {
            return true;
        }
        self.items.get(&id).is_some_and(|item| {
            item.until.as_ref().is_none_or(Mark::is_reached)
                && !matches!(&item.work, Work::WaitValue(wait) if !wait.is_met())
        })
    }

    /// Returns the work that could run now, the earliest first.
    pub(crate) fn ready(&self) -> impl Iterator<Item = ItemId> {
        self.ready_from(0)
    }

    /// Returns the earliest work that could run now.
    pub(crate) fn ready_first(&self) -> Option<ItemId> {
        self.ready().next()
    }

    /// Returns the work from an identity on that could run now, the earliest first.
    pub(crate) fn ready_from(&self, first: ItemId) -> impl Iterator<Item = ItemId> {
        self.free.range(first..).copied().filter(|&id| self.is_reached(id))
    }

    /// Tells whether a host function is being run.
    pub(crate) const fn is_calling(&self) -> bool {
        self.running > 0
    }

    /// Tells whether work waits for another process.
    pub(crate) fn is_waiting_for_others(&self) -> bool {
        let mut waiting = self.foreign.iter().filter_map(|id| self.items.get(id)?.until.as_ref());
        waiting.any(|mark| !mark.is_reached())
    }

    /// Tells whether any work waits for a value.
    pub(crate) fn has_value_waits(&self) -> bool {
        !self.values.is_empty()
    }

    /// Tells whether any work that `goals` need could run now.
    pub(crate) fn any_ready(&self, goals: &[ItemId]) -> bool {
        self.ready_before(goals).is_some()
    }

    /// Tells whether a host function is queued that comes before all that `clock` doesn't cover. It
    /// may touch what it likes, which is nobody's mistake.
    pub(crate) fn calls_before(&self, clock: &Clock) -> bool {
        self.calls.values().any(|&(lane, count)| clock.covers(lane, count))
    }

    /// Returns the work that others than driver calls may wait for and that has not begun: host
    /// functions, and records of events that processes share.
    pub(crate) fn awaited(&self) -> Vec<ItemId> {
        self.awaited.iter().copied().collect()
    }

    /// Returns one of `goals`, or of what must run before them, that could run now.
    pub(crate) fn ready_before(&self, goals: &[ItemId]) -> Option<ItemId> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<ItemId> = goals.to_vec();
        while let Some(id) = open.pop() {
            if self.is_ready(id) {
                return Some(id);
            }
            if let Some(item) = self.items.get(&id)
                && seen.insert(id)
            {
                open.extend(&item.after);
            }
        }
        None
    }

    /// Returns all that must run for `goals` to have run, themselves included, earliest first.
    pub(crate) fn needed(&self, goals: &[ItemId]) -> Vec<ItemId> {
        let mut found = BTreeSet::new();
        let mut open: Vec<ItemId> = goals.to_vec();
        while let Some(id) = open.pop() {
            if let Some(item) = self.items.get(&id)
                && found.insert(id)
            {
                open.extend(&item.after);
            }
        }
        found.into_iter().collect()
    }
}
