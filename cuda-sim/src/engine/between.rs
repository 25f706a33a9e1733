//! Races between processes: accesses to memory that they share, which nothing orders.
//!
//! What orders an access before another process's: that its own process knew it to be done (then
//! any message may have told of it), or a record of an event behind it that the other one waits for.
//! What stands behind a word that work writes, or behind a wait for one, may be ordered by it.
//!
//! The memory is that of legacy handles. Of exported pools and physical memory nothing is compared.

use std::collections::HashMap;
use std::sync::Arc;

use crate::driver::ipc::accesses::{Accesses, MarkName, SharedAccess, Slot};
use crate::driver::ipc::board::Mark;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::address_space::pins;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::registry::{BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::work::{Touch, Work};
use crate::report::{Finding, FindingKind, Side};

/// Is an access of this process that others can see.
#[derive(Debug)]
struct Told {
    table: Arc<Accesses>,
    slot: Slot,
    memory: BufferId,
    lane: LaneId,
    count: u64,
}

/// Is a wait for a record, with its place on its lane.
#[derive(Debug)]
struct Wait {
    lane: LaneId,
    count: u64,
    mark: MarkName,
}

/// How many waits are remembered. With more, nothing is compared.
const MOST_WAITS: usize = 4096;

/// Holds what this process has to do with the accesses of others.
#[derive(Debug, Default)]
pub(crate) struct Between {
    /// By the process whose memory it is; this one's too.
    tables: HashMap<u32, Arc<Accesses>>,
    told: Vec<Told>,
    waits: Vec<Wait>,
    gave_up: bool,
}

impl Between {
    /// Tells whether there is anything to compare.
    pub(crate) fn is_used(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Begins to compare accesses to the memory of a process. Without a table nothing is compared.
    pub(crate) fn begin(&mut self, process: u32) {
        if self.tables.contains_key(&process) {
            return;
        }
        let table = if process == std::process::id() {
            Accesses::create().ok()
        } else {
            Accesses::find(process)
        };
        if let Some(table) = table {
            self.tables.insert(process, Arc::new(table));
        }
    }

    /// Returns all accesses that stand anywhere, each with its table.
    fn all(&self) -> impl Iterator<Item = (&Arc<Accesses>, Slot, SharedAccess)> {
        let tables = self.tables.values();
        tables.flat_map(|table| table.all().into_iter().map(move |(at, it)| (table, at, it)))
    }

    /// Tells whether work with these clocks comes after a record that comes after an access.
    fn is_after(&self, access: &SharedAccess, clock: &Clock, host: &Clock) -> bool {
        let known = |wait: &&Wait| {
            clock.covers(wait.lane, wait.count) || host.covers(wait.lane, wait.count)
        };
        self.waits.iter().filter(known).any(|wait| comes_after(access, wait.mark))
    }

    /// Takes out what a record that is done comes after.
    pub(crate) fn reached(&self, mark: MarkName) {
        for (table, slot, access) in self.all() {
            if comes_after(&access, mark) {
                table.remove(slot);
            }
        }
    }

    /// Takes out what the host knows to be done.
    pub(crate) fn settle(&mut self, host: &Clock) {
        self.told.retain(|told| {
            let known = host.covers(told.lane, told.count);
            if known {
                told.table.remove(told.slot);
            }
            !known
        });
        let (known, waits) = std::mem::take(&mut self.waits)
            .into_iter()
            .partition(|wait| host.covers(wait.lane, wait.count));
        self.waits = waits;
        let known: Vec<Wait> = known;
        known.iter().for_each(|wait| self.reached(wait.mark));
    }

    /// Takes out the accesses to memory that is gone.
    pub(crate) fn forget(&mut self, memory: BufferId) {
        self.forget_if(|told| told.memory == memory);
    }

    /// Takes out the accesses of lanes that nobody knows any more.
    pub(crate) fn forget_lanes(&mut self, is_gone: impl Fn(LaneId) -> bool) {
        self.forget_if(|told| is_gone(told.lane));
        self.waits.retain(|wait| !is_gone(wait.lane));
    }

    fn forget_if(&mut self, is_gone: impl Fn(&Told) -> bool) {
        self.told.retain(|told| {
            let gone = is_gone(told);
            if gone {
                told.table.remove(told.slot);
            }
            !gone
        });
    }

    /// Notes that the next work of a lane, with this clock, waits for a record.
    fn wait(&mut self, lane: LaneId, count: u64, mark: MarkName) {
        if self.waits.len() >= MOST_WAITS {
            self.gave_up = true;
            return;
        }
        self.waits.push(Wait { lane, count, mark });
    }

    /// Notes that a record comes after all that its clock covers.
    fn record(&self, mark: MarkName, clock: &Clock, host: &Clock) {
        for told in self.told.iter().filter(|told| clock.covers(told.lane, told.count)) {
            told.table.cover(told.slot, mark);
        }
        for (table, slot, access) in self.all() {
            if self.is_after(&access, clock, host) {
                table.cover(slot, mark);
            }
        }
    }

    /// Notes that all that a clock covers may be known to others by a word.
    fn let_be(&self, clock: &Clock) {
        for told in self.told.iter().filter(|told| clock.covers(told.lane, told.count)) {
            told.table.let_be(told.slot);
        }
    }
}

/// Tells whether a record, done or waited for, comes after an access.
fn comes_after(access: &SharedAccess, mark: MarkName) -> bool {
    let behind =
        |its: &MarkName| its.event == mark.event && its.number != 0 && its.number <= mark.number;
    access.marks.iter().any(behind)
}

/// Tells whether work writes a word that others may wait for.
fn tells_by_word(work: &Work) -> bool {
    match work {
        Work::Word { .. } => true,
        Work::Batch(works) => works.iter().any(tells_by_word),
        _ => false,
    }
}

impl State {
    /// Notes the waits and records of work that is queued, which is the `count`-th of its lane.
    pub(crate) fn note_marks(
        &mut self,
        lane: LaneId,
        clock: &Clock,
        work: &Work,
        until: Option<&Mark>,
    ) {
        if !self.between.is_used() {
            return;
        }
        if let Some(mark) = until {
            self.between.wait(lane, clock.count(lane), mark.name());
        }
        if let Work::Record(_, Some(mark)) = work {
            self.between.record(mark.name(), clock, &self.host_clock);
        }
        if tells_by_word(work) {
            self.between.let_be(clock);
        }
    }

    /// Compares an access to memory that processes share with those of the others, and tells them.
    pub(crate) fn note_between(&mut self, lane: LaneId, clock: &Clock, side: &Side, touch: &Touch) {
        if !self.between.is_used() || self.between.gave_up {
            return;
        }
        if self.may_tell_the_host(touch) {
            self.between.let_be(clock);
            return;
        }
        let may_be_ordered =
            self.value_waits.iter().any(|(&lane, &count)| clock.covers(lane, count));
        let Some((process, area)) = self.shared_area(touch.memory, touch.area) else { return };
        let (Some(table), Some(owner)) =
            (self.between.tables.get(&process).cloned(), pins::owner(std::process::id()))
        else {
            return;
        };
        let access = SharedAccess {
            owner,
            kind: touch.kind,
            area,
            call: side.call,
            operand: side.operand,
            stream: side.stream.as_deref().unwrap_or_default().to_owned(),
            may_be_ordered,
            marks: Default::default(),
        };
        let slot = table.add(&access);
        for (_, other) in table.all() {
            if other.owner != owner
                && other.kind.conflicts(access.kind)
                && !other.may_be_ordered
                && !may_be_ordered
                && other.area.overlaps(&area)
                && !self.between.is_after(&other, clock, &self.host_clock)
                && pins::is_alive(other.owner)
            {
                self.report_between(&other, side, touch.area.base.wrapping_sub(area.base));
            }
        }
        if let Some(slot) = slot {
            let (memory, count) = (touch.memory, clock.count(lane));
            self.between.told.push(Told { table, slot, memory, lane, count });
        }
    }

    /// Tells whether what an access writes may tell another process's host that all before it is
    /// done.
    fn may_tell_the_host(&self, touch: &Touch) -> bool {
        let memory = self.registry.get(touch.memory);
        touch.kind == AccessKind::Atomic
            || touch.kind == AccessKind::Write
                && memory.is_some_and(|memory| memory.kind == MemoryKind::Registered)
    }

    /// Reports another process's access; its file's bytes lie here `distance` further on.
    fn report_between(&mut self, other: &SharedAccess, side: &Side, distance: u64) {
        let process = other.owner >> 16;
        let area = AccessBox { base: other.area.base.wrapping_add(distance), ..other.area };
        let earlier = Side {
            call: other.call,
            operand: other.operand,
            stream: Some(format!("{} of process {process}", other.stream).into()),
            access: Some((other.kind, area)),
            site: None,
        };
        self.findings.add(Finding {
            kind: FindingKind::Race,
            earlier: Some(earlier),
            later: side.clone(),
            subject: format!(
                "nothing orders the work of process {process} and of this one, {}",
                std::process::id()
            ),
        });
    }

    /// Returns whose memory other processes share, and where in its file a box of it lies.
    fn shared_area(&self, memory: BufferId, area: AccessBox) -> Option<(u32, AccessBox)> {
        let found = self.registry.get(memory)?;
        let process = match found.kind {
            MemoryKind::Imported => self.imports.process_of(found.base)?,
            MemoryKind::Device if self.imports.is_exported(memory) => std::process::id(),
            _ => return None,
        };
        let (_, offset, segment) = self.space.segment(area.base)?;
        Some((process, AccessBox { base: segment.at + offset, ..area }))
    }

    /// Tells other processes of the accesses to memory that they can open from now on.
    pub(crate) fn tell_of_history(&mut self, memory: BufferId) {
        if !self.config.reports {
            return;
        }
        self.between.begin(std::process::id());
        let history = self.registry.get(memory).map(|memory| memory.history.clone());
        for past in history.unwrap_or_default() {
            if past.may_be_ordered || self.host_clock.covers(past.lane, past.count) {
                continue;
            }
            let mut clock = Clock::default();
            clock.advance(past.lane, past.count);
            let (kind, area) = (past.kind, past.area);
            let touch = Touch { memory, kind, area, operand: past.side.operand };
            self.note_between(past.lane, &clock, &past.side, &touch);
        }
    }
}
