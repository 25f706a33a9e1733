//! Whether elements lie side by side, in which order of the axes.

use super::{Axis, StridedLayout};

impl StridedLayout {
    /// Says whether the elements in index order, last axis fastest, lie side by side.
    ///
    /// The offset has no say, nor has any stride that doesn't matter; an empty layout is
    /// contiguous.
    #[must_use]
    pub fn is_c_contiguous(&self) -> bool {
        self.side_by_side(self.axes.iter().rev())
    }

    /// Says whether the elements in index order, first axis fastest, lie side by side.
    #[must_use]
    pub fn is_f_contiguous(&self) -> bool {
        self.side_by_side(self.axes.iter())
    }

    /// Says whether the elements lie side by side in some order of the axes.
    ///
    /// Negative strides are not contiguous: the first element would not lie first.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        if let Some(answer) = self.slower_axes_first() {
            return answer;
        }
        // Side by side, the elements fill all that they span; only then their order matters.
        let Some((lowest, highest)) = self.offset_bounds() else { return true };
        if let (Ok(volume), Some(spanned)) = (self.volume(), highest.checked_sub(lowest))
            && (volume - 1).checked_mul(self.item_size()) != Some(spanned)
        {
            return false;
        }
        let order = self.slowest_first();
        self.side_by_side(order.as_slice().iter().rev().map(|&position| self.axes.get(position)))
    }

    /// Says whether the elements lie side by side, if the axes stand in the order in which they must
    /// be looked at: slower ones first, as most do.
    #[inline(always)]
    fn slower_axes_first(&self) -> Option<bool> {
        let (mut span, mut fits, mut faster) = (self.item_size(), true, 0);
        for axis in self.axes.iter().rev().filter(|axis| axis.extent != 1) {
            if axis.extent == 0 || axis.stride <= faster {
                return None;
            }
            fits &= axis.stride == span;
            faster = axis.stride;
            // Invariant 5: as long as all fits this is below 2^64, so it is what it should be, or
            // negative, as no stride here is.
            span = span.wrapping_mul(axis.extent);
        }
        Some(fits)
    }

    /// Says whether the layout is contiguous in some order of the axes and has offset 0.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.offset == 0 && self.is_contiguous()
    }

    /// Walks from the fastest axis outwards: each stride must span all that is inside it.
    #[inline]
    fn side_by_side(&self, fastest_first: impl Iterator<Item = Axis>) -> bool {
        let (mut span, mut overflows, mut fits) = (self.item_size(), false, true);
        for axis in fastest_first.filter(|axis| axis.counts()) {
            fits &= span == axis.stride && !overflows;
            let (product, overflow) = span.overflowing_mul(axis.extent);
            (span, overflows) = (product, overflows | overflow);
        }
        fits || self.is_empty()
    }
}
