//! Goes through the byte offsets of all elements.

use std::iter::FusedIterator;

use super::{PerAxis, StridedLayout};

impl StridedLayout {
    /// Returns the byte offsets of all elements in index order, last axis fastest.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let columns = StridedLayout::from_byte_strides(&[2, 3], &[4, 8], 4)?;
    /// assert!(columns.offsets().eq([0, 8, 16, 4, 12, 20]));
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn offsets(&self) -> Offsets<'_> {
        Offsets::of(self)
    }
}

/// Iterates over the byte offsets of a layout's elements; made by [`StridedLayout::offsets`].
#[derive(Debug, Clone)]
pub struct Offsets<'a> {
    layout: &'a StridedLayout,
    index: PerAxis,
    next: Option<i64>,
}

impl<'a> Offsets<'a> {
    pub(super) fn of(layout: &'a StridedLayout) -> Self {
        let next = (!layout.is_empty()).then_some(layout.offset);
        Self { layout, index: PerAxis::filled(0, layout.ndim()), next }
    }

    /// Steps to the next index, as an odometer does; `None` after the last one.
    fn step(&mut self, mut offset: i64) -> Option<i64> {
        for (at, axis) in self.index.as_mut_slice().iter_mut().zip(self.layout.axes.iter()).rev() {
            *at += 1;
            if *at < axis.extent {
                // Invariant 4: both ends are offsets of elements.
                return Some(offset + axis.stride);
            }
            *at = 0;
            offset -= axis.reach();
        }
        None
    }
}

impl Iterator for Offsets<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let offset = self.next?;
        self.next = self.step(offset);
        Some(offset)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.next.is_none() {
            return (0, Some(0));
        }
        // The index is a number whose digits have the extents as bases: the elements passed so far.
        let digits = self.index.iter().zip(self.layout.axes.iter());
        let passed = digits.fold(0_i64, |passed, (&at, axis)| {
            passed.saturating_mul(axis.extent).saturating_add(at)
        });
        let volume = self.layout.volume().ok();
        match volume.and_then(|volume| usize::try_from(volume - passed).ok()) {
            Some(left) => (left, Some(left)),
            None => (usize::MAX, None),
        }
    }
}

impl FusedIterator for Offsets<'_> {}
