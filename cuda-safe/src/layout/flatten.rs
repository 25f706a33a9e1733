//! Merges neighbouring axes that are evenly spaced.

use super::arithmetic::multiply;
use super::{Axis, LayoutError, StridedLayout, make_plain, make_sound, resolve_axis};

const OPERATION: &str = "flatten";

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
        make_plain(
            self.item_size,
            |axes| {
                // Without a stride there is one element, or it is repeated, perhaps more often than
                // a number says.
                let last = self.merge_plain(axes).filter(|last| last.stride > 0)?;
                axes.push_new(last);
                Some(self.offset)
            },
            || self.flatten_axes(0, -1),
        )
    }

    /// Returns the layout with neighbouring axes merged among those from `first` to `last`.
    ///
    /// Both ends belong to the range; if `first` comes after `last`, nothing is merged.
    ///
    /// # Errors
    ///
    /// Refuses an axis that doesn't exist, and what [`flatten`](Self::flatten) refuses.
    pub fn flatten_axes(&self, first: i64, last: i64) -> Result<Self, LayoutError> {
        if self.ndim() == 0 && (first, last) == (0, -1) {
            return make_sound(OPERATION, self.item_size, |axes| {
                axes.push(Axis { extent: 1, stride: self.item_size() });
                Ok(self.offset)
            });
        }
        let first = resolve_axis(OPERATION, "start axis", first, self.ndim())?;
        let last = resolve_axis(OPERATION, "end axis", last, self.ndim())?;
        let empty = self.is_empty();
        make_sound(OPERATION, self.item_size, |axes| {
            let mut positions = self.axes.iter().enumerate();
            let mut outer = positions.next().map_or(Axis::UNIT, |(_, axis)| axis);
            for (position, inner) in positions {
                let may_merge = first < position && position <= last;
                let merged = if may_merge { outer.merged(inner, empty)? } else { None };
                outer = merged.unwrap_or_else(|| {
                    axes.push_new(outer);
                    inner
                });
            }
            axes.push_new(outer);
            Ok(self.offset)
        })
    }
}

impl Axis {
    /// Returns the one axis that counts as this one with `inner` inside it, if there is one.
    #[inline(always)]
    fn merged(self, inner: Self, empty: bool) -> Result<Option<Self>, LayoutError> {
        // Without elements all axes are evenly spaced; a refusal is of the extent alone.
        let repeated = self.counts() && inner.counts() && self.stride == 0 && inner.stride == 0;
        if empty || repeated {
            let extent = multiply(OPERATION, "extent of an axis", self.extent, inner.extent)?;
            return Ok(Some(Self { extent, stride: inner.stride }));
        }
        Ok(self.around(inner))
    }
}
