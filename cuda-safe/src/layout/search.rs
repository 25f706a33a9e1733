//! Finds out whether a sum of multiples can fall into an interval.
//!
//! Whether two elements share a byte is such a question: their distance is a sum of strides, each
//! taken a bounded number of times. The search goes from the largest coefficient to the smallest
//! and leaves a branch as soon as what is left can't reach the interval, or steps over it.

use super::arithmetic::common_divisor;
use super::per_axis::InlineList;

/// Branches entered before a search is given up.
const BUDGET: u32 = 1 << 16;

/// A coefficient that may be taken from 0 to `most` times.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    pub(super) coefficient: u64,
    pub(super) most: u64,
}

/// A term with what it and all smaller ones can reach together.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    term: Term,
    reach: i128,
    divisor: u64,
}

/// Twice [`INLINE_AXES`](super::INLINE_AXES): two layouts that stay off the heap do so here too.
type List<T> = InlineList<T, 12>;

pub(super) struct Terms(List<Term>);

impl Terms {
    pub(super) fn new() -> Self {
        Self(List::new())
    }

    /// Adds a term; a coefficient of 0 adds nothing.
    pub(super) fn push(&mut self, coefficient: u64, most: u64) {
        if coefficient > 0 && most > 0 {
            self.0.push(Term { coefficient, most });
        }
    }

    /// Sorts the terms, largest coefficient first.
    pub(super) fn sorted(&mut self) -> &[Term] {
        let by_coefficient = |term: &Term| std::cmp::Reverse(term.coefficient);
        self.0.as_mut_slice().sort_unstable_by_key(by_coefficient);
        self.0.as_slice()
    }

    /// Says whether a sum of the terms lies between two numbers, both included.
    ///
    /// `None` means that the search was given up.
    pub(super) fn sum_between(mut self, low: i128, high: i128) -> Option<bool> {
        self.sorted();
        let mut levels: List<Level> = List::new();
        let (mut reach, mut divisor) = (0_i128, 0);
        for &term in self.0.as_slice().iter().rev() {
            // At most 128 terms of less than 2^64 * 2^63, of which few can be that large at once:
            // each is the reach of an axis, which fits 64 bits.
            reach += i128::from(term.coefficient) * i128::from(term.most);
            divisor = common_divisor(term.coefficient, divisor);
            levels.push(Level { term, reach, divisor });
        }
        levels.as_mut_slice().reverse();
        let mut budget = BUDGET;
        search(levels.as_slice(), low, high, &mut budget)
    }
}

fn search(levels: &[Level], low: i128, high: i128, budget: &mut u32) -> Option<bool> {
    let Some((level, rest)) = levels.split_first() else {
        return Some(low <= 0 && 0 <= high);
    };
    *budget = budget.checked_sub(1)?;
    let (low, high) = (low.max(0), high.min(level.reach));
    if low > high {
        return Some(false);
    }
    let divisor = i128::from(level.divisor);
    let first_multiple = (low + divisor - 1) / divisor * divisor;
    if first_multiple > high {
        return Some(false);
    }
    // Every multiple of a single coefficient is a sum; so are nothing and everything.
    if rest.is_empty() || low == 0 || high == level.reach {
        return Some(true);
    }
    let coefficient = i128::from(level.term.coefficient);
    let rest_reach = rest.first().map_or(0, |next| next.reach);
    let fewest = ((low - rest_reach).max(0) + coefficient - 1) / coefficient;
    let most = (high / coefficient).min(i128::from(level.term.most));
    let mut times = most;
    while times >= fewest {
        let taken = times * coefficient;
        if search(rest, low - taken, high - taken, budget)? {
            return Some(true);
        }
        times -= 1;
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::Terms;

    fn sum_between(terms: &[(u64, u64)], low: i128, high: i128) -> Option<bool> {
        let mut list = Terms::new();
        for &(coefficient, most) in terms {
            list.push(coefficient, most);
        }
        list.sum_between(low, high)
    }

    #[test]
    fn every_sum_of_small_terms_is_found_and_no_other() {
        let terms = [(7, 2), (4, 3), (4, 1), (0, 9)];
        let mut sums = std::collections::BTreeSet::new();
        for sevens in 0..=2 {
            for fours in 0..=4 {
                sums.insert(7 * sevens + 4 * fours);
            }
        }
        for low in -3_i128..40 {
            for high in low..40 {
                let expected = sums.range(low..=high).next().is_some();
                assert_eq!(sum_between(&terms, low, high), Some(expected), "{low}..={high}");
            }
        }
    }

    #[test]
    fn divisors_decide_quickly_and_a_hard_question_is_given_up() {
        let even: Vec<_> = (0..40).map(|bit| ((1_u64 << 41) + (2 << bit), 1)).collect();
        assert_eq!(sum_between(&even, (1 << 45) + 1, (1 << 45) + 1), Some(false));
        let odd: Vec<_> = (0..40).map(|bit| ((1_u64 << 41) + 3_u64.pow(bit % 25), 1)).collect();
        assert_eq!(sum_between(&odd, (20 << 41) + 5, (20 << 41) + 5), None);
    }
}
