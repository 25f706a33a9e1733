//! Merges neighbouring axes that are evenly spaced.

use super::arithmetic::multiply;
use super::{Axis, AxisList, LayoutError, StridedLayout, resolve_axis};

impl StridedLayout {
    /// Returns the layout with neighbouring axes merged wherever their elements are evenly spaced.
    ///
    /// The index order stays; axes that can't be merged stay too. A layout without axes gets one of
    /// extent 1.
    ///
    /// # Errors
    ///
    /// Refuses an extent that doesn't fit 64 bits, possible only with broadcast or empty axes.
    pub fn flatten(&self) -> Result<Self, LayoutError> {
        self.flatten_axes(0, -1)
    }

    /// Returns the layout with neighbouring axes merged among those from `first` to `last`.
    ///
    /// Both ends belong to the range; if `first` comes after `last`, nothing is merged.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, and what [`flatten`](Self::flatten) refuses.
    pub fn flatten_axes(&self, first: i64, last: i64) -> Result<Self, LayoutError> {
        let operation = "flatten";
        if self.ndim() == 0 && (first, last) == (0, -1) {
            let axis = Axis { extent: 1, stride: self.item_size() };
            let mut axes = AxisList::new();
            axes.extend([axis]);
            return proved!(operation, axes, self.offset, self.item_size());
        }
        let first = resolve_axis(operation, "start axis", first, self.ndim())?;
        let last = resolve_axis(operation, "end axis", last, self.ndim())?;
        let mut axes = AxisList::new();
        let mut outer: Option<Axis> = None;
        for (position, inner) in self.axes.iter().enumerate() {
            let may_merge = first < position && position <= last;
            let merged = match outer {
                Some(outer) if may_merge => self.merged(operation, outer, inner)?,
                _ => None,
            };
            if merged.is_none() {
                axes.extend(outer);
            }
            outer = merged.or(Some(inner));
        }
        axes.extend(outer);
        proved!(operation, axes, self.offset, self.item_size())
    }

    fn merged(
        &self,
        operation: &'static str,
        outer: Axis,
        inner: Axis,
    ) -> Result<Option<Axis>, LayoutError> {
        // Without elements all axes are evenly spaced; a refusal is of the extent alone.
        let repeated = outer.counts() && inner.counts() && outer.stride == 0 && inner.stride == 0;
        if self.is_empty() || repeated {
            let extent = multiply(operation, "extent of an axis", outer.extent, inner.extent)?;
            return Ok(Some(Axis { extent, stride: inner.stride }));
        }
        Ok(outer.around(inner))
    }
}
