//! Takes parts of a layout: slices, reversed axes, two sides of a split, chunks.

use super::arithmetic::multiply;
use super::{
    Axis, Builder, Index, Items, LayoutError, LayoutRule, Slice, StridedLayout, check_ndim, make,
    make_plain, make_sound, make_two, resolve_axis,
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
    /// more than 64 axes in the result, and a stride that doesn't fit 64 bits.
    pub fn slice(&self, indices: &[Index]) -> Result<Self, LayoutError> {
        make_plain(
            self.item_size,
            |axes| self.take_plain(indices, axes),
            || self.slice_any(indices),
        )
    }

    /// Takes the axes of the usual list: of [plain parts](Axis::plain_part) and of elements counted
    /// from the start, on axes that are few.
    #[inline(always)]
    fn take_plain(&self, indices: &[Index], axes: &mut Builder<'_>) -> Option<i64> {
        let (shape, strides) = self.axes.places().ok()?;
        if indices.len() > self.axes.len() {
            return None;
        }
        let (mut left, mut distance) = (shape.iter().zip(strides), 0_i64);
        for (index, (&extent, &stride)) in indices.iter().zip(&mut left) {
            // Invariant 4: the products fit, unless the layout is empty and they are never used.
            let axis = Axis { extent, stride };
            if let Index::Slice(slice) = *index {
                let (first, part) = axis.plain_part(slice)?;
                distance = distance.wrapping_add(first.wrapping_mul(stride));
                axes.push(part);
            } else if let Index::At(at) = *index
                && at.cast_unsigned() < extent.cast_unsigned()
            {
                distance = distance.wrapping_add(at.wrapping_mul(stride));
            } else {
                return None;
            }
        }
        for (&extent, &stride) in left.take(self.axes.len() - indices.len()) {
            if extent == 0 {
                return None;
            }
            axes.push(Axis { extent, stride });
        }
        // The part has elements, so both ends are offsets of some.
        Some(self.offset.wrapping_add(distance))
    }

    /// Takes a part by any list of indices.
    #[inline(never)]
    fn slice_any(&self, indices: &[Index]) -> Result<Self, LayoutError> {
        make(SLICE, |axes| {
            self.take(indices, axes).map_err(|refusal| {
                // What is wrong with the list as a whole is said before what is wrong with one index.
                self.axes_left_to_ellipsis(indices).err().unwrap_or(refusal)
            })
        })
    }

    /// Takes the axes that a list of indices selects, and says where the elements are.
    fn take(&self, indices: &[Index], axes: &mut Builder<'_>) -> Result<Items, LayoutError> {
        let (mut left, mut distance) = (self.axes.iter().enumerate(), 0_i64);
        for index in indices {
            let part = match *index {
                Index::Slice(slice) => {
                    let (_, axis) = left.next().ok_or_else(|| self.too_many(indices))?;
                    if slice.step == 0 {
                        return Err(zero_step(indices));
                    }
                    let (start, part) = self.part(SLICE, axis, slice)?;
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
        Ok(Items { offset: self.moved(distance), size: self.item_size() })
    }

    /// Returns the layout with the elements of an axis in reverse order.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, and one that reversed doesn't fit 64 bits.
    pub fn flip(&self, axis: i64) -> Result<Self, LayoutError> {
        let operation = "flip";
        let position = resolve_axis(operation, "axis", axis, self.ndim())?;
        let (axis, reversed) = (self.axes.get(position), Slice::FULL.with_step(-1));
        make_plain(
            self.item_size,
            |axes| {
                let (first, part) = axis.plain_part(reversed)?;
                axes.take_each(&self.axes, at(position, part));
                // Invariant 4: the product fits, unless the layout is empty and it is never used.
                Some(self.moved(first.wrapping_mul(axis.stride)))
            },
            || self.with_slice(operation, position, reversed),
        )
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
        make_two(operation, (self.item_size, self.item_size), |before, after| {
            // The strides stay.
            let of = |extent: i64| {
                move |number, axis: Axis| Axis {
                    extent: if number == position { extent } else { axis.extent },
                    ..axis
                }
            };
            before.take_each(&self.axes, of(element));
            after.take_each(&self.axes, of(axis.extent - element));
            // Invariant 4: the product fits, unless there are no elements and it is never used.
            let distance =
                if element < axis.extent { element.wrapping_mul(axis.stride) } else { 0 };
            Ok((self.offset, self.moved(distance)))
        })
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

    /// Returns the offset of a part whose first element is at a distance from this layout's first.
    /// In an empty layout there is nowhere to go.
    #[inline(always)]
    pub(super) fn moved(&self, distance: i64) -> i64 {
        // Invariant 4: both ends are offsets of elements.
        if self.is_empty() { self.offset } else { self.offset.wrapping_add(distance) }
    }

    /// Returns the distance to the first element of a slice of an axis, and its axis. The step isn't
    /// zero.
    #[inline]
    fn part(
        &self,
        operation: &'static str,
        axis: Axis,
        slice: Slice,
    ) -> Result<(i64, Axis), LayoutError> {
        let (first, extent) = slice.elements(axis.extent);
        // Invariant 4: the product fits, unless the layout is empty and it is never used.
        let distance = first.wrapping_mul(axis.stride);
        let stride = match multiply(operation, "byte stride", axis.stride, slice.step) {
            Err(_) if extent < 2 || self.is_empty() => axis.stride,
            other => other?,
        };
        Ok((distance, Axis { extent, stride: if extent > 1 { stride } else { axis.stride } }))
    }

    #[inline(always)]
    fn with_slice(
        &self,
        operation: &'static str,
        position: usize,
        slice: Slice,
    ) -> Result<Self, LayoutError> {
        let (distance, part) = self.part(operation, self.axes.get(position), slice)?;
        make_sound(operation, self.item_size, |axes| {
            axes.take_each(&self.axes, at(position, part));
            axes.doubt(part);
            Ok(self.moved(distance))
        })
    }
}

/// Puts an axis at a position and keeps all others.
#[inline(always)]
fn at(position: usize, axis: Axis) -> impl Fn(usize, Axis) -> Axis {
    move |number, kept| if number == position { axis } else { kept }
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
    /// Returns the first element of a slice and its axis, if the slice has elements, its ends are
    /// plain, and it runs forwards or takes the whole axis backwards: most slices do.
    #[inline(always)]
    fn plain_part(self, slice: Slice) -> Option<(i64, Self)> {
        if slice.step == 1 {
            let (start, stop) = slice.plain_ends(self.extent)?;
            return Some((start, Self { extent: stop - start, ..self }));
        }
        let stride = self.stride.checked_mul(slice.step)?;
        if slice.step > 0 {
            let (start, stop) = slice.plain_ends(self.extent)?;
            return Some((start, Self { extent: (stop - start - 1) / slice.step + 1, stride }));
        }
        let is_whole = slice.step == -1 && slice.start.is_none() && slice.stop.is_none();
        let reversed = Self { stride, ..self };
        (is_whole && self.extent > 0 && reversed.spans()).then_some((self.extent - 1, reversed))
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
