//! Whether two layouts over the same memory share a byte.

use super::StridedLayout;
use super::search::Terms;

/// Says whether two layouts over the same memory share a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// No byte belongs to both.
    Disjoint,
    /// A byte belongs to both.
    Overlapping,
    /// Neither was found within a bounded search; only if a volume is above 65,536.
    NotProved,
}

impl StridedLayout {
    /// Says whether this layout and another one over the same memory share a byte.
    ///
    /// Both offsets count from the same address. Interleaved layouts are told apart:
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    /// use cuda_safe::layout::{Overlap, s};
    ///
    /// let image = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    /// let (red, blue) = (image.slice(&s![.., .., 0])?, image.slice(&s![.., .., 2])?);
    /// assert_eq!(red.overlap(&blue), Overlap::Disjoint);
    /// assert_eq!(red.overlap(&image), Overlap::Overlapping);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn overlap(&self, other: &Self) -> Overlap {
        let (Some((first, last)), Some((other_first, other_last))) =
            (self.byte_bounds(), other.byte_bounds())
        else {
            return Overlap::Disjoint;
        };
        if last < other_first || other_last < first {
            return Overlap::Disjoint;
        }
        // Layouts that share a corner need no search: the lowest, the highest, or the first element.
        // Invariant 4: the last byte of each has an offset.
        let (rest, other_rest) = (self.item_size() - 1, other.item_size() - 1);
        let corners = [
            (first, other_first),
            (last - rest, other_last - other_rest),
            (self.offset, other.offset),
        ];
        if corners.iter().any(|&(here, there)| here <= there + other_rest && there <= here + rest) {
            return Overlap::Overlapping;
        }
        // From either side, so that the answer is the same for both.
        match self.shares_a_byte_with(other).or_else(|| other.shares_a_byte_with(self)) {
            Some(true) => Overlap::Overlapping,
            Some(false) => Overlap::Disjoint,
            None => self.overlap_by_looking(other),
        }
    }

    /// Asks whether one element starts less than an item before or after one of the other layout.
    fn shares_a_byte_with(&self, other: &Self) -> Option<bool> {
        let (lowest, _) = self.offset_bounds()?;
        let (_, other_highest) = other.offset_bounds()?;
        // From the lowest element upwards here, from the highest downwards there, every axis adds.
        let mut terms = Terms::new();
        for axis in self.counting_axes().chain(other.counting_axes()) {
            // An axis that counts is longer than 1.
            terms.push(axis.stride.unsigned_abs(), axis.extent.unsigned_abs() - 1);
        }
        let distance = i128::from(other_highest) - i128::from(lowest);
        terms.sum_between(
            distance - (i128::from(self.item_size()) - 1),
            distance + (i128::from(other.item_size()) - 1),
        )
    }

    fn overlap_by_looking(&self, other: &Self) -> Overlap {
        let (Some(here), Some(there)) = (self.sorted_offsets(), other.sorted_offsets()) else {
            return Overlap::NotProved;
        };
        let (mut here, mut there) = (here.iter().peekable(), there.iter().peekable());
        while let (Some(&&left), Some(&&right)) = (here.peek(), there.peek()) {
            // Invariant 4: the last byte of an element has an offset.
            if left + (self.item_size() - 1) < right {
                here.next();
            } else if right + (other.item_size() - 1) < left {
                there.next();
            } else {
                return Overlap::Overlapping;
            }
        }
        Overlap::Disjoint
    }
}
