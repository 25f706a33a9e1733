//! Pages of pinned memory that the program cannot touch while a copy of them is queued, if the
//! configuration asks for it: a touch ends the process with a fault, at the very line.
//!
//! The driver's own work goes by a second address of the same memory, which stays open. Memory that
//! was registered has no such address, and is not protected.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::engine::access::AccessBox;
use crate::engine::mapping::{self, Allowed};
use crate::engine::registry::MemoryKind;
use crate::engine::state::State;
use crate::engine::work::{ItemId, Place, Source, Work};

/// Is a page. On machines with larger ones nothing is protected.
const PAGE: u64 = 4096;

/// Is a run of whole pages that a piece of queued work closed.
#[derive(Clone, Debug)]
struct Closed {
    item: ItemId,
    pages: Range<u64>,
    allowed: Allowed,
}

/// Holds what is protected.
#[derive(Debug, Default)]
pub(crate) struct Protection {
    /// The second addresses, with the lengths, by the first.
    seconds: BTreeMap<u64, (u64, usize)>,
    closed: Vec<Closed>,
}

impl Protection {
    /// Gives host memory a second address. Without one it is not protected.
    pub(crate) fn add(&mut self, base: u64, bytes: usize) {
        if let Ok(first) = usize::try_from(base)
            && let Ok(second) = mapping::map_again(first, bytes)
        {
            self.seconds.insert(base, (bytes as u64, second));
        }
    }

    /// Takes the second address of host memory away.
    pub(crate) fn remove(&mut self, base: u64) {
        if let Some((bytes, second)) = self.seconds.remove(&base) {
            crate::driver::host_memory::unmap(second as u64, bytes);
        }
    }

    /// Returns the second address of a byte, if it has one.
    pub(crate) fn second(&self, address: u64) -> Option<usize> {
        let (base, &(bytes, second)) = self.seconds.range(..=address).next_back()?;
        let offset = address.checked_sub(*base).filter(|&offset| offset < bytes)?;
        second.checked_add(usize::try_from(offset).ok()?)
    }

    /// Closes the whole pages of a box.
    fn close(&mut self, item: ItemId, area: &AccessBox, allowed: Allowed) {
        for row in 0..area.height {
            let start = area.base.saturating_add(row.saturating_mul(area.pitch));
            let end = start.saturating_add(area.width);
            let pages = start.next_multiple_of(PAGE)..end / PAGE * PAGE;
            if pages.is_empty() || self.second(pages.start).is_none() {
                continue;
            }
            protect(&pages, allowed);
            self.closed.push(Closed { item, pages, allowed });
        }
    }

    /// Opens the pages that a piece of work closed, as far as no other has.
    fn open(&mut self, item: ItemId) {
        let all = std::mem::take(&mut self.closed);
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|its| its.item == item);
        self.closed = others;
        for Closed { pages, .. } in own {
            protect(&pages, Allowed::All);
            for allowed in [Allowed::Reads, Allowed::Nothing] {
                for other in self.closed.iter().filter(|other| other.allowed == allowed) {
                    let start = other.pages.start.max(pages.start);
                    let both = start..other.pages.end.min(pages.end);
                    if !both.is_empty() {
                        protect(&both, allowed);
                    }
                }
            }
        }
    }
}

/// Says what the program may do with pages.
fn protect(pages: &Range<u64>, allowed: Allowed) {
    let (start, length) = (usize::try_from(pages.start), usize::try_from(pages.end - pages.start));
    if let (Ok(start), Ok(length)) = (start, length) {
        // It fails where pages are larger than here: then they stay open.
        let _ = mapping::protect_host(start, length, allowed);
    }
}

impl State {
    /// Closes the pages that queued work copies, if the host must not touch them.
    pub(crate) fn protect(&mut self, id: ItemId) {
        if !self.config.protect_pages {
            return;
        }
        let Some(item) = self.queue.items.get(&id) else { return };
        let mut found = Vec::new();
        collect(&item.work, &mut found);
        for (place, allowed) in found {
            let memory = place.memory.and_then(|memory| self.registry.get(memory));
            if place.expected.is_some()
                && memory.is_some_and(|memory| memory.kind == MemoryKind::Host)
            {
                self.protection.close(id, &place.area, allowed);
            }
        }
    }

    /// Opens the pages of work that has run, or was dropped.
    pub(crate) fn end_protection(&mut self, id: ItemId) {
        if self.config.protect_pages {
            self.protection.open(id);
        }
    }
}

/// Collects the ends of copies, each with what the host may still do there.
fn collect<'a>(work: &'a Work, found: &mut Vec<(&'a Place, Allowed)>) {
    match work {
        Work::Copy { to, from, .. } => {
            found.push((to, Allowed::Nothing));
            if let Source::Place(from) = from {
                found.push((from, Allowed::Reads));
            }
        }
        Work::Batch(works) => works.iter().for_each(|work| collect(work, found)),
        _ => {}
    }
}
