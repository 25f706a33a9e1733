//! Merges neighbouring axes that are evenly spaced.

use super::arithmetic::multiply;
use super::{Axis, LayoutError, StridedLayout, resolve_axis};

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
            let mut axes = builder!();
            axes.extend([axis]);
            return axes.finish(operation, self.offset, self.item_size());
        }
        let first = resolve_axis(operation, "start axis", first, self.ndim())?;
        let last = resolve_axis(operation, "end axis", last, self.ndim())?;
        let empty = self.is_empty();
        let (mut axes, mut positions) = (builder!(), self.axes.iter().enumerate());
        let mut outer = positions.next().map_or(Axis::UNIT, |(_, axis)| axis);
        for (position, inner) in positions {
            let may_merge = first < position && position <= last;
            let merged = if may_merge { outer.merged(operation, inner, empty)? } else { None };
            outer = merged.unwrap_or_else(|| {
                axes.push(outer);
                inner
            });
        }
        axes.push(outer);
        axes.finish(operation, self.offset, self.item_size())
    }
}

impl Axis {
    /// Returns the one axis that counts as this one with `inner` inside it, if there is one.
    #[inline(always)]
    fn merged(
        self,
        operation: &'static str,
        inner: Self,
        empty: bool,
    ) -> Result<Option<Self>, LayoutError> {
        // Without elements all axes are evenly spaced; a refusal is of the extent alone.
        let repeated = self.counts() && inner.counts() && self.stride == 0 && inner.stride == 0;
        if empty || repeated {
            let extent = multiply(operation, "extent of an axis", self.extent, inner.extent)?;
            return Ok(Some(Self { extent, stride: inner.stride }));
        }
        Ok(self.around(inner))
    }
}
