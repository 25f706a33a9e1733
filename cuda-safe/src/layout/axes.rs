//! Reorders, drops, inserts and repeats axes.

use super::order::resolve_unseen;
use super::{Axis, LayoutError, LayoutRule, StridedLayout, check_extents, check_ndim};

const OPERAND: &str = "permutation";

impl StridedLayout {
    /// Returns the layout whose axis `k` is axis `axes[k]` of this one.
    ///
    /// # Errors
    ///
    /// Refuses a list that doesn't name every axis once.
    pub fn permute(&self, axes: &[i64]) -> Result<Self, LayoutError> {
        let operation = "permute";
        if axes.len() != self.ndim() {
            let (need, have) = (self.ndim(), axes.len());
            return Err(
                LayoutRule::AxesLength { operand: OPERAND, need, have }.refused_by(operation)
            );
        }
        let (mut permuted, mut seen) = (builder!(), 0);
        for &axis in axes {
            let from = resolve_unseen(operation, OPERAND, axis, self.ndim(), &mut seen)?;
            permuted.push(self.axes.get(from));
        }
        permuted.finish(operation, self.offset, self.item_size())
    }

    /// Returns the layout with its axes in reverse order.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn transpose(&self) -> Result<Self, LayoutError> {
        let mut axes = builder!();
        axes.extend(self.axes.iter().rev());
        axes.finish("transpose", self.offset, self.item_size())
    }

    /// Returns the layout without its axes of extent 1.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn squeeze(&self) -> Result<Self, LayoutError> {
        let mut axes = builder!();
        axes.take_all_but_units(&self.axes);
        axes.finish("squeeze", self.offset, self.item_size())
    }

    /// Returns the layout with axes of extent 1 inserted; `axes` are their positions in the result.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let matrix = StridedLayout::dense(&[5, 7], 4, Order::C)?;
    /// assert_eq!(matrix.unsqueeze(&[0, -1])?.shape(), [1, 5, 7, 1]);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses a position outside the result or named twice, and more than 64 axes in the result.
    pub fn unsqueeze(&self, axes: &[i64]) -> Result<Self, LayoutError> {
        let operation = "unsqueeze";
        let ndim = self.ndim() + axes.len();
        check_ndim(operation, ndim)?;
        let mut inserted = 0_u64;
        for &axis in axes {
            resolve_unseen(operation, "position", axis, ndim, &mut inserted)?;
        }
        let last = self.axes.iter().next_back().map_or(self.item_size(), |axis| axis.stride);
        let mut kept = self.axes.iter();
        let mut next = kept.next();
        let mut unsqueezed = builder!();
        for position in 0..ndim {
            if inserted >> position & 1 != 0 {
                unsqueezed.push(Axis { extent: 1, stride: next.map_or(last, Axis::span) });
            } else if let Some(axis) = next {
                unsqueezed.push(axis);
                next = kept.next();
            }
        }
        unsqueezed.finish(operation, self.offset, self.item_size())
    }

    /// Returns the layout repeated to a shape: axes of extent 1 are stretched, others put before.
    ///
    /// Axes are compared from the last one backwards. New and stretched axes have stride 0.
    ///
    /// # Errors
    ///
    /// Refuses fewer or more than 64 axes, a negative extent, and a change of an extent that isn't
    /// 1.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self, LayoutError> {
        let operation = "broadcast_to";
        check_ndim(operation, shape.len())?;
        check_extents(operation, shape)?;
        let Some(new_axes) = shape.len().checked_sub(self.ndim()) else {
            let rule = LayoutRule::BroadcastAxes { need: self.ndim(), have: shape.len() };
            return Err(rule.refused_by(operation));
        };
        let mut axes = builder!();
        let (before, beside) = shape.split_at_checked(new_axes).unwrap_or_default();
        axes.extend(before.iter().map(|&extent| Axis { extent, stride: 0 }));
        for (position, (&extent, old)) in beside.iter().zip(self.axes.iter()).enumerate() {
            if old.extent == extent {
                axes.push(old);
            } else if old.extent == 1 {
                axes.push(Axis { extent, stride: 0 });
            } else {
                let axis = new_axes + position;
                let rule = LayoutRule::BroadcastExtent { axis, need: old.extent, have: extent };
                return Err(rule.refused_by(operation));
            }
        }
        axes.finish(operation, self.offset, self.item_size())
    }
}

impl Axis {
    /// Returns the stride of an axis that spans this one, or its own where that doesn't fit.
    fn span(self) -> i64 {
        self.extent.checked_mul(self.stride).unwrap_or(self.stride)
    }
}
