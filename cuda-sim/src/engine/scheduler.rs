//! Runs queued work in the order that the configuration asks for, always under the one lock.

use cuda_sys::CUresult;

use crate::call_site;
use crate::config::Scheduler;
use crate::driver::ipc::board::Mark;
use crate::engine::access::AccessKind;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::execute;
use crate::engine::lane::LaneKind;
use crate::engine::registry::{MemoryKind, Past};
use crate::engine::state::State;
use crate::engine::work::{Item, ItemId, Touch, Work};
use crate::report::{Finding, FindingKind, Side};

/// Is what work waits for beside what comes before it on its lane.
#[derive(Debug, Default)]
pub(crate) struct Other<'a> {
    /// Work of this process, and all that came before it.
    pub(crate) item: Option<(ItemId, &'a Clock)>,
    /// A record, of whichever process.
    pub(crate) mark: Option<Mark>,
}

impl State {
    /// Queues work on a lane, and lets run what the scheduler lets run then.
    pub(crate) fn enqueue(
        &mut self,
        lane: LaneId,
        call: &'static str,
        touches: &[Touch],
        work: Work,
    ) -> Result<ItemId, CUresult> {
        self.enqueue_after(lane, call, touches, work, Other::default())
    }

    /// Queues work that waits, beside what its lane says, for `other`.
    pub(crate) fn enqueue_after(
        &mut self,
        lane: LaneId,
        call: &'static str,
        touches: &[Touch],
        work: Work,
        other: Other<'_>,
    ) -> Result<ItemId, CUresult> {
        let (mut after, mut clock) = self.before(lane)?;
        if let Some((id, known)) = other.item {
            after.push(id);
            clock.join(known);
        }
        after.retain(|&id| self.queue.is_pending(id));
        after.sort_unstable();
        after.dedup();
        let count = self.lanes.get(lane).map_or(0, |lane| lane.count) + 1;
        clock.advance(lane, count);
        self.watch_managed(lane, call, touches, &work);
        self.check_homes(lane, call, touches, &work);
        if matches!(work, Work::WaitValue(_)) {
            self.value_waits.entry(lane).or_insert(count);
        }
        let is_awaited = matches!(work, Work::Call(_) | Work::Record(_, Some(_)));
        let until = other.mark;
        let site = call_site::current();
        let clock_of_item = clock.clone();
        let item =
            Item { lane, after, until, clock: clock_of_item, call, site, work, running: false };
        let id = self.queue.add(item);
        for touch in touches {
            let access = Some((touch.kind, touch.area));
            let stream = self.lanes.get(lane).map(|lane| lane.label.clone());
            let side = Side { stream, access, ..Side::new(call, touch.operand) };
            let memory = self.registry.get(touch.memory);
            if memory.is_some_and(|memory| memory.kind == MemoryKind::Virtual) {
                for part in self.physical_touches(touch) {
                    self.note(id, lane, count, &side, &clock, &part);
                }
            } else {
                self.note(id, lane, count, &side, &clock, touch);
            }
        }
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.last = id;
            lane.count = count;
            lane.clock = clock;
        }
        if is_awaited {
            self.callbacks.announce();
        }
        self.progress();
        Ok(id)
    }

    /// Returns what the next work of a lane waits for.
    pub(crate) fn before(&self, id: LaneId) -> Result<(Vec<ItemId>, Clock), CUresult> {
        let lane = self.lanes.get(id).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        let mut after = vec![lane.last];
        let mut clock = lane.clock.clone();
        // The legacy stream waits for all blocking streams, and they for it (manual).
        let other = match lane.kind {
            LaneKind::Legacy => LaneKind::Blocking,
            LaneKind::Blocking => LaneKind::Legacy,
            LaneKind::NonBlocking => return Ok((after, clock)),
        };
        for (_, lane) in self.lanes.of(lane.context).filter(|(_, lane)| lane.kind == other) {
            after.push(lane.last);
            clock.join(&lane.clock);
        }
        Ok((after, clock))
    }

    /// Compares an access with those before it, and remembers it.
    fn note(
        &mut self,
        item: ItemId,
        lane: LaneId,
        count: u64,
        side: &Side,
        clock: &Clock,
        touch: &Touch,
    ) {
        // What the host knows to be done comes before all that it queues, and is forgotten here.
        let host_clock = &self.host_clock;
        let may_be_ordered =
            self.value_waits.iter().any(|(&lane, &count)| clock.covers(lane, count));
        let Some(allocation) = self.registry.get_mut(touch.memory) else { return };
        allocation.forget(host_clock);
        for past in &allocation.history {
            let writes = past.kind == AccessKind::Write || touch.kind == AccessKind::Write;
            if writes
                && past.item != item
                && !may_be_ordered
                && !past.may_be_ordered
                && !clock.covers(past.lane, past.count)
                && past.area.overlaps(&touch.area)
            {
                self.findings.add(Finding {
                    kind: FindingKind::Race,
                    earlier: Some(past.side.clone()),
                    later: side.clone(),
                    subject: "nothing orders the two".to_owned(),
                });
            }
        }
        // A newer access of the same lane to the same bytes stands for the older one.
        allocation
            .history
            .retain(|past| past.lane != lane || past.kind != touch.kind || past.area != touch.area);
        allocation.history.push(Past {
            item,
            lane,
            count,
            kind: touch.kind,
            area: touch.area,
            may_be_ordered,
            side: side.clone(),
        });
    }

    /// Lets run what may run though nothing waits for it.
    pub(crate) fn progress(&mut self) {
        if self.queue.items.is_empty() {
            return;
        }
        match self.config.scheduler {
            Scheduler::Lazy => {}
            Scheduler::Eager => {
                // A value that work writes may let earlier work run.
                while self.run_everything() && self.queue.has_value_waits() {}
            }
            Scheduler::Seeded(_) => {
                for _ in 0..self.random(3) {
                    self.run_random();
                }
            }
        }
    }

    /// Runs work so that `goals` come nearer, and tells whether any ran.
    pub(crate) fn drive(&mut self, goals: &[ItemId]) -> bool {
        match self.config.scheduler {
            Scheduler::Lazy => {
                self.run_all(&self.queue.needed(goals))
                    || self.queue.waits_for_values(goals) && self.run_everything()
            }
            Scheduler::Eager => self.run_everything(),
            Scheduler::Seeded(_) => {
                let mut any = false;
                while goals.iter().any(|&goal| self.queue.is_pending(goal)) && self.run_random() {
                    any = true;
                }
                any
            }
        }
    }

    /// Runs one piece of what a query asked about, so that a loop of queries ends.
    pub(crate) fn nudge(&mut self, goals: &[ItemId]) {
        let needed = self.queue.needed(goals);
        if let Some(&id) = needed.iter().find(|&&id| self.queue.is_ready(id)) {
            self.run(id);
        } else if self.queue.waits_for_values(goals)
            && let Some(&id) = self.queue.ready().first()
        {
            self.run(id);
        }
    }

    /// Runs each piece of work that can run.
    fn run_everything(&mut self) -> bool {
        self.run_all(&self.queue.items.keys().copied().collect::<Vec<_>>())
    }

    /// Runs each of `ids`, which are in order, that can run.
    fn run_all(&mut self, ids: &[ItemId]) -> bool {
        let mut any = false;
        for &id in ids {
            if self.queue.is_ready(id) {
                self.run(id);
                any = true;
            }
        }
        any
    }

    fn run_random(&mut self) -> bool {
        let ready = self.queue.ready();
        let pick = self.random(ready.len());
        match ready.get(pick) {
            Some(&id) => {
                self.run(id);
                true
            }
            None => false,
        }
    }

    /// Runs a piece of work that is ready.
    fn run(&mut self, id: ItemId) {
        if self.drops(id) {
            self.queue.items.remove(&id);
            self.count_order(id);
            return;
        }
        if let Some(item) = self.queue.items.get_mut(&id)
            && let Work::Call(function) = &item.work
        {
            item.running = true;
            // What the function does may tell another thread that all before it is done.
            let (function, clock) = (*function, item.clock.clone());
            self.host_clock.join(&clock);
            self.callbacks.call(id, function);
            return;
        }
        if let Some(item) = self.queue.items.remove(&id) {
            self.count_order(id);
            self.compare_managed(&Side { site: item.site.clone(), ..Side::new(item.call, "") });
            execute::execute(self, id, item);
            self.accept_managed();
        }
    }

    /// Tells whether a piece of work is dropped, as all but frees is in a context with an error
    /// (*manual* of host functions).
    fn drops(&self, id: ItemId) -> bool {
        self.queue.items.get(&id).is_some_and(|item| {
            let context = self.lanes.get(item.lane).map_or(0, |lane| lane.context);
            !matches!(item.work, Work::Free(_)) && self.sticky(context).is_some()
        })
    }

    /// Notes that a host function is done.
    pub(crate) fn called(&mut self, id: ItemId) {
        if self.queue.items.remove(&id).is_some() {
            self.count_order(id);
        }
        self.progress();
    }

    fn count_order(&mut self, id: ItemId) {
        // FNV-1a, a step a piece of work.
        self.queue.order = (self.queue.order ^ id).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// Returns a random number below `bound`; zero if that is zero.
    fn random(&mut self, bound: usize) -> usize {
        // splitmix64
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.random;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^= number >> 31;
        let below = number.checked_rem(bound as u64).unwrap_or(0);
        usize::try_from(below).unwrap_or(0)
    }
}
