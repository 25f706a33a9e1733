//! What a slice is written with: integers, ranges with steps, new axes, an ellipsis.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::{Axis, LayoutError, LayoutRule};

/// Is one entry of a list of indices for [`StridedLayout::slice`](super::StridedLayout::slice).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// Takes one element of an axis and drops the axis; negative numbers count from the end.
    At(i64),
    /// Takes evenly spaced elements of an axis.
    Slice(Slice),
    /// Inserts an axis of extent 1.
    NewAxis,
    /// Stands for as many full axes as are not indexed otherwise.
    Ellipsis,
}

/// Is a row of evenly spaced elements of an axis, by the rules of Python's slices.
///
/// Negative ends count from the end of the axis; ends outside the axis are moved to its ends; with
/// a negative step the elements run backwards, from `start` down to, but without, `stop`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// First element, or `None` for the end of the axis at which the step sets out.
    pub start: Option<i64>,
    /// The element before which the slice ends, or `None` for all that follow.
    pub stop: Option<i64>,
    /// Distance between elements, not zero.
    pub step: i64,
}

impl Slice {
    /// All elements of an axis.
    pub const FULL: Self = Self { start: None, stop: None, step: 1 };

    /// Returns the slice with another step.
    #[must_use]
    pub const fn with_step(self, step: i64) -> Self {
        Self { step, ..self }
    }

    /// Returns both ends if they lie on an axis of this extent, are counted from its start, and
    /// have elements between them.
    #[inline(always)]
    pub(super) fn plain_ends(self, extent: i64) -> Option<(i64, i64)> {
        let (start, stop) = (self.start.unwrap_or(0), self.stop.unwrap_or(extent));
        // Without a sign, what is negative lies beyond every extent.
        let (first, end) = (start.cast_unsigned(), stop.cast_unsigned());
        (first < end && end <= extent.cast_unsigned()).then_some((start, stop))
    }

    /// Returns the first element and the number of elements on an axis of this extent.
    ///
    /// The step must not be zero; without elements the first one is 0.
    #[inline]
    pub(super) fn elements(self, extent: i64) -> (i64, i64) {
        // Backwards, the ends are moved by one, so that "before the first element" has a number.
        let (lowest, highest) = if self.step > 0 { (0, extent) } else { (-1, extent - 1) };
        let (first, last) = if self.step > 0 { (lowest, highest) } else { (highest, lowest) };
        let within = |end: i64| {
            let from_start = if end < 0 { end + extent } else { end };
            from_start.max(lowest).min(highest)
        };
        let start = self.start.map_or(first, within);
        let stop = self.stop.map_or(last, within);
        let span = if self.step > 0 { stop - start } else { start - stop };
        if span <= 0 {
            return (0, 0);
        }
        if self.step == -1 {
            return (start, span);
        }
        let whole_steps = span.unsigned_abs().div_ceil(self.step.unsigned_abs());
        (start, i64::try_from(whole_steps).unwrap_or(span))
    }
}

impl Axis {
    /// Resolves an index that may be negative to its distance in bytes from element 0.
    #[inline]
    pub(super) fn distance(
        self,
        operation: &'static str,
        axis: usize,
        index: i64,
    ) -> Result<i64, LayoutError> {
        let extent = self.extent;
        let from_start = if index < 0 { index + extent } else { index };
        if (0..extent).contains(&from_start) {
            // Invariant 4: the product fits, unless the layout is empty and it is never used.
            Ok(from_start.wrapping_mul(self.stride))
        } else {
            let rule = LayoutRule::IndexOutOfRange { axis, extent, have: index };
            Err(rule.refused_by(operation))
        }
    }
}

impl From<Slice> for Index {
    fn from(slice: Slice) -> Self {
        Self::Slice(slice)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Self {
        Self::FULL
    }
}

impl From<RangeFull> for Index {
    fn from(range: RangeFull) -> Self {
        Self::Slice(range.into())
    }
}

/// Widens an index; one that doesn't fit lies outside every axis.
trait Widen {
    fn widen(self) -> i64;
}

impl Widen for i64 {
    fn widen(self) -> i64 {
        self
    }
}

impl Widen for i32 {
    fn widen(self) -> i64 {
        self.into()
    }
}

impl Widen for usize {
    fn widen(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

/// The element after an inclusive end; after the last one, counted from the end, all follow.
fn after(end: i64) -> Option<i64> {
    if end == -1 { None } else { Some(end.saturating_add(1)) }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Index {
            fn from(index: $integer) -> Self {
                Self::At(index.widen())
            }
        }

        from_integers!(@range $integer, Range, |range| {
            (Some(range.start), Some(range.end.widen()))
        });
        from_integers!(@range $integer, RangeFrom, |range| (Some(range.start), None));
        from_integers!(@range $integer, RangeTo, |range| (None::<i64>, Some(range.end.widen())));
        from_integers!(@range $integer, RangeToInclusive, |range| {
            (None::<i64>, after(range.end.widen()))
        });
        from_integers!(@range $integer, RangeInclusive, |range| {
            (Some(*range.start()), after(range.end().widen()))
        });
    )*};
    (@range $integer:ty, $range:ident, |$name:ident| $ends:expr) => {
        impl From<$range<$integer>> for Slice {
            fn from($name: $range<$integer>) -> Self {
                let (start, stop) = $ends;
                Self { start: start.map(Widen::widen), stop, step: 1 }
            }
        }

        impl From<$range<$integer>> for Index {
            fn from(range: $range<$integer>) -> Self {
                Self::Slice(range.into())
            }
        }
    };
}

from_integers!(i64, i32, usize);

/// Writes a list of indices for [`StridedLayout::slice`](crate::StridedLayout::slice).
///
/// Entries are integers, ranges with an optional step after a semicolon,
/// [`NewAxis`](crate::layout::NewAxis) and [`Ellipsis`](crate::layout::Ellipsis).
///
/// ```
/// use cuda_safe::layout::{Ellipsis, NewAxis, Order, StridedLayout, s};
///
/// let video = StridedLayout::dense(&[10, 480, 640, 3], 1, Order::C)?;
/// let part = video.slice(&s![-1, 100..200, ..;2, NewAxis, 0])?;
/// assert_eq!(part.shape(), [100, 320, 1]);
/// let mirrored = video.slice(&s![Ellipsis, ..;-1, ..])?;
/// assert_eq!(mirrored.byte_strides(), [480 * 640 * 3, 640 * 3, -3, 1]);
/// # Ok::<(), cuda_safe::layout::LayoutError>(())
/// ```
#[macro_export]
macro_rules! s {
    (@index $index:expr) => {
        $crate::layout::Index::from($index)
    };
    (@index $range:expr ; $step:expr) => {
        $crate::layout::Index::Slice($crate::layout::Slice::from($range).with_step($step))
    };
    ($($index:expr $(; $step:expr)?),* $(,)?) => {
        [$($crate::s!(@index $index $(; $step)?)),*]
    };
}
