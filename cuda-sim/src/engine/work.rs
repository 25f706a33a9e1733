//! Queued work: what it does, what it waits for, and what it touches.
//!
//! Where it waits is `queue`; in which order it runs is decided in `scheduler`.

use crate::call_site::CallSite;
use crate::driver::host_function::HostFunction;
use crate::driver::ipc::board::Mark;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::clock::{Clock, LaneId};
use crate::engine::handle::Handle;
use crate::engine::kernel::SharedKernel;
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
    /// What the bytes were when the work was queued, if the host must not change them.
    pub(crate) expected: Option<Expected>,
    pub(crate) operand: &'static str,
    pub(crate) area: AccessBox,
}

/// Is what bytes of pinned memory are until a copy runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// They have this hash.
    Hash(u64),
    /// They are poisoned.
    Poison,
}

/// Is where the bytes of a copy come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Place(Place),
    /// They were taken when the copy was queued.
    Taken(Vec<u8>),
}

/// Is what a piece of work does. It holds all that it needs, so that a graph can keep it.
#[derive(Clone, Debug)]
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
    Kernel(SharedKernel),
    Free(BufferId),
    /// Lets go of references to user objects.
    Release(Vec<(Handle, u32)>),
}

impl Work {
    /// Forgets what the host's memory held when the work was made: a graph runs it later.
    pub(crate) fn expect_nothing(&mut self) {
        match self {
            Self::Copy { to, from, .. } => {
                to.expected = None;
                if let Source::Place(from) = from {
                    from.expected = None;
                }
            }
            Self::Fill { to, .. } => to.expected = None,
            Self::Batch(works) => works.iter_mut().for_each(Self::expect_nothing),
            _ => {}
        }
    }

    /// Returns the extent of a copy or a fill.
    pub(crate) const fn extent(&self) -> Option<Extent> {
        match self {
            Self::Copy { extent, .. } | Self::Fill { extent, .. } => Some(*extent),
            _ => None,
        }
    }
}

impl Work {
    /// Tells whether others than driver calls may wait for it.
    pub(crate) const fn is_awaited(&self) -> bool {
        matches!(self, Self::Call(_) | Self::Record(_, Some(_)))
    }
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
