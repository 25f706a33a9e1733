//! Managed memory: what was advised of it, whose it is, and whether the host keeps away from it.
//!
//! On a device without concurrent managed access the host must not touch managed memory from when
//! the device got work until the host knows that work to be done (*manual*). Here such memory is
//! hashed when the first work is queued, around each piece of work, and when the host knows.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_int;

use crate::config::Feature;
use crate::engine::clock::LaneId;
use crate::engine::execute;
use crate::engine::raw::{Extent, Rows};
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::engine::work::{Touch, Work};
use crate::report::{Finding, FindingKind, Side};

/// Is a page of managed memory: advice is of whole pages.
pub(crate) const PAGE: u64 = 4096;

/// Is where managed memory is wanted or was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Device(c_int),
    Host,
    HostNode(c_int),
    /// The node of the thread that calls.
    HostNodeOfCaller,
}

/// Is what was said of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    pub(crate) preferred: Option<Location>,
    /// The devices that have it mapped, −1 being the host.
    pub(crate) accessed_by: BTreeSet<c_int>,
    pub(crate) prefetched: Option<Location>,
}

/// Is which work of the device may touch managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// All of it.
    Global,
    /// None of it.
    Host,
    /// That of one stream.
    Single(LaneId),
}

/// Is managed memory that the host must not touch now.
#[derive(Debug)]
struct Watch {
    hash: u64,
    /// The work that was queued first.
    since: Side,
}

/// Is an allocation of managed memory.
#[derive(Debug)]
struct Region {
    attachment: Attachment,
    /// The pages from each offset on, up to the next.
    advice: BTreeMap<u64, Advice>,
    watch: Option<Watch>,
}

/// Holds what is known of managed memory.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    regions: BTreeMap<BufferId, Region>,
}

impl Managed {
    /// Tells whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    pub(crate) fn add(&mut self, memory: BufferId, attachment: Attachment) {
        let advice = BTreeMap::from([(0, Advice::default())]);
        self.regions.insert(memory, Region { attachment, advice, watch: None });
    }

    pub(crate) fn remove(&mut self, memory: BufferId) {
        self.regions.remove(&memory);
    }

    pub(crate) fn attach(&mut self, memory: BufferId, attachment: Attachment) {
        if let Some(region) = self.regions.get_mut(&memory) {
            region.attachment = attachment;
        }
    }

    /// Changes what is said of the pages that hold the bytes from `start` up to `end`.
    pub(crate) fn advise(
        &mut self,
        memory: BufferId,
        start: u64,
        end: u64,
        change: impl Fn(&mut Advice),
    ) {
        let Some(region) = self.regions.get_mut(&memory) else { return };
        let (start, end) = (start / PAGE * PAGE, end.next_multiple_of(PAGE));
        for cut in [start, end] {
            if let Some((_, before)) = region.advice.range(..=cut).next_back() {
                let before = before.clone();
                region.advice.entry(cut).or_insert(before);
            }
        }
        for (_, advice) in region.advice.range_mut(start..end) {
            change(advice);
        }
    }

    /// Returns what is said of the pages that hold the bytes from `start` up to `end`.
    pub(crate) fn advice(&self, memory: BufferId, start: u64, end: u64) -> Vec<&Advice> {
        let Some(region) = self.regions.get(&memory) else { return Vec::new() };
        let first = region.advice.range(..=start).next_back().map(|(_, advice)| advice);
        let rest = region.advice.range(start.saturating_add(1)..end.max(start.saturating_add(1)));
        first.into_iter().chain(rest.map(|(_, advice)| advice)).collect()
    }
}

impl State {
    /// Looks after managed memory when work is queued that the device does.
    pub(crate) fn watch_managed(
        &mut self,
        lane: LaneId,
        call: &'static str,
        touches: &[Touch],
        work: &Work,
    ) {
        let is_device_work = !matches!(
            work,
            Work::Nothing | Work::Record(..) | Work::Call(_) | Work::Free(_) | Work::Release(_)
        );
        if !is_device_work || self.managed.regions.is_empty() {
            return;
        }
        for memory in self.exclusive_regions() {
            let Some(region) = self.managed.regions.get(&memory) else { continue };
            let allowed = match region.attachment {
                Attachment::Global => true,
                Attachment::Host => false,
                Attachment::Single(only) => only == lane,
            };
            let touch = touches.iter().find(|touch| touch.memory == memory);
            if let Some(touch) = touch.filter(|_| !allowed) {
                let operand = touch.operand;
                self.report_managed(
                    Side::new(call, operand),
                    None,
                    "the memory is attached to the host or to another stream",
                );
            } else if allowed && region.watch.is_none() {
                let since = Side::new(call, "");
                let watch = self.hash_of(memory).map(|hash| Watch { hash, since });
                if let Some(region) = self.managed.regions.get_mut(&memory) {
                    region.watch = watch;
                }
            }
        }
    }

    /// Reports if the host changed managed memory while it must not touch it.
    pub(crate) fn compare_managed(&mut self, later: &Side) {
        if self.managed.regions.is_empty() {
            return;
        }
        for memory in self.exclusive_regions() {
            let found = self.hash_of(memory);
            let region = self.managed.regions.get_mut(&memory);
            let Some(watch) = region.and_then(|region| region.watch.as_mut()) else { continue };
            let Some(found) = found.filter(|&found| found != watch.hash) else { continue };
            watch.hash = found;
            let since = watch.since.clone();
            self.report_managed(
                later.clone(),
                Some(since),
                "the host changed managed memory while the device had work",
            );
        }
    }

    /// Takes the bytes that the device's own work has written as they are.
    pub(crate) fn accept_managed(&mut self) {
        if self.managed.regions.is_empty() {
            return;
        }
        for memory in self.exclusive_regions() {
            let found = self.hash_of(memory);
            let region = self.managed.regions.get_mut(&memory);
            if let (Some(watch), Some(found)) =
                (region.and_then(|region| region.watch.as_mut()), found)
            {
                watch.hash = found;
            }
        }
    }

    /// Gives managed memory back to the host where it knows all work to be done.
    pub(crate) fn return_managed(&mut self) {
        if self.managed.regions.values().all(|region| region.watch.is_none()) {
            return;
        }
        let call = crate::call_site::function();
        self.compare_managed(&Side::new(call, ""));
        for memory in self.exclusive_regions() {
            let Some(region) = self.managed.regions.get(&memory) else { continue };
            let is_done = match region.attachment {
                Attachment::Single(lane) => self.is_known(lane),
                Attachment::Global | Attachment::Host => {
                    self.lanes.ids().all(|lane| self.is_known(lane))
                }
            };
            if let Some(region) = self.managed.regions.get_mut(&memory).filter(|_| is_done) {
                region.watch = None;
            }
        }
    }

    fn is_known(&self, lane: LaneId) -> bool {
        self.lanes.get(lane).is_none_or(|state| self.host_clock.covers(lane, state.count))
    }

    /// Returns the managed memory that host and device must not touch at the same time.
    fn exclusive_regions(&self) -> Vec<BufferId> {
        let ids = self.managed.regions.keys().copied();
        ids.filter(|&id| {
            self.registry.get(id).is_some_and(|memory| {
                memory.kind.is_managed()
                    && !self.has(memory.device, Feature::ConcurrentManagedAccess)
            })
        })
        .collect()
    }

    fn hash_of(&self, memory: BufferId) -> Option<u64> {
        let memory = self.registry.get(memory)?;
        let width = usize::try_from(memory.size).ok()?;
        let extent = Extent { width, height: 1, depth: 1 };
        let rows = Rows::dense(usize::try_from(memory.base).ok()?, extent);
        Some(execute::hashed_rows(rows, extent))
    }

    fn report_managed(&mut self, later: Side, earlier: Option<Side>, subject: &str) {
        let subject = subject.to_owned();
        self.findings.add(Finding { kind: FindingKind::ManagedAccess, earlier, later, subject });
    }
}

#[cfg(test)]
mod tests {
    use super::{Attachment, Location, Managed, PAGE};

    #[test]
    fn advice_is_of_whole_pages() {
        let mut managed = Managed::default();
        managed.add(7, Attachment::Global);
        managed.advise(7, PAGE + 1, 2 * PAGE + 1, |advice| advice.read_mostly = true);
        managed.advise(7, 0, PAGE, |advice| advice.preferred = Some(Location::Host));
        let all =
            |start, end| managed.advice(7, start, end).iter().all(|advice| advice.read_mostly);
        assert!(all(PAGE, 3 * PAGE) && all(2 * PAGE, 2 * PAGE + 5));
        assert!(!all(0, PAGE) && !all(PAGE, 3 * PAGE + 1) && !all(PAGE - 1, PAGE + 1));
        assert_eq!(managed.advice(7, 0, 1)[0].preferred, Some(Location::Host));
        assert_eq!(managed.advice(7, PAGE, PAGE + 1)[0].preferred, None);
        assert!(managed.advice(8, 0, 1).is_empty());
    }
}
