//! Takes two axes as one: the diagonal.

use super::arithmetic::add;
use super::{Axis, LayoutError, LayoutRule, StridedLayout, make_sound, resolve_axis};

impl StridedLayout {
    /// Returns the elements on a diagonal of two axes, as a last axis in their place.
    ///
    /// `above` 0 is the diagonal from the first elements of both; a positive number starts that
    /// many elements along `column_axis`, a negative one along `row_axis`. Past the corner it is
    /// empty.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let matrix = StridedLayout::dense(&[3, 4], 1, Order::C)?;
    /// assert!(matrix.diagonal(1, 0, 1)?.offsets().eq([1, 6, 11]));
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses axes that don't exist, one axis named twice, and a stride that doesn't fit 64 bits.
    pub fn diagonal(
        &self,
        above: i64,
        row_axis: i64,
        column_axis: i64,
    ) -> Result<Self, LayoutError> {
        let operation = "diagonal";
        let row_position = resolve_axis(operation, "row axis", row_axis, self.ndim())?;
        let column_position = resolve_axis(operation, "column axis", column_axis, self.ndim())?;
        if row_position == column_position {
            let rule = LayoutRule::AxisRepeated { operand: "diagonal", have: column_axis };
            return Err(rule.refused_by(operation));
        }
        let (rows, columns) = (self.axes.get(row_position), self.axes.get(column_position));
        let (first_row, first_column) = (above.saturating_neg().max(0), above.max(0));
        // Invariant 2: no extent is negative, so no difference overflows.
        let extent = (rows.extent - first_row).min(columns.extent - first_column).max(0);
        let stride = match add(operation, "byte stride", rows.stride, columns.stride) {
            // Nothing is reached by it.
            Err(_) if extent < 2 || self.is_empty() => 0,
            other => other?,
        };
        // Invariant 4: if an element is on it, both starts exist, and one step or none reaches it.
        let distance = match extent {
            0 => 0,
            _ => (first_row.wrapping_mul(rows.stride))
                .wrapping_add(first_column.wrapping_mul(columns.stride)),
        };
        make_sound(operation, self.item_size, |axes| {
            for (position, axis) in self.axes.iter().enumerate() {
                if position != row_position && position != column_position {
                    axes.push(axis);
                }
            }
            axes.push_new(Axis { extent, stride });
            Ok(self.moved(distance))
        })
    }
}
