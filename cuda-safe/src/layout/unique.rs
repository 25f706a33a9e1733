//! Whether two indices of one layout share a byte.

use super::search::{Term, Terms};
use super::{Offsets, StridedLayout};

/// Up to this volume questions that the search gives up are answered by looking at every element.
pub(super) const SMALL_VOLUME: i64 = 1 << 16;

/// Says whether the elements of a layout are apart from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uniqueness {
    /// No two elements share a byte.
    Unique,
    /// Two elements share a byte.
    Shared,
    /// Neither was found within a bounded search; only for volumes above 65,536.
    NotProved,
}

impl StridedLayout {
    /// Says whether it is proved that no two elements share a byte, as a destination must be.
    ///
    /// It is exact for layouts of up to 65,536 elements and whenever each axis steps over all that
    /// is inside it; for others a `false` may mean that nothing was found out, which
    /// [`uniqueness`](Self::uniqueness) tells apart.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// // Rows of two elements, interleaved: 0 2 4 and 3 5 7.
    /// assert!(StridedLayout::from_byte_strides(&[2, 3], &[3, 2], 1)?.is_unique());
    /// // Elements of two bytes that start at each byte.
    /// assert!(!StridedLayout::from_byte_strides(&[4], &[1], 2)?.is_unique());
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.uniqueness() == Uniqueness::Unique
    }

    /// Says whether two elements share a byte, or whether that isn't proved.
    #[must_use]
    pub fn uniqueness(&self) -> Uniqueness {
        if self.is_nested() {
            return Uniqueness::Unique;
        }
        let mut terms = Terms::new();
        for axis in self.counting_axes() {
            if axis.stride == 0 {
                return Uniqueness::Shared;
            }
            // An axis that counts is longer than 1.
            terms.push(axis.stride.unsigned_abs(), axis.extent.unsigned_abs() - 1);
        }
        let mut answer = Some(false);
        let mut terms = terms.sorted();
        while let Some((leading, rest)) = terms.split_first() {
            match self.shares_a_byte(*leading, rest) {
                Some(true) => return Uniqueness::Shared,
                Some(false) => {}
                None => answer = None,
            }
            terms = rest;
        }
        match answer {
            Some(_) => Uniqueness::Unique,
            None => self.uniqueness_by_looking(),
        }
    }

    /// Says whether every axis steps over all that the axes after it span, the usual case.
    fn is_nested(&self) -> bool {
        let mut span = self.item_size().unsigned_abs();
        let mut nested = true;
        for axis in self.axes.iter().rev() {
            nested &= axis.stride.unsigned_abs() >= span || !axis.counts();
            // Invariant 4: what is spanned lies between two offsets, or the layout is empty.
            span = span.wrapping_add(axis.reach().unsigned_abs());
        }
        nested || self.is_empty()
    }

    /// Says whether two elements share a byte whose indices differ first on the leading axis.
    fn shares_a_byte(&self, leading: Term, rest: &[Term]) -> Option<bool> {
        let slack = i128::from(self.item_size()) - 1;
        let first_step = i128::from(leading.coefficient);
        // Each axis inside may differ in either direction: twice its reach around a middle.
        let inside: i128 =
            rest.iter().map(|term| i128::from(term.coefficient) * i128::from(term.most)).sum();
        if first_step > inside + slack {
            return Some(false);
        }
        let mut differences = Terms::new();
        differences.push(leading.coefficient, leading.most - 1);
        for term in rest {
            // Invariant 2: an extent is below 2^63.
            differences.push(term.coefficient, 2 * term.most);
        }
        let middle = inside - first_step;
        differences.sum_between(middle - slack, middle + slack)
    }

    fn uniqueness_by_looking(&self) -> Uniqueness {
        match self.sorted_offsets() {
            None => Uniqueness::NotProved,
            Some(offsets) => {
                let apart = |pair: &[i64]| match pair {
                    // Invariant 4: the last byte of an element has an offset.
                    [left, right] => left + (self.item_size() - 1) < *right,
                    _ => true,
                };
                if offsets.windows(2).all(apart) { Uniqueness::Unique } else { Uniqueness::Shared }
            }
        }
    }

    /// Returns all offsets in ascending order if the volume is small.
    pub(super) fn sorted_offsets(&self) -> Option<Vec<i64>> {
        self.volume().ok().filter(|&volume| volume <= SMALL_VOLUME)?;
        let mut offsets: Vec<i64> = Offsets::of(self).collect();
        offsets.sort_unstable();
        Some(offsets)
    }
}
