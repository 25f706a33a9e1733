//! Words of memory that streams wait for and write: what they hold now, and who may change them.

use std::time::Duration;

use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::execute;
use crate::engine::handle::Handle;
use crate::engine::queue::Queue;
use crate::engine::raw::Word;
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::engine::work::{ItemId, Place, Work};
use crate::report::{Finding, FindingKind, Side};

/// How often its patience with host functions a process waits for a value that only another thread's
/// calls could bring about.
const GRACE: u32 = 50;

/// Is how a word must compare with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// Their difference, as a signed number, is not negative.
    AtLeast,
    Equal,
    /// They have a bit in common.
    And,
    /// A bit is set in neither of them.
    Nor,
}

/// Is who may change a word beside queued work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// The host, or another process.
    Others,
    /// Work that is queued later, from another thread.
    LaterWork,
}

/// Is a wait for a value.
#[derive(Clone, Debug)]
pub(crate) struct ValueWait {
    pub(crate) place: Place,
    pub(crate) memory: BufferId,
    pub(crate) word: Word,
    pub(crate) condition: Condition,
    pub(crate) changes: Changes,
    /// Whether the memory is gone: the wait never ends.
    pub(crate) is_lost: bool,
}

impl ValueWait {
    /// Tells whether the word is as it must be.
    pub(crate) fn is_met(&self) -> bool {
        !self.is_lost && self.condition.holds(execute::word(&self.place, self.word), self.word)
    }
}

impl Condition {
    /// Compares what a word holds with a value of the same length.
    fn holds(self, found: Word, wanted: Word) -> bool {
        match (self, found, wanted) {
            (Self::AtLeast, Word::Short(found), Word::Short(wanted)) => {
                found.wrapping_sub(wanted).cast_signed() >= 0
            }
            (Self::AtLeast, ..) => found.bits().wrapping_sub(wanted.bits()).cast_signed() >= 0,
            (Self::Equal, ..) => found == wanted,
            (Self::And, ..) => found.bits() & wanted.bits() != 0,
            (Self::Nor, Word::Short(found), Word::Short(wanted)) => !(found | wanted) != 0,
            (Self::Nor, ..) => !(found.bits() | wanted.bits()) != 0,
        }
    }
}

impl Queue {
    /// Returns the waits for values that are the next of what `goals` need and are not met.
    fn unmet(&self, goals: &[ItemId]) -> impl Iterator<Item = (ItemId, &ValueWait)> {
        let goals = if self.has_value_waits() { goals } else { &[] };
        self.needed(goals).into_iter().filter_map(|id| {
            let item = self.items.get(&id)?;
            let is_next = item.after.iter().all(|&before| !self.is_pending(before));
            match &item.work {
                Work::WaitValue(wait) if is_next && !wait.is_met() => Some((id, wait)),
                _ => None,
            }
        })
    }

    /// Tells whether a value keeps `goals` from running.
    pub(crate) fn waits_for_values(&self, goals: &[ItemId]) -> bool {
        self.unmet(goals).next().is_some()
    }
}

impl State {
    /// Returns how long a value that keeps `goals` from running is waited for, if one does: for ever
    /// if others may change it.
    pub(crate) fn patience_for(&self, goals: &[ItemId]) -> Option<Duration> {
        let patience = self.config.host_function_patience.saturating_mul(GRACE);
        let waits = self.queue.unmet(goals);
        waits
            .map(|(_, wait)| match wait.changes {
                Changes::Others if !wait.is_lost => Duration::MAX,
                Changes::Others | Changes::LaterWork => patience,
            })
            .max()
    }

    /// Reports that `goals` can never run.
    pub(crate) fn report_blocked(&mut self, goals: &[ItemId]) {
        let wait = self.queue.unmet(goals).next().map(|(id, wait)| (id, wait.place.area));
        let earlier = wait.and_then(|(id, area)| self.side_of(id, area));
        let subject = match earlier {
            Some(_) => "nothing brings about the value that a stream waits for",
            None => "what is waited for can never run",
        };
        let later = Side::new(crate::call_site::function(), "");
        let subject = subject.to_owned();
        self.findings.add(Finding { kind: FindingKind::Blocked, earlier, later, subject });
    }

    fn side_of(&self, id: ItemId, area: AccessBox) -> Option<Side> {
        let item = self.queue.items.get(&id)?;
        Some(Side {
            call: item.call,
            operand: "addr",
            stream: self.lanes.get(item.lane).map(|lane| lane.label.clone()),
            access: Some((AccessKind::Read, area)),
            site: item.site.clone(),
        })
    }

    /// Lets waits for values in a context be as met: in it an error stays, and its work is dropped.
    pub(crate) fn drop_waits(&mut self, context: Handle) {
        for item in self.queue.items.values_mut() {
            let is_its = self.lanes.get(item.lane).is_some_and(|lane| lane.context == context);
            if is_its && matches!(item.work, Work::WaitValue(_)) {
                item.work = Work::Nothing;
            }
        }
    }

    /// Ends the hope of waits for values in memory that is gone.
    pub(crate) fn lose_waits(&mut self, memory: BufferId) {
        if !self.queue.has_value_waits() {
            return;
        }
        let mut lost = Vec::new();
        for (&id, item) in &mut self.queue.items {
            if let Work::WaitValue(wait) = &mut item.work
                && wait.memory == memory
                && !wait.is_lost
            {
                wait.is_lost = true;
                lost.push((id, wait.place.area));
            }
        }
        for (id, area) in lost {
            let earlier = Some(Side::new(crate::call_site::function(), ""));
            let Some(later) = self.side_of(id, area) else { continue };
            let subject = "memory was freed in which a stream waits for a value".to_owned();
            let kind = FindingKind::UseAfterFree;
            self.findings.add(Finding { kind, earlier, later, subject });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Word};

    #[test]
    fn conditions_are_those_of_the_manual() {
        use Condition as C;
        let short =
            |condition: C, found, wanted| condition.holds(Word::Short(found), Word::Short(wanted));
        let long =
            |condition: C, found, wanted| condition.holds(Word::Long(found), Word::Long(wanted));
        assert!(short(C::AtLeast, 5, 5) && short(C::AtLeast, 6, 5) && !short(C::AtLeast, 4, 5));
        // Numbers go round.
        assert!(short(C::AtLeast, 1, u32::MAX) && !short(C::AtLeast, u32::MAX, 1));
        assert!(long(C::AtLeast, 1, u64::MAX) && !long(C::AtLeast, 1, 1 << 62));
        assert!(short(C::Equal, 7, 7) && !long(C::Equal, 7, 8));
        assert!(short(C::And, 6, 2) && !short(C::And, 5, 2));
        assert!(short(C::Nor, 5, 2) && !short(C::Nor, u32::MAX - 2, 2));
        assert!(!long(C::Nor, u64::MAX, 0) && long(C::Nor, u64::from(u32::MAX), 0));
    }
}
