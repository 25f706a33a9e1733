//! Normal forms: the fewest axes that reach the same elements, alone or beside another layout.

use super::arithmetic::{add, multiply};
use super::order::Positions;
use super::{
    Axis, Builder, LayoutError, LayoutRule, StridedLayout, make_plain, make_sound, make_two,
};

impl StridedLayout {
    /// Returns the layout of the same elements, in another index order, with the fewest axes.
    ///
    /// Axes of extent 1 are gone, strides are positive or zero and descend, evenly spaced
    /// neighbours are merged; a dense layout has one axis at most. An empty layout has one axis of
    /// extent 0.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let image = StridedLayout::from_byte_strides(&[3, 576, 768], &[-1, 2560, 3], 1)?;
    /// let rows = image.with_byte_offset(2)?.coalesce()?;
    /// assert_eq!(rows.to_string(), "(576, 2304):(2560, 1) of 1-byte items");
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses a stride of -2^63 bytes, which has no positive counterpart.
    pub fn coalesce(&self) -> Result<Self, LayoutError> {
        make_plain(
            self.item_size,
            |axes| {
                let last = self.merge_plain(axes)?;
                if last.counts() {
                    axes.push_new(last);
                }
                Some(self.offset)
            },
            || self.coalesce_any(),
        )
    }

    /// Merges axes as they stand, if they are few, stand slowest first, and none is empty or
    /// reversed. All are pushed but the last, which is returned.
    #[inline(always)]
    pub(super) fn merge_plain(&self, axes: &mut Builder<'_>) -> Option<Axis> {
        let (shape, strides) = self.axes.places().ok()?;
        let (mut last, mut slower) = (Axis::UNIT, i64::MAX);
        for (&extent, &stride) in shape.iter().zip(strides).take(self.axes.len()) {
            if extent == 0 || stride < 0 || stride > slower {
                return None;
            }
            slower = stride;
            let axis = Axis { extent, stride };
            last = last.around(axis).unwrap_or_else(|| {
                axes.push_new(last);
                axis
            });
        }
        Some(last)
    }

    /// Coalesces axes that stand anyhow.
    #[inline(never)]
    fn coalesce_any(&self) -> Result<Self, LayoutError> {
        let operation = "coalesce";
        if self.is_empty() {
            return self.without_elements(operation);
        }
        let order = (!self.is_slowest_first()).then(|| self.slowest_first());
        let order = order.as_ref().map(Positions::as_slice);
        make_sound(operation, self.item_size, |axes| {
            let (mut offset, mut last) = (self.offset, Axis::UNIT);
            for place in 0..self.ndim() {
                let position = order.and_then(|order| order.get(place)).copied().unwrap_or(place);
                let mut axis = self.axes.get(position);
                if axis.stride < 0 && axis.counts() {
                    offset = axis.flip(operation, offset)?;
                }
                last = last.around(axis).unwrap_or_else(|| {
                    axes.push_new(last);
                    axis
                });
            }
            if last.counts() {
                axes.push_new(last);
            }
            Ok(offset)
        })
    }

    /// Returns the normal form of a layout without elements.
    fn without_elements(&self, operation: &'static str) -> Result<Self, LayoutError> {
        make_sound(operation, self.item_size, |axes| {
            axes.push(Axis { extent: 0, stride: self.item_size() });
            Ok(self.offset)
        })
    }

    /// Returns this layout and another of the same shape with axes reordered, flipped and merged
    /// alike.
    ///
    /// Elements with one index before have one index after, so that copying between the results
    /// copies the same elements to the same places. The order is that of this layout's strides,
    /// which become positive; axes are merged where both layouts allow it. Give the destination
    /// first.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let padded = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    /// let (dense, padded) = padded.to_dense(Order::C)?.coalesce_with(&padded)?;
    /// assert_eq!(dense.shape(), [576, 2304]);
    /// assert_eq!(padded.byte_strides(), [2560, 1]);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses layouts of different shapes, and a stride of -2^63 bytes.
    pub fn coalesce_with(&self, other: &Self) -> Result<(Self, Self), LayoutError> {
        let operation = "coalesce";
        self.check_same_shape(operation, other)?;
        if self.is_empty() {
            let (this, other) =
                (self.without_elements(operation)?, other.without_elements(operation)?);
            return Ok((this, other));
        }
        make_two(operation, (self.item_size, other.item_size), |axes, other_axes| {
            let mut pair = Pair {
                operation,
                offsets: (self.offset, other.offset),
                done: (axes, other_axes),
                last: None,
            };
            for &position in self.order_beside(other).as_slice() {
                pair.push(self.axes.get(position), other.axes.get(position))?;
            }
            pair.close();
            Ok(pair.offsets)
        })
    }

    fn check_same_shape(&self, operation: &'static str, other: &Self) -> Result<(), LayoutError> {
        if self.shape() == other.shape() {
            return Ok(());
        }
        let extent = |layout: &Self, axis: usize| layout.shape().get(axis).copied();
        let mut axis = 0;
        while extent(self, axis) == extent(other, axis) {
            axis += 1;
        }
        let need = extent(self, axis).unwrap_or(0);
        let have = extent(other, axis).unwrap_or(0);
        Err(LayoutRule::ShapesDiffer { axis, need, have }.refused_by(operation))
    }

    /// Orders the axes that count by this layout's strides, then by the other's, longest first.
    fn order_beside(&self, other: &Self) -> Positions {
        let counting = (0..self.ndim()).filter(|&position| self.axes.get(position).counts());
        let mut order = Positions::of(counting);
        let steps = |position: usize| {
            let step = |layout: &Self| layout.axes.get(position).stride.unsigned_abs();
            (step(self), step(other))
        };
        order.sort_stably(|left, right| steps(left) < steps(right));
        order
    }
}

/// Two layouts that are built side by side; the last axis of each may still grow.
struct Pair<'a, 'b, 'c> {
    operation: &'static str,
    offsets: (i64, i64),
    done: (&'a mut Builder<'b>, &'a mut Builder<'c>),
    last: Option<(Axis, Axis)>,
}

impl Pair<'_, '_, '_> {
    fn push(&mut self, mut axis: Axis, mut other: Axis) -> Result<(), LayoutError> {
        if axis.stride < 0 {
            self.offsets.0 = axis.flip(self.operation, self.offsets.0)?;
            self.offsets.1 = other.flip(self.operation, self.offsets.1)?;
        }
        let merged = self.last.and_then(|(outer, outer_other)| {
            Some((outer.around(axis)?, outer_other.around(other)?))
        });
        if merged.is_none() {
            self.close();
        }
        self.last = merged.or(Some((axis, other)));
        Ok(())
    }

    fn close(&mut self) {
        if let Some((axis, other)) = self.last.take() {
            self.done.0.push_new(axis);
            self.done.1.push_new(other);
        }
    }
}

impl Axis {
    /// Reverses the axis and returns the offset of what was its last element.
    #[inline]
    fn flip(&mut self, operation: &'static str, offset: i64) -> Result<i64, LayoutError> {
        let last = add(operation, "byte offset", offset, self.reach())?;
        self.stride = multiply(operation, "byte stride", self.stride, -1)?;
        Ok(last)
    }
}
