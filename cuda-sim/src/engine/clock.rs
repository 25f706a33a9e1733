//! Vector clocks: which queued work is known to come after which.
//!
//! Each lane (a stream, or a context's legacy or a thread's per-thread stream) counts its work. The
//! clock of a piece of work says, for each lane, up to which count everything came before it.

/// Is the identity of a lane; never used twice in a process.
pub(crate) type LaneId = u32;

/// Is what came before a point, by lane. Lanes that aren't named stand at zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Sorted by lane.
    counts: Vec<(LaneId, u64)>,
}

impl Clock {
    /// Returns up to which count of `lane` everything came before.
    pub(crate) fn count(&self, lane: LaneId) -> u64 {
        match self.counts.binary_search_by_key(&lane, |entry| entry.0) {
            Ok(position) => self.counts.get(position).map_or(0, |entry| entry.1),
            Err(_) => 0,
        }
    }

    /// Tells whether the `count`-th work of `lane` came before.
    pub(crate) fn covers(&self, lane: LaneId, count: u64) -> bool {
        self.count(lane) >= count
    }

    /// Notes that everything of `lane` up to `count` came before.
    pub(crate) fn advance(&mut self, lane: LaneId, count: u64) {
        match self.counts.binary_search_by_key(&lane, |entry| entry.0) {
            Ok(position) => {
                if let Some(entry) = self.counts.get_mut(position) {
                    entry.1 = entry.1.max(count);
                }
            }
            Err(position) => self.counts.insert(position, (lane, count)),
        }
    }

    /// Notes that everything that came before `other` came before this too.
    pub(crate) fn join(&mut self, other: &Self) {
        for &(lane, count) in &other.counts {
            self.advance(lane, count);
        }
    }

    /// Forgets the lanes that `keep` refuses: their work is compared with no more.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(LaneId) -> bool) {
        self.counts.retain(|entry| keep(entry.0));
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
