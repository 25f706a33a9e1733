//! Runs queued work in the order that the configuration asks for, always under the one lock.

use cuda_sys::CUresult;

use crate::config::Scheduler;
use crate::driver::ipc::board::Mark;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::execute;
use crate::engine::lane::{Lane, LaneKind};
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

/// Is a place in the order of work: on a lane, after some other work.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) lane: LaneId,
    pub(crate) after: Vec<ItemId>,
    pub(crate) clock: Clock,
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
        let after = self.pending_before(lane)?;
        let clock = self.clock_for_next(lane);
        let turn = Turn { lane, after, clock };
        Ok(self.queue_turn(turn, &Side::new(call, ""), touches, work, other))
    }

    /// Queues work at a place in the order.
    pub(crate) fn queue_turn(
        &mut self,
        turn: Turn,
        by: &Side,
        touches: &[Touch],
        work: Work,
        other: Other<'_>,
    ) -> ItemId {
        let Turn { lane, mut after, mut clock } = turn;
        after.retain(|&id| self.queue.is_pending(id));
        if let Some((id, known)) = other.item {
            if self.queue.is_pending(id) {
                after.push(id);
            }
            clock.join(known);
        }
        after.sort_unstable();
        after.dedup();
        let count = self.lanes.get(lane).map_or(0, |lane| lane.count) + 1;
        if self.config.reports {
            clock.advance(lane, count);
            self.watch_managed(lane, by.call, touches, &work);
        }
        self.check_homes(lane, by.call, touches, &work);
        if matches!(work, Work::WaitValue(_)) {
            self.value_waits.entry(lane).or_insert(count);
        }
        if self.config.reports {
            self.note_marks(lane, &clock, &work, other.mark.as_ref());
        }
        let is_awaited = work.is_awaited();
        let (until, call, site) = (other.mark, by.call, by.site.clone());
        let runs_now = self.config.order() == Scheduler::Eager
            && after.is_empty()
            && until.as_ref().is_none_or(Mark::is_reached)
            && !matches!(work, Work::Call(_) | Work::WaitValue(_));
        let item =
            Item { lane, after, until, clock: clock.clone(), call, site, work, running: false };
        let is_kernel = matches!(item.work, Work::Kernel(_));
        let is_word = matches!(item.work, Work::Word { .. } | Work::Free(_));
        let (id, now) = if runs_now {
            (self.queue.next_id(), Some(item))
        } else {
            (self.queue.add(item), None)
        };
        if is_kernel {
            self.kernels.insert(id, self.host_clock.clone());
        }
        let watched = if self.config.reports { touches } else { &[] };
        for touch in watched {
            let access = Some((touch.kind, touch.area));
            let stream = self.lanes.get(lane).map(|lane| lane.label.clone());
            let side = Side { stream, access, operand: touch.operand, ..by.clone() };
            let memory = self.registry.get(touch.memory);
            if memory.is_some_and(|memory| memory.kind == MemoryKind::Virtual) {
                for part in self.physical_touches(touch) {
                    self.note(id, lane, count, &side, &clock, &part);
                }
            } else {
                self.note(id, lane, count, &side, &clock, touch);
                if !is_word {
                    self.note_between(lane, &clock, &side, touch);
                }
            }
        }
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.last = id;
            lane.count = count;
            lane.clock = clock;
        }
        self.protect(id);
        if let Some(item) = now {
            self.do_work(id, item);
        } else if is_awaited {
            self.callbacks.announce();
        }
        self.progress();
        id
    }

    /// Queues work at a place in the order; returns it with all that came before it.
    pub(crate) fn queue_point(
        &mut self,
        turn: Turn,
        by: &Side,
        touches: &[Touch],
        work: Work,
        other: Other<'_>,
    ) -> (ItemId, Clock) {
        let lane = turn.lane;
        let item = self.queue_turn(turn, by, touches, work, other);
        let clock = self.lanes.get(lane).map(|lane| lane.clock.clone()).unwrap_or_default();
        (item, clock)
    }

    /// Returns the queued work that the next work of a lane waits for.
    pub(crate) fn pending_before(&self, id: LaneId) -> Result<Vec<ItemId>, CUresult> {
        let lane = self.lanes.get(id).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        let mut after = Vec::new();
        if self.queue.items.is_empty() {
            return Ok(after);
        }
        after.extend(Some(lane.last).filter(|&last| self.queue.is_pending(last)));
        for other in self.lanes_before(lane) {
            after.extend(Some(other.1.last).filter(|&last| self.queue.is_pending(last)));
        }
        Ok(after)
    }

    /// Takes the clock of a lane's next work, but for that itself, out of the lane.
    fn clock_for_next(&mut self, id: LaneId) -> Clock {
        if !self.config.reports {
            return Clock::default();
        }
        let Some(lane) = self.lanes.get_mut(id) else { return Clock::default() };
        let clock = std::mem::take(&mut lane.clock);
        let Some(lane) = self.lanes.get(id) else { return clock };
        self.joined(lane, clock)
    }

    /// Adds to a lane's clock what comes before its next work on other lanes.
    fn joined(&self, lane: &Lane, mut clock: Clock) -> Clock {
        for (id, other) in self.lanes_before(lane) {
            // What knows the last work of a lane knows all that came before it.
            if !clock.covers(id, other.count) {
                clock.join(&other.clock);
            }
        }
        clock
    }

    /// Returns the other lanes whose work comes before the next of a lane: the legacy stream waits
    /// for all blocking streams, and they for it (*manual*).
    fn lanes_before(&self, lane: &Lane) -> impl Iterator<Item = (LaneId, &Lane)> {
        let legacy = match lane.kind {
            LaneKind::Blocking => self.contexts.get(lane.context).map(|context| context.own.legacy),
            LaneKind::Legacy | LaneKind::NonBlocking => None,
        };
        let legacy = legacy.and_then(|id| Some((id, self.lanes.get(id)?)));
        let all = (lane.kind == LaneKind::Legacy).then(|| self.lanes.of(lane.context));
        let blocking =
            all.into_iter().flatten().filter(|(_, lane)| lane.kind == LaneKind::Blocking);
        legacy.into_iter().chain(blocking)
    }

    /// Returns what the next work of a lane waits for.
    pub(crate) fn before(&self, id: LaneId) -> Result<(Vec<ItemId>, Clock), CUresult> {
        let after = self.pending_before(id)?;
        let lane = self.lanes.get(id).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        Ok((after, self.joined(lane, lane.clock.clone())))
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
        // What is known to be done is forgotten, unless queued kernels have yet to be compared with it.
        let known = &self.host_clock;
        let may_be_ordered =
            self.value_waits.iter().any(|(&lane, &count)| clock.covers(lane, count));
        let forgettable = self.kernels.values().next().unwrap_or(known);
        let Some(allocation) = self.registry.get_mut(touch.memory) else { return };
        for past in &allocation.history {
            // What the host knows to be done comes before all that it queues.
            if past.kind.conflicts(touch.kind)
                && past.item != item
                && !may_be_ordered
                && !past.may_be_ordered
                && !clock.covers(past.lane, past.count)
                && !known.covers(past.lane, past.count)
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
        let Touch { kind, area, .. } = *touch;
        let new = Past { item, lane, count, kind, area, may_be_ordered, side: side.clone() };
        allocation.remember(new, clock, forgettable);
    }

    /// Lets run what may run though nothing waits for it.
    pub(crate) fn progress(&mut self) {
        if self.queue.items.is_empty() {
            return;
        }
        match self.config.order() {
            Scheduler::Lazy => {}
            Scheduler::Eager => {
                // A value that work writes may let earlier work run.
                while self.run_ready() && self.queue.has_value_waits() {}
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
        match self.config.order() {
            Scheduler::Lazy => {
                self.run_all(&self.queue.needed(goals))
                    || self.queue.waits_for_values(goals) && self.run_ready()
            }
            Scheduler::Eager => self.run_ready(),
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
        if let Some(id) = self.queue.ready_before(goals) {
            self.run(id);
        } else if self.queue.waits_for_values(goals)
            && let Some(id) = self.queue.ready_first()
        {
            self.run(id);
        }
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

    /// Runs all that can run. What follows a piece of work is later than it: one pass does.
    fn run_ready(&mut self) -> bool {
        let mut next = 0;
        loop {
            let ready = self.queue.ready_from(next).next();
            let Some(id) = ready else { return next > 0 };
            next = id + 1;
            self.run(id);
        }
    }

    fn run_random(&mut self) -> bool {
        let count = self.queue.ready().count();
        // Asked in vain, how often depends on time: the order must not.
        if count == 0 {
            return false;
        }
        let pick = self.random(count);
        let ready = self.queue.ready().nth(pick);
        match ready {
            Some(id) => {
                self.run(id);
                true
            }
            None => false,
        }
    }

    /// Runs a piece of work that is ready.
    fn run(&mut self, id: ItemId) {
        if let Some(item) = self.queue.items.get(&id)
            && let Work::Call(function) = &item.work
            && !self.drops(item)
        {
            // What the function does may tell another thread that all before it is done.
            let (function, clock) = (*function, item.clock.clone());
            self.queue.begin(id);
            self.host_clock.join(&clock);
            self.between.settle(&self.host_clock);
            self.callbacks.call(id, function);
            return;
        }
        if let Some(item) = self.queue.remove(id) {
            self.do_work(id, item);
        }
    }

    /// Does the work of an item that is not, or no longer, queued.
    fn do_work(&mut self, id: ItemId, item: Item) {
        self.count_order(id);
        if self.drops(&item) {
            self.kernels.remove(&id);
            self.end_protection(id);
            return;
        }
        if !self.managed.is_empty() {
            self.compare_managed(&Side { site: item.site.clone(), ..Side::new(item.call, "") });
        }
        execute::execute(self, id, item);
        self.end_protection(id);
        self.accept_managed();
    }

    /// Tells whether a piece of work is dropped, as all but frees is in a context with an error
    /// (*manual* of host functions).
    fn drops(&self, item: &Item) -> bool {
        let context = self.lanes.get(item.lane).map_or(0, |lane| lane.context);
        !matches!(item.work, Work::Free(_) | Work::Release(_)) && self.sticky(context).is_some()
    }

    /// Notes that a host function is done.
    pub(crate) fn called(&mut self, id: ItemId) {
        if self.queue.remove(id).is_some() {
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
