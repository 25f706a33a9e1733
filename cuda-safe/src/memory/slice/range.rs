//! Ranges of elements, checked.

use core::ops::{Bound, RangeBounds};

use crate::error::{Error, Quantity, Result, Rule};

/// Returns where a range of `len` elements begins, and how many it has.
pub(super) fn bounds(
    call: &'static str,
    range: impl RangeBounds<usize>,
    len: usize,
) -> Result<(usize, usize)> {
    let start = match range.start_bound() {
        Bound::Included(start) => Some(*start),
        Bound::Excluded(before) => before.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => Ok((start, end - start)),
        (start, end) => {
            let need =
                start.zip(end).map_or(Quantity::Overflow, |(start, end)| start.max(end).into());
            Err(Error::refused(call, "range", Rule::Reach, need, len.into()))
        }
    }
}

/// Returns how many of `len` elements are behind the first `at`.
pub(super) fn middle(call: &'static str, at: usize, len: usize) -> Result<usize> {
    len.checked_sub(at)
        .ok_or_else(|| Error::refused(call, "middle", Rule::Reach, at.into(), len.into()))
}
