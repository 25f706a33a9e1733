//! Reorders, drops, inserts and repeats axes.

use super::order::resolve_unseen;
use super::{Axis, LayoutError, LayoutRule, StridedLayout, check_extents, check_ndim, make_sound};

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
        make_sound(operation, self.item_size, |permuted| {
            let mut seen = 0;
            for &axis in axes {
                let from = resolve_unseen(operation, OPERAND, axis, self.ndim(), &mut seen)?;
                permuted.push(self.axes.get(from));
            }
            Ok(self.offset)
        })
    }

    /// Returns the layout with its axes in reverse order.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn transpose(&self) -> Result<Self, LayoutError> {
        make_sound("transpose", self.item_size, |axes| {
            axes.extend(self.axes.iter().rev());
            Ok(self.offset)
        })
    }

    /// Returns the layout without its axes of extent 1.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn squeeze(&self) -> Result<Self, LayoutError> {
        make_sound("squeeze", self.item_size, |axes| {
            axes.take_all_but_units(&self.axes);
            Ok(self.offset)
        })
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
        make_sound(operation, self.item_size, |unsqueezed| {
            for position in 0..ndim {
                if inserted >> position & 1 != 0 {
                    unsqueezed.push(Axis { extent: 1, stride: next.map_or(last, Axis::span) });
                } else if let Some(axis) = next {
                    unsqueezed.push(axis);
                    next = kept.next();
                }
            }
            Ok(self.offset)
        })
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
        let (before, beside) = shape.split_at_checked(new_axes).unwrap_or_default();
        make_sound(operation, self.item_size, |axes| {
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
            Ok(self.offset)
        })
    }
}

impl Axis {
    /// Returns the stride of an axis that spans this one, or its own where that doesn't fit.
    fn span(self) -> i64 {
        self.extent.checked_mul(self.stride).unwrap_or(self.stride)
    }
}
