//! Queued work: what it does, what it waits for, and what it touches.
//!
//! In which order it runs is decided in `scheduler`.

use std::collections::BTreeMap;

use crate::call_site::CallSite;
use crate::driver::host_function::HostFunction;
use crate::driver::ipc::board::Mark;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::clock::{Clock, LaneId};
use crate::engine::handle::Handle;
use crate::engine::raw::{Change, Extent, Rows, Word};
use crate::engine::registry::BufferId;
use crate::engine::value::ValueWait;

/// Is the identity of a piece of work. Later work has a greater one; zero is none.
pub(crate) type ItemId = u64;

/// Is where bytes go, or come from.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) rows: Rows,
    /// The allocation that must still be there when the work runs.
    pub(crate) memory: Option<BufferId>,
    /// The hash of the bytes when the work was queued, if the host must not change them.
    pub(crate) expected: Option<u64>,
    pub(crate) operand: &'static str,
    pub(crate) area: AccessBox,
}

/// Is where the bytes of a copy come from.
#[derive(Debug)]
pub(crate) enum Source {
    Place(Place),
    /// They were taken when the copy was queued.
    Taken(Vec<u8>),
}

/// Is what a piece of work does.
#[derive(Debug)]
pub(crate) enum Work {
    Nothing,
    /// Notes the time of the record of an event, and tells other processes if they share it.
    Record(Handle, Option<Mark>),
    Copy {
        to: Place,
        from: Source,
        extent: Extent,
    },
    Fill {
        to: Place,
        extent: Extent,
        pattern: Vec<u8>,
    },
    /// Copies that nothing orders among each other.
    Batch(Vec<Work>),
    /// Runs as soon as a word is as it must be.
    WaitValue(ValueWait),
    /// Changes a word at once.
    Word {
        to: Place,
        word: Word,
        change: Change,
    },
    Call(HostFunction),
    Free(BufferId),
}

/// Is an access to an allocation.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) memory: BufferId,
    pub(crate) kind: AccessKind,
    pub(crate) area: AccessBox,
    pub(crate) operand: &'static str,
}

/// Is a piece of queued work.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) lane: LaneId,
    /// The work that must have run before.
    pub(crate) after: Vec<ItemId>,
    /// The record, of whichever process, that must be done before.
    pub(crate) until: Option<Mark>,
    pub(crate) clock: Clock,
    pub(crate) call: &'static str,
    /// Where in the program it was queued.
    pub(crate) site: Option<CallSite>,
    pub(crate) work: Work,
    /// Whether it has begun, which only host functions do before they are done.
    pub(crate) running: bool,
}

/// Holds the work that has not run.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) items: BTreeMap<ItemId, Item>,
    last_id: ItemId,
    /// A hash of the order in which work ran.
    pub(crate) order: u64,
}

impl Queue {
    pub(crate) fn add(&mut self, item: Item) -> ItemId {
        self.last_id += 1;
        self.items.insert(self.last_id, item);
        self.last_id
    }

    /// Tells whether a piece of work is still queued.
    pub(crate) fn is_pending(&self, id: ItemId) -> bool {
        self.items.contains_key(&id)
    }

    /// Tells whether a piece of work could run now.
    pub(crate) fn is_ready(&self, id: ItemId) -> bool {
        self.items.get(&id).is_some_and(|item| {
            !item.running
                && item.until.as_ref().is_none_or(Mark::is_reached)
                && item.after.iter().all(|&before| !self.is_pending(before))
                && !matches!(&item.work, Work::WaitValue(wait) if !wait.is_met())
        })
    }

    /// Returns the work that could run now, the earliest first.
    pub(crate) fn ready(&self) -> Vec<ItemId> {
        self.items.keys().copied().filter(|&id| self.is_ready(id)).collect()
    }

    /// Tells whether any work that `goals` need could run now.
    pub(crate) fn any_ready(&self, goals: &[ItemId]) -> bool {
        self.needed(goals).into_iter().any(|id| self.is_ready(id))
    }

    /// Tells whether a host function is being run.
    pub(crate) fn is_calling(&self) -> bool {
        self.items.values().any(|item| item.running)
    }

    /// Tells whether work waits for another process.
    pub(crate) fn is_waiting_for_others(&self) -> bool {
        self.items.values().any(|item| item.until.as_ref().is_some_and(|mark| !mark.is_reached()))
    }

    /// Returns the work that others than driver calls may wait for and that has not begun: host
    /// functions, and records of events that processes share.
    pub(crate) fn awaited(&self) -> Vec<ItemId> {
        let is_awaited = |work: &Work| matches!(work, Work::Call(_) | Work::Record(_, Some(_)));
        let items = self.items.iter().filter(|(_, item)| !item.running && is_awaited(&item.work));
        items.map(|(&id, _)| id).collect()
    }

    /// Returns all that must run for `goals` to have run, themselves included, earliest first.
    pub(crate) fn needed(&self, goals: &[ItemId]) -> Vec<ItemId> {
        let mut found = std::collections::BTreeSet::new();
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
