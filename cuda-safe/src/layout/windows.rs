//! Overlapping windows as axes of their own.

use super::{Axis, LayoutError, LayoutRule, StridedLayout, check_ndim, make_sound, resolve_axis};

impl StridedLayout {
    /// Returns all windows of a size per axis: first where they start, then what is in them.
    ///
    /// Windows share elements, so the result isn't unique unless each size or number is 1.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let image = StridedLayout::dense(&[480, 640], 1, Order::C)?;
    /// assert_eq!(image.windows(&[3, 3])?.shape(), [478, 638, 3, 3]);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses another number of sizes than of axes, a size below 1 or longer than its axis, and
    /// more than 64 axes in the result.
    pub fn windows(&self, sizes: &[i64]) -> Result<Self, LayoutError> {
        let operation = "windows";
        if sizes.len() != self.ndim() {
            let (need, have) = (self.ndim(), sizes.len());
            return Err(
                LayoutRule::OnePerAxis { operand: "size", need, have }.refused_by(operation)
            );
        }
        check_ndim(operation, self.ndim() + sizes.len())?;
        make_sound(operation, self.item_size, |axes| {
            for (position, (axis, &size)) in self.axes.iter().zip(sizes).enumerate() {
                axes.push(axis.window_starts(operation, position, size, 1)?);
            }
            axes.extend(self.axes.iter().zip(sizes).map(|(axis, &extent)| Axis { extent, ..axis }));
            Ok(self.offset)
        })
    }

    /// Returns the windows of `size` elements along one axis that start every `step` elements.
    ///
    /// The axis becomes that of the windows; what is in a window is a new last axis. Elements at
    /// the end that fill no window are left out.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, a size or step below 1, a size longer than the axis, and
    /// more than 64 axes in the result.
    pub fn unfold(&self, axis: i64, size: i64, step: i64) -> Result<Self, LayoutError> {
        let operation = "unfold";
        let position = resolve_axis(operation, "axis", axis, self.ndim())?;
        check_ndim(operation, self.ndim() + 1)?;
        if step < 1 {
            let rule = LayoutRule::NotPositive { operand: "step", axis: position, have: step };
            return Err(rule.refused_by(operation));
        }
        let axis = self.axes.get(position);
        let starts = axis.window_starts(operation, position, size, step)?;
        make_sound(operation, self.item_size, |axes| {
            axes.extend(self.axes.iter());
            axes.set(position, starts);
            axes.push(Axis { extent: size, ..axis });
            Ok(self.offset)
        })
    }
}

impl Axis {
    /// Returns the axis along which windows start.
    #[inline]
    fn window_starts(
        self,
        operation: &'static str,
        axis: usize,
        size: i64,
        step: i64,
    ) -> Result<Self, LayoutError> {
        if size < 1 {
            let rule = LayoutRule::NotPositive { operand: "size", axis, have: size };
            return Err(rule.refused_by(operation));
        }
        if size > self.extent {
            let rule = LayoutRule::WindowTooLong { axis, need: self.extent, have: size };
            return Err(rule.refused_by(operation));
        }
        // Invariant 4: the second window starts at an element, or the stride doesn't count.
        let stride = self.stride.checked_mul(step).unwrap_or(self.stride);
        Ok(Self { extent: (self.extent - size) / step + 1, stride })
    }
}
