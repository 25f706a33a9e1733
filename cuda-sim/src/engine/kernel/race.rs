//! Compares what a kernel touched with what nothing orders before or after it.
//!
//! It is known when the kernel runs only. Meanwhile other work was queued, of which some ran and some
//! waits, and the host came to know more; neither may make or hide an order.

use crate::engine::clock::Clock;
use crate::engine::registry::{MemoryKind, Past};
use crate::engine::state::State;
use crate::engine::work::{Item, ItemId, Touch};
use crate::report::{Finding, FindingKind, Side};

/// Is a piece of work whose accesses are noted when it runs.
#[derive(Debug)]
pub(crate) struct Late<'a> {
    pub(crate) id: ItemId,
    pub(crate) item: &'a Item,
    /// What the host knew to be done when it was queued.
    pub(crate) known: Option<&'a Clock>,
    pub(crate) side: Side,
}

impl State {
    /// Compares an access of work that runs now with others, and remembers it.
    pub(crate) fn note_late(&mut self, late: &Late<'_>, touch: &Touch) {
        let Late { id, item, known, side } = late;
        if !self.config.reports {
            return;
        }
        let memory = self.registry.get(touch.memory);
        if memory.is_some_and(|memory| memory.kind == MemoryKind::Virtual) {
            for part in self.physical_touches(touch) {
                self.note_late(late, &part);
            }
            return;
        }
        let count = item.clock.count(item.lane);
        let may_be_ordered =
            self.value_waits.iter().any(|(&lane, &count)| item.clock.covers(lane, count));
        let side = Side { access: Some((touch.kind, touch.area)), ..side.clone() };
        self.note_between(item.lane, &item.clock, &side, touch);
        let Some(allocation) = self.registry.get_mut(touch.memory) else { return };
        let mut races = Vec::new();
        for past in &allocation.history {
            if may_be_ordered
                || past.may_be_ordered
                || past.item == *id
                || !past.kind.conflicts(touch.kind)
                || !past.area.overlaps(&touch.area)
            {
                continue;
            }
            let ordered = if past.item < *id {
                let by_host = known.is_some_and(|known| known.covers(past.lane, past.count));
                by_host || item.clock.covers(past.lane, past.count)
            } else {
                // Work that was queued later and is ordered behind this has not run.
                let later = self.queue.items.get(&past.item);
                later.is_some_and(|later| later.clock.covers(item.lane, count))
            };
            if !ordered {
                races.push((past.item, past.side.clone()));
            }
        }
        allocation.history.push(Past {
            item: *id,
            lane: item.lane,
            count,
            kind: touch.kind,
            area: touch.area,
            may_be_ordered,
            side: side.clone(),
        });
        for (other, past) in races {
            let (earlier, later) =
                if other < *id { (past, side.clone()) } else { (side.clone(), past) };
            self.findings.add(Finding {
                kind: FindingKind::Race,
                earlier: Some(earlier),
                later,
                subject: "nothing orders the two".to_owned(),
            });
        }
    }
}
