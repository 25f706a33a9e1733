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
        make_sound(operation, self.item_size, |unsqueezed| {
            let (mut position, mut last) = (0, self.item_size());
            for axis in self.axes.iter() {
                while inserted >> position & 1 != 0 {
                    unsqueezed.push(Axis { extent: 1, stride: axis.span() });
                    position += 1;
                }
                unsqueezed.push(axis);
                position += 1;
                last = axis.stride;
            }
            for _ in position..ndim {
                unsqueezed.push(Axis { extent: 1, stride: last });
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
        let Some(new_axes) = shape.len().checked_sub(self.ndim()) else {
            return Err(self.broadcast_refusal(operation, shape));
        };
        let (before, beside) = shape.split_at_checked(new_axes).unwrap_or_default();
        make_sound(operation, self.item_size, |axes| {
            for &extent in before {
                if extent < 0 {
                    return Err(self.broadcast_refusal(operation, shape));
                }
                axes.push(Axis { extent, stride: 0 });
            }
            for (&extent, old) in beside.iter().zip(self.axes.iter()) {
                if old.extent == extent {
                    axes.push(old);
                } else if old.extent == 1 && extent >= 0 {
                    axes.push(Axis { extent, stride: 0 });
                } else {
                    return Err(self.broadcast_refusal(operation, shape));
                }
            }
            Ok(self.offset)
        })
    }

    /// Says why a layout can't be repeated to a shape: negative extents first.
    #[cold]
    fn broadcast_refusal(&self, operation: &'static str, shape: &[i64]) -> LayoutError {
        if let Err(refusal) = check_extents(operation, shape) {
            return refusal;
        }
        let rule = match shape.len().checked_sub(self.ndim()) {
            None => LayoutRule::BroadcastAxes { need: self.ndim(), have: shape.len() },
            Some(new_axes) => {
                let beside = shape.iter().enumerate().skip(new_axes).zip(self.axes.iter());
                let fits = |extent: i64, old: Axis| old.extent == extent || old.extent == 1;
                let mut wrong = beside.filter(|&((_, &extent), old)| !fits(extent, old));
                let (axis, have, need) =
                    wrong.next().map_or((0, 0, 0), |((axis, &have), old)| (axis, have, old.extent));
                LayoutRule::BroadcastExtent { axis, need, have }
            }
        };
        rule.refused_by(operation)
    }
}

impl Axis {
    /// Returns the stride of an axis that spans this one, or its own where that doesn't fit.
    fn span(self) -> i64 {
        self.extent.checked_mul(self.stride).unwrap_or(self.stride)
    }
}
