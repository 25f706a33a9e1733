//! Takes parts of a layout: slices, reversed axes, two sides of a split, chunks.

use super::{
    Axis, Builder, Index, LayoutError, LayoutRule, Slice, StridedLayout, check_ndim, resolve_axis,
};

const SLICE: &str = "slice";

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
        let mut axes = builder!();
        match self.take(indices, &mut axes) {
            Ok(offset) => axes.finish(SLICE, offset, self.item_size()),
            // What is wrong with the list as a whole is said before what is wrong with one index.
            Err(refusal) => Err(self.axes_left_to_ellipsis(indices).err().unwrap_or(refusal)),
        }
    }

    /// Takes the axes that a list of indices selects, and returns the offset of the first element.
    #[inline(always)]
    fn take(&self, indices: &[Index], axes: &mut Builder<'_>) -> Result<i64, LayoutError> {
        let (mut left, mut distance) = (self.axes.iter().enumerate(), 0_i64);
        for index in indices {
            let part = match *index {
                Index::Slice(slice) => {
                    let (_, axis) = left.next().ok_or_else(|| self.too_many(indices))?;
                    if slice.step == 0 {
                        return Err(zero_step(indices));
                    }
                    let (start, part) = axis.part(slice);
                    distance = distance.wrapping_add(start);
                    part
                }
                Index::At(at) => {
                    let (number, axis) = left.next().ok_or_else(|| self.too_many(indices))?;
                    distance = distance.wrapping_add(axis.distance(SLICE, number, at)?);
                    continue;
                }
                Index::NewAxis => {
                    check_ndim(SLICE, axes.len() + 1)?;
                    Axis { extent: 1, stride: self.item_size() }
                }
                Index::Ellipsis => {
                    let full_axes = self.axes_left_to_ellipsis(indices)?;
                    axes.extend(left.by_ref().take(full_axes).map(|(_, axis)| axis));
                    continue;
                }
            };
            axes.push(part);
        }
        axes.extend(left.map(|(_, axis)| axis));
        Ok(self.moved(distance, axes))
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
        let (mut before, mut after) = (builder!(), builder!());
        before.take_all_but(&self.axes, position, Axis { extent: element, ..axis });
        let rest = Axis { extent: axis.extent - element, ..axis };
        after.take_all_but(&self.axes, position, rest);
        // Invariant 4: the product fits, unless there are no elements and it is never used.
        let distance = if element < axis.extent { element.wrapping_mul(axis.stride) } else { 0 };
        let offset = self.moved(distance, &after);
        Builder::finish_two(
            operation,
            (&mut before, self.offset, self.item_size()),
            (&mut after, offset, self.item_size()),
        )
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
    #[cold]
    fn axes_left_to_ellipsis(&self, indices: &[Index]) -> Result<usize, LayoutError> {
        let mut ellipses =
            indices.iter().enumerate().filter(|(_, index)| **index == Index::Ellipsis);
        if let Some((position, _)) = ellipses.nth(1) {
            return Err(LayoutRule::SeveralEllipses { position }.refused_by(SLICE));
        }
        self.ndim().checked_sub(taken(indices)).ok_or_else(|| self.too_many(indices))
    }

    #[cold]
    fn too_many(&self, indices: &[Index]) -> LayoutError {
        LayoutRule::TooManyIndices { need: self.ndim(), have: taken(indices) }.refused_by(SLICE)
    }

    /// Returns the offset of a part, made of the axes, whose first element is at a distance from
    /// this layout's first. In an empty layout there is nowhere to go.
    #[inline(always)]
    pub(super) fn moved(&self, distance: i64, part: &Builder<'_>) -> i64 {
        // A part that has elements is of a layout that has some.
        let empty = !part.is_small() && self.is_empty();
        // Invariant 4: both ends are offsets of elements.
        if empty { self.offset } else { self.offset.wrapping_add(distance) }
    }

    #[inline(always)]
    fn with_slice(
        &self,
        operation: &'static str,
        position: usize,
        slice: Slice,
    ) -> Result<Self, LayoutError> {
        let (distance, part) = self.axes.get(position).part(slice);
        let mut axes = builder!();
        axes.take_all_but(&self.axes, position, part);
        let offset = self.moved(distance, &axes);
        axes.finish(operation, offset, self.item_size())
    }
}

/// Refuses the first index whose step is 0.
#[cold]
fn zero_step(indices: &[Index]) -> LayoutError {
    let is_zero = |index: &Index| matches!(index, Index::Slice(Slice { step: 0, .. }));
    let position = indices.iter().position(is_zero).unwrap_or(0);
    LayoutRule::ZeroStep { position }.refused_by(SLICE)
}

/// Counts the indices that take an axis.
fn taken(indices: &[Index]) -> usize {
    indices.iter().filter(|index| matches!(index, Index::At(_) | Index::Slice(_))).count()
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
