//! Takes two axes as one: the diagonal.

use super::{Axis, LayoutError, LayoutRule, StridedLayout, resolve_axis};

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
    /// Refuses axes that don't exist, and one axis named twice.
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
        let extent = (rows.extent.saturating_sub(first_row))
            .min(columns.extent.saturating_sub(first_column))
            .max(0);
        let stride = rows.stride.checked_add(columns.stride).unwrap_or(0);
        let mut axes = builder!();
        axes.extend(
            self.axes
                .iter()
                .enumerate()
                .filter(|&(position, _)| position != row_position && position != column_position)
                .map(|(_, axis)| axis),
        );
        axes.push(Axis { extent, stride });
        // Invariant 4: if an element is on it, both starts exist, and one step or none reaches it.
        let distance = match extent {
            0 => 0,
            _ => (first_row.wrapping_mul(rows.stride))
                .wrapping_add(first_column.wrapping_mul(columns.stride)),
        };
        let offset = self.moved(distance, &axes);
        axes.finish(operation, offset, self.item_size())
    }
}
