//! Does what a piece of queued work says.
//!
//! Unsafe, because it touches memory by address. That an allocation is still there is looked up
//! before each access; host memory that the driver doesn't know is the promise of the call's user.

#![expect(unsafe_code, reason = "queued work copies and fills bytes by address")]

use std::ops::Range;
use std::time::Instant;

use crate::config::Scheduler;
use crate::engine::access::AccessKind;
use crate::engine::kernel;
use crate::engine::raw::{self, Extent, Rows, Word};
use crate::engine::registry::MemoryKind;
use crate::engine::state::State;
use crate::engine::work::{Expected, Item, ItemId, Place, Source, Work};
use crate::report::{Finding, FindingKind, Side};

/// Does the work of an item that left the queue.
pub(crate) fn execute(state: &mut State, id: ItemId, item: Item) {
    let label = state.lanes.get(item.lane).map(|lane| lane.label.clone());
    let side = |place: &Place, kind| Side {
        call: item.call,
        operand: place.operand,
        stream: label.clone(),
        access: Some((kind, place.area)),
        site: item.site.clone(),
    };
    if let Work::Kernel(kernel) = &item.work {
        kernel::run::run(state, id, &item, kernel);
        return;
    }
    perform(state, id, &item.work, &side);
}

/// Does a piece of work; `side` tells whose access to a place it is.
fn perform(state: &mut State, id: ItemId, work: &Work, side: &dyn Fn(&Place, AccessKind) -> Side) {
    match work {
        Work::Nothing | Work::Call(_) | Work::Kernel(_) | Work::WaitValue(_) => {}
        Work::Record(event, mark) => {
            if let Some(mark) = mark {
                mark.reach();
            }
            if let Some(event) = state.events.get_mut(*event)
                && let Some(record) = &mut event.record
                && record.item == id
            {
                record.at = Some(Instant::now());
            }
        }
        Work::Free(memory) => state.release(*memory),
        Work::Release(objects) => {
            for &(object, count) in objects {
                state.release_object(object, count, true);
            }
        }
        Work::Fill { to, extent, pattern } => {
            if is_there(state, to, || side(to, AccessKind::Write)) {
                // SAFETY: `is_there` found the allocation that the box was checked against.
                unsafe { raw::fill(to.rows, *extent, pattern) };
            }
        }
        Work::Copy { to, from, extent } => copy(state, to, from, *extent, side),
        Work::Batch(works) if state.config.order() == Scheduler::Lazy => {
            // No order is promised.
            works.iter().rev().for_each(|work| perform(state, id, work, side));
        }
        Work::Batch(works) => works.iter().for_each(|work| perform(state, id, work, side)),
        Work::Word { to, word, change } => {
            if is_there(state, to, || side(to, AccessKind::Write)) {
                // SAFETY: `is_there` found the allocation that the word was checked against, whose
                // call refused an address that is no multiple of its length.
                unsafe { raw::change(to.rows.base, *word, *change) };
            }
        }
    }
}

/// Copies, if the memory of both ends still exists.
fn copy(
    state: &mut State,
    to: &Place,
    from: &Source,
    extent: Extent,
    side: &dyn Fn(&Place, AccessKind) -> Side,
) {
    if !is_there(state, to, || side(to, AccessKind::Write)) {
        return;
    }
    let destination = FindingKind::HostDestinationChanged;
    compare(state, to, extent, destination, || side(to, AccessKind::Write));
    let rows = match from {
        Source::Place(from) => {
            if !is_there(state, from, || side(from, AccessKind::Read)) {
                return;
            }
            let source = FindingKind::HostSourceChanged;
            compare(state, from, extent, source, || side(from, AccessKind::Read));
            from.rows
        }
        Source::Taken(bytes) => Rows::dense(bytes.as_ptr().expose_provenance(), extent),
    };
    // SAFETY: `is_there` found the allocations that the boxes were checked against; bytes
    // that were taken have the copy's volume; pageable memory is used inside its call only, or
    // in a graph, whose program promises that it is there at each launch.
    unsafe { raw::copy(to.rows, rows, extent) };
}

/// Tells whether the memory of a place still exists, and reports if it doesn't.
pub(crate) fn is_there(state: &mut State, place: &Place, side: impl FnOnce() -> Side) -> bool {
    let Some(memory) = place.memory else { return true };
    let area = &place.area;
    let found = state.registry.get(memory);
    if found.is_some_and(|memory| {
        memory.kind != MemoryKind::Virtual || state.holds(memory, area.base, area.end() - area.base)
    }) {
        return true;
    }
    let earlier = state.registry.grave(place.area.base).map(|grave| grave.freed_by.clone());
    state.findings.add(Finding {
        kind: FindingKind::UseAfterFree,
        earlier,
        later: side(),
        subject: "queued work ran after its memory was freed".to_owned(),
    });
    false
}

/// Reports if the host changed the bytes of a place since the work was queued.
fn compare(
    state: &mut State,
    place: &Place,
    extent: Extent,
    kind: FindingKind,
    side: impl FnOnce() -> Side,
) {
    let Some(expected) = place.expected else { return };
    let is_unchanged = match expected {
        // SAFETY: `is_there` found the allocation that the box was checked against.
        Expected::Hash(hash) => unsafe { raw::hash(place.rows, extent) == hash },
        // SAFETY: as above.
        Expected::Poison => unsafe { raw::is_filled(place.rows, extent, POISON) },
    };
    if !is_unchanged {
        state.findings.add(Finding {
            kind,
            earlier: None,
            later: side(),
            subject: "pinned memory belongs to the copy until it is done".to_owned(),
        });
    }
}

/// What fresh device memory is filled with.
pub(crate) const JUNK: u8 = 0xA5;

/// What the destination of a queued copy is filled with until the copy runs.
const POISON: u8 = 0xDB;

/// Fills fresh device memory with junk.
pub(crate) fn junk(base: usize, bytes: usize) {
    let extent = Extent { width: bytes, height: 1, depth: 1 };
    // SAFETY: the allocation was just made, and its shadow is mapped.
    unsafe { raw::fill(Rows::dense(base, extent), extent, &[JUNK]) };
}

/// Reads what a kernel reads.
pub(crate) fn kernel_reads(from: Range<usize>, to: &mut [u8]) {
    let extent = Extent { width: from.len().min(to.len()), height: 1, depth: 1 };
    let to = Rows::dense(to.as_mut_ptr().expose_provenance(), extent);
    // SAFETY: the range was just found in an allocation, and the target is borrowed.
    unsafe { raw::copy(to, Rows::dense(from.start, extent), extent) };
}

/// Writes what a kernel writes, or what a variable begins as.
pub(crate) fn kernel_writes(to: Range<usize>, from: &[u8]) {
    let extent = Extent { width: to.len().min(from.len()), height: 1, depth: 1 };
    let from = Rows::dense(from.as_ptr().expose_provenance(), extent);
    // SAFETY: the range was just found in an allocation, and the source is borrowed.
    unsafe { raw::copy(Rows::dense(to.start, extent), from, extent) };
}

/// Takes the bytes of a copy's source while its call is answered.
pub(crate) fn taken(place: &Place, extent: Extent) -> Vec<u8> {
    // SAFETY: the call's user promises that the source may be read until the call returns.
    unsafe { raw::take(place.rows, extent) }
}

/// Returns the hash of the bytes of pinned memory.
pub(crate) fn hashed(place: &Place, extent: Extent) -> u64 {
    // SAFETY: the box was just checked against an allocation.
    unsafe { raw::hash(place.rows, extent) }
}

/// Returns the hash of bytes that the host reaches.
pub(crate) fn hashed_rows(rows: Rows, extent: Extent) -> u64 {
    // SAFETY: the registry has the allocation, whose bytes these are.
    unsafe { raw::hash(rows, extent) }
}

/// Reads the word at a place, as long as `like`.
pub(crate) fn word(place: &Place, like: Word) -> Word {
    // SAFETY: the address was checked against an allocation and its alignment; a wait for a word in
    // memory that is gone asks no more.
    unsafe { raw::load(place.rows.base, like) }
}

/// Poisons a copy's destination in pinned memory.
pub(crate) fn poison(place: &Place, extent: Extent) {
    // SAFETY: the box was just checked against an allocation, and belongs to the copy from now on.
    unsafe { raw::fill(place.rows, extent, &[POISON]) };
}
