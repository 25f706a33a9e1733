//! Takes parts of a layout: slices, reversed axes, two sides of a split, chunks.

use super::{
    Axis, AxisList, Index, LayoutError, LayoutRule, Slice, StridedLayout, check_ndim, resolve_axis,
};

impl StridedLayout {
    /// Returns the part that a list of indices selects; see [`s!`](crate::s) for writing one.
    ///
    /// Axes after the last index are kept whole. A range without elements doesn't move the offset.
    ///
    /// # Errors
    ///
    /// Refuses more indices than axes, an index outside its axis, a step of 0, a second ellipsis,
    /// and more than 64 axes in the result.
    pub fn slice(&self, indices: &[Index]) -> Result<Self, LayoutError> {
        let operation = "slice";
        let full_axes = self.axes_left_to_ellipsis(operation, indices)?;
        let (ndim, mut left) = (self.ndim(), self.axes.iter());
        let mut axes = AxisList::new();
        // Invariant 4: both ends of a distance are offsets of elements; without elements there is
        // nowhere to go.
        let (mut offset, empty) = (self.offset, self.is_empty());
        for (position, index) in indices.iter().enumerate() {
            match *index {
                Index::NewAxis => {
                    check_ndim(operation, axes.len() + 1)?;
                    axes.push(Axis { extent: 1, stride: self.item_size() });
                }
                Index::Ellipsis => {
                    axes.extend(left.by_ref().take(full_axes));
                }
                Index::At(at) => {
                    let number = ndim - left.len();
                    if let Some(axis) = left.next() {
                        let distance = axis.distance(operation, number, at)?;
                        offset += if empty { 0 } else { distance };
                    }
                }
                Index::Slice(slice) => {
                    if slice.step == 0 {
                        return Err(LayoutRule::ZeroStep { position }.refused_by(operation));
                    }
                    if let Some(axis) = left.next() {
                        let (distance, part) = axis.part(slice);
                        offset += if empty { 0 } else { distance };
                        axes.push(part);
                    }
                }
            }
        }
        axes.extend(left);
        proved!(operation, axes, offset, self.item_size())
    }

    /// Returns the layout with the elements of an axis in reverse order.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist.
    pub fn flip(&self, axis: i64) -> Result<Self, LayoutError> {
        let operation = "flip";
        let position = resolve_axis(operation, "axis", axis, self.ndim())?;
        self.with_slice(operation, position, Slice::FULL.with_step(-1))
    }

    /// Returns the parts before and from an element of an axis; they share no index.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, and an element outside `0..=extent`.
    pub fn split_at(&self, axis: i64, element: i64) -> Result<(Self, Self), LayoutError> {
        let operation = "split_at";
        let position = resolve_axis(operation, "axis", axis, self.ndim())?;
        let axis = self.axes.get(position);
        if !(0..=axis.extent).contains(&element) {
            let (need, have) = (axis.extent, element);
            let rule = LayoutRule::SplitOutOfRange { axis: position, need, have };
            return Err(rule.refused_by(operation));
        }
        let (mut before, mut after) = (self.axes.clone(), self.axes.clone());
        before.set(position, Axis { extent: element, ..axis });
        after.set(position, Axis { extent: axis.extent - element, ..axis });
        // Invariant 4: the product fits, unless there are no elements and it is never used.
        let distance = if element < axis.extent { element.wrapping_mul(axis.stride) } else { 0 };
        let offset = self.moved(self.offset, distance);
        Ok((
            proved!(operation, before, self.offset, self.item_size())?,
            proved!(operation, after, offset, self.item_size())?,
        ))
    }

    /// Returns the consecutive parts of `size` elements of an axis; the last may be shorter.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, and a size below 1.
    pub fn chunks(&self, axis: i64, size: i64) -> Result<Chunks<'_>, LayoutError> {
        let operation = "chunks";
        let position = resolve_axis(operation, "axis", axis, self.ndim())?;
        if size < 1 {
            let rule = LayoutRule::NotPositive { operand: "size", axis: position, have: size };
            return Err(rule.refused_by(operation));
        }
        Ok(Chunks { layout: self, position, size, next: 0 })
    }

    /// Counts the axes that an ellipsis stands for.
    fn axes_left_to_ellipsis(
        &self,
        operation: &'static str,
        indices: &[Index],
    ) -> Result<usize, LayoutError> {
        let (mut taken, mut ellipses) = (0_usize, 0_usize);
        for (position, index) in indices.iter().enumerate() {
            match index {
                Index::At(_) | Index::Slice(_) => taken += 1,
                Index::NewAxis => {}
                Index::Ellipsis if ellipses == 0 => ellipses = 1,
                Index::Ellipsis => {
                    return Err(LayoutRule::SeveralEllipses { position }.refused_by(operation));
                }
            }
        }
        self.ndim().checked_sub(taken).ok_or_else(|| {
            LayoutRule::TooManyIndices { need: self.ndim(), have: taken }.refused_by(operation)
        })
    }

    /// Moves an offset from one element to another; in an empty layout there is nowhere to go.
    fn moved(&self, offset: i64, distance: i64) -> i64 {
        // Invariant 4: both ends are offsets of elements.
        if self.is_empty() { offset } else { offset + distance }
    }

    #[inline]
    fn with_slice(
        &self,
        operation: &'static str,
        position: usize,
        slice: Slice,
    ) -> Result<Self, LayoutError> {
        let (distance, part) = self.axes.get(position).part(slice);
        let mut axes = self.axes.clone();
        axes.set(position, part);
        proved!(operation, axes, self.moved(self.offset, distance), self.item_size())
    }
}

impl Axis {
    /// Returns the distance to the first element of a slice whose step isn't zero, and its axis.
    #[inline]
    fn part(self, slice: Slice) -> (i64, Self) {
        if slice.step == 1 {
            let (first, extent) = slice.run(self.extent);
            // Invariant 4: as below.
            return (first.wrapping_mul(self.stride), Self { extent, ..self });
        }
        let (first, extent) = slice.elements(self.extent);
        // Invariant 4: the product fits, unless the layout is empty and it is never used.
        let distance = first.wrapping_mul(self.stride);
        // A stride that counts lies between two elements; one that overflows doesn't count.
        let stride = self.stride.checked_mul(slice.step).unwrap_or(self.stride);
        (distance, Self { extent, stride: if extent > 1 { stride } else { self.stride } })
    }
}

/// Iterates over consecutive parts of an axis; made by [`StridedLayout::chunks`].
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    layout: &'a StridedLayout,
    position: usize,
    size: i64,
    next: i64,
}

impl Iterator for Chunks<'_> {
    type Item = StridedLayout;

    fn next(&mut self) -> Option<StridedLayout> {
        let start = self.next;
        if start >= self.layout.axes.get(self.position).extent {
            return None;
        }
        self.next = start.saturating_add(self.size);
        // A part of a proved layout is proved again without a refusal.
        self.layout.with_slice("chunks", self.position, (start..self.next).into()).ok()
    }
}
