//! Faults on demand: which call of which function fails with which code.

use crate::config::Failure;
use crate::table::Function;

/// Counts the calls and says which of them fails.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    failures: Vec<Failure>,
    /// Indexed by function.
    counts: Vec<u64>,
    total: u64,
}

impl Faults {
    pub(crate) fn new(failures: Vec<Failure>) -> Self {
        Self { failures, counts: vec![0; Function::COUNT], total: 0 }
    }

    /// Counts a call, and returns how it fails, if it does.
    pub(crate) fn count(&mut self, function: Function) -> Option<&Failure> {
        self.total += 1;
        let mut nth = 0;
        if let Some(count) = self.counts.get_mut(function.index()) {
            *count += 1;
            nth = *count;
        }
        self.failures.iter().find(|failure| match &failure.symbol {
            Some(symbol) => failure.nth == nth && symbol == function.name(),
            None => failure.nth == self.total,
        })
    }

    /// Forgets the calls so far.
    pub(crate) fn restart(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// Returns how many calls there were.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }
}
