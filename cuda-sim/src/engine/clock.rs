//! Vector clocks: which queued work is known to come after which.
//!
//! Each lane (a stream, or a context's legacy or a thread's per-thread stream) counts its work. The
//! clock of a piece of work says, for each lane, up to which count everything came before it.

use std::sync::Arc;

/// Is the identity of a lane; never used twice in a process.
pub(crate) type LaneId = u32;

/// Is what came before a point, by lane. Lanes that aren't named stand at zero.
///
/// A clone shares the counts until one of the two changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Sorted by lane; none if no lane is named.
    counts: Option<Arc<Vec<(LaneId, u64)>>>,
}

impl Clock {
    fn counts(&self) -> &[(LaneId, u64)] {
        self.counts.as_ref().map_or(&[], |counts| counts)
    }

    fn counts_mut(&mut self) -> &mut Vec<(LaneId, u64)> {
        Arc::make_mut(self.counts.get_or_insert_default())
    }

    /// Returns up to which count of `lane` everything came before.
    pub(crate) fn count(&self, lane: LaneId) -> u64 {
        let counts = self.counts();
        match counts.binary_search_by_key(&lane, |entry| entry.0) {
            Ok(position) => counts.get(position).map_or(0, |entry| entry.1),
            Err(_) => 0,
        }
    }

    /// Tells whether the `count`-th work of `lane` came before.
    pub(crate) fn covers(&self, lane: LaneId, count: u64) -> bool {
        self.count(lane) >= count
    }

    /// Notes that everything of `lane` up to `count` came before.
    pub(crate) fn advance(&mut self, lane: LaneId, count: u64) {
        let counts = self.counts_mut();
        match counts.binary_search_by_key(&lane, |entry| entry.0) {
            Ok(position) => {
                if let Some(entry) = counts.get_mut(position) {
                    entry.1 = entry.1.max(count);
                }
            }
            Err(position) => counts.insert(position, (lane, count)),
        }
    }

    /// Notes that everything that came before `other` came before this too.
    pub(crate) fn join(&mut self, other: &Self) {
        let (Some(mine), Some(theirs)) = (&self.counts, &other.counts) else {
            if self.counts.is_none() {
                self.counts.clone_from(&other.counts);
            }
            return;
        };
        if Arc::ptr_eq(mine, theirs) {
            return;
        }
        let mut more = Vec::new();
        {
            let counts = self.counts_mut();
            let mut entries = counts.iter_mut().peekable();
            for &(lane, count) in theirs.iter() {
                while entries.next_if(|entry| entry.0 < lane).is_some() {}
                match entries.next_if(|entry| entry.0 == lane) {
                    Some(entry) => entry.1 = entry.1.max(count),
                    None => more.push((lane, count)),
                }
            }
        }
        if !more.is_empty() {
            let counts = self.counts_mut();
            counts.append(&mut more);
            // Two runs that are sorted already: linear.
            counts.sort_by_key(|entry| entry.0);
        }
    }

    /// Forgets the lanes that `keep` refuses: their work is compared with no more.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(LaneId) -> bool) {
        if self.counts().iter().any(|entry| !keep(entry.0)) {
            self.counts_mut().retain(|entry| keep(entry.0));
        }
    }

    /// Returns how many lanes it names.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.counts().len()
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_join_takes_the_greater_count_of_each_lane() {
        let (mut left, mut right) = (Clock::default(), Clock::default());
        left.advance(3, 7);
        left.advance(1, 2);
        right.advance(3, 5);
        right.advance(9, 1);
        left.join(&right);
        assert_eq!([left.count(1), left.count(3), left.count(9), left.count(2)], [2, 7, 1, 0]);
        assert!(left.covers(3, 7) && !left.covers(3, 8));
        left.retain(|lane| lane != 3);
        assert_eq!(left.count(3), 0);
    }
}
