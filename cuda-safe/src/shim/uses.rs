//! Use records: which streams use which bytes of an allocation. No driver.
//!
//! A record is a set of uses. [`Uses::settle`] says which of them a new use has to wait for,
//! [`Uses::touch`] adds the new one and removes what it makes needless. In between lies the call,
//! and no lock is held: other threads may add uses, and those stay.
//!
//! A use can be removed once a later one stands for it: waiting for the later one is waiting for
//! both, and whatever conflicts with the earlier one conflicts with the later one too. So
//!
//! 1. the later one is ordered behind it: on the same stream, or because it waited for it;
//! 2. its bytes contain the earlier one's;
//! 3. it writes, or both read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::area::Area;
use super::operand::Access;

/// Is what a record has to know of a stream.
pub(crate) trait Marks {
    /// Returns a number that no other stream of this process has or had.
    fn id(&self) -> u64;

    /// Returns the highest mark that the host knows to be reached.
    fn reached(&self) -> u64;
}

/// Is a use that a new one has to wait for.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    serial: u64,
    pub(crate) timeline: Arc<T>,
    pub(crate) mark: u64,
}

#[derive(Debug)]
struct Use<T> {
    /// Names the use in its record.
    serial: u64,
    timeline: Arc<T>,
    mark: u64,
    access: Access,
    area: Area,
}

/// Is the record of one allocation.
#[derive(Debug)]
pub(crate) struct Uses<T> {
    /// The stream that all uses are on, [`NONE`] or [`SEVERAL`]: what the common case has to look
    /// at. Whoever writes it holds the lock.
    sole: AtomicU64,
    set: Mutex<Set<T>>,
}

const NONE: u64 = 0;
const SEVERAL: u64 = u64::MAX;

/// Above so many uses a record drops what was reached.
const FEW: usize = 8;

#[derive(Debug)]
struct Set<T> {
    uses: Vec<Use<T>>,
    serial: u64,
    limit: usize,
}

impl<T: Marks> Uses<T> {
    pub(crate) const fn new() -> Self {
        let set = Set { uses: Vec::new(), serial: 0, limit: FEW };
        Self { sole: AtomicU64::new(NONE), set: Mutex::new(set) }
    }

    fn lock(&self) -> MutexGuard<'_, Set<T>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().uses.len()
    }

    /// Tells whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        self.sole.load(Ordering::Acquire) == NONE
    }

    /// Returns the uses that a use on the stream `id` must not pass.
    ///
    /// Two uses that conflict are ordered by the borrow checker: the earlier one's touch happened
    /// before this, so that the look without the lock sees it.
    #[inline]
    pub(crate) fn settle(&self, id: u64, access: Access, area: &Area) -> Vec<Pending<T>> {
        let sole = self.sole.load(Ordering::Acquire);
        if sole == id || sole == NONE {
            return Vec::new();
        }
        self.conflicts(Some(id), access, area)
    }

    /// Returns the uses that the host must not pass.
    #[inline]
    pub(crate) fn settle_host(&self, access: Access, area: &Area) -> Vec<Pending<T>> {
        if self.sole.load(Ordering::Acquire) == NONE {
            return Vec::new();
        }
        self.conflicts(None, access, area)
    }

    #[cold]
    fn conflicts(&self, id: Option<u64>, access: Access, area: &Area) -> Vec<Pending<T>> {
        let pending = |earlier: &&Use<T>| {
            Some(earlier.timeline.id()) != id
                && earlier.access.conflicts(access)
                && earlier.area.overlaps(area)
                && earlier.mark > earlier.timeline.reached()
        };
        self.lock().uses.iter().filter(pending).map(Use::pending).collect()
    }

    /// Records a use, and removes what it stands for; `settled` is what it waited for.
    ///
    /// Answers whether the record has become so long that [`drop_reached`](Self::drop_reached)
    /// should be called, after asking the streams how far they are.
    #[inline]
    pub(crate) fn touch<'a>(
        &self,
        timeline: &Arc<T>,
        mark: u64,
        access: Access,
        area: &Area,
        settled: impl Iterator<Item = &'a Pending<T>> + Clone,
    ) -> bool
    where
        T: 'a,
    {
        if area.is_empty() {
            return false;
        }
        let mut set = self.lock();
        // The same use again, as in a loop: only its mark is new, and what it stands for is gone.
        if let Some(last) = set.uses.last_mut()
            && last.timeline.id() == timeline.id()
            && last.access == access
            && last.area == *area
        {
            // Two threads may take marks in one order and come here in the other.
            last.mark = last.mark.max(mark);
            return false;
        }
        let mut latest = mark;
        set.uses.retain(|earlier| {
            let same_stream = earlier.timeline.id() == timeline.id();
            let ordered =
                same_stream || settled.clone().any(|waited| waited.serial == earlier.serial);
            let stands = access == Access::Write || earlier.access == Access::Read;
            let needless = ordered && stands && area.contains(&earlier.area);
            if needless && same_stream {
                latest = latest.max(earlier.mark);
            }
            !needless
        });
        set.serial += 1;
        let serial = set.serial;
        let timeline = Arc::clone(timeline);
        set.uses.push(Use { serial, timeline, mark: latest, access, area: *area });
        self.sole.store(set.sole(), Ordering::Release);
        set.uses.len() > set.limit
    }

    /// Removes the uses that the host knows to be done.
    pub(crate) fn drop_reached(&self) {
        let mut set = self.lock();
        set.uses.retain(|earlier| earlier.mark > earlier.timeline.reached());
        // A long record is looked through each time it has doubled, so that this costs little.
        set.limit = (2 * set.uses.len()).max(FEW);
        self.sole.store(set.sole(), Ordering::Release);
    }

    /// Returns everything that is not known to be done.
    pub(crate) fn outstanding(&self) -> Vec<Pending<T>> {
        let unreached = |earlier: &&Use<T>| earlier.mark > earlier.timeline.reached();
        self.lock().uses.iter().filter(unreached).map(Use::pending).collect()
    }
}

impl<T: Marks> Set<T> {
    fn sole(&self) -> u64 {
        match self.uses.split_first() {
            None => NONE,
            Some((first, rest)) => {
                let id = first.timeline.id();
                if rest.iter().all(|other| other.timeline.id() == id) { id } else { SEVERAL }
            }
        }
    }
}

impl<T> Use<T> {
    fn pending(&self) -> Pending<T> {
        Pending { serial: self.serial, timeline: Arc::clone(&self.timeline), mark: self.mark }
    }
}

#[cfg(test)]
mod tests;
