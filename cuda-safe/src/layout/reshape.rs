//! Gives the elements, taken in index order, another shape.

use super::arithmetic::{volume_of, volume_slowly};
use super::{
    Axis, Builder, Items, LayoutError, LayoutRule, StridedLayout, check_ndim, make, make_plain,
};

const OPERATION: &str = "reshape";

impl StridedLayout {
    /// Returns the layout of the same elements in index order under another shape.
    ///
    /// One extent may be -1: it is inferred from the volume. Nothing is copied, so the new axes
    /// must split runs of evenly spaced elements. Axes of extent 1 never stand in the way.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let image = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    /// assert_eq!(image.reshape(&[576, -1])?.byte_strides(), [2560, 1]);
    /// // The padding at the end of a row can't be stepped over.
    /// assert!(image.reshape(&[-1, 3]).is_err());
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses more than 64 axes, an extent below -1, a second -1, a -1 that has no one answer or
    /// no whole one, another number of elements, and strides that don't allow the shape.
    pub fn reshape(&self, shape: &[i64]) -> Result<Self, LayoutError> {
        make_plain(
            self.item_size,
            |axes| self.split_one_run(shape, axes),
            || self.reshape_any(shape),
        )
    }

    /// Splits elements that lie side by side in index order; says nothing of others.
    #[inline(always)]
    fn split_one_run(&self, shape: &[i64], axes: &mut Builder<'_>) -> Option<i64> {
        let (mut span, mut volume) = (self.item_size(), 1_i64);
        for axis in self.axes.iter().rev() {
            if axis.counts() && axis.stride != span {
                return None;
            }
            span = span.checked_mul(axis.extent)?;
            // Is no more than the span.
            volume = volume.wrapping_mul(axis.extent);
        }
        let (mut have, mut is_inferred) = (1_i64, false);
        for &extent in shape {
            if extent > 0 {
                have = have.checked_mul(extent)?;
            } else if extent == -1 && !is_inferred {
                is_inferred = true;
            } else {
                return None;
            }
        }
        let inferred = if is_inferred { volume / have } else { 1 };
        if inferred.wrapping_mul(have) != volume {
            return None;
        }
        axes.reserve(shape.len());
        let mut stride = self.item_size();
        for (axis, &extent) in shape.iter().enumerate().rev() {
            let extent = if extent < 0 { inferred } else { extent };
            axes.set(axis, Axis { extent, stride });
            // In the end it is the span.
            stride = stride.wrapping_mul(extent);
        }
        Some(self.offset)
    }

    /// Finds strides for any shape.
    #[inline(never)]
    fn reshape_any(&self, shape: &[i64]) -> Result<Self, LayoutError> {
        check_ndim(OPERATION, shape.len())?;
        let volume = volume_of(OPERATION, self.shape())?;
        let inferred = infer_extent(shape, volume)?;
        if volume > 0 {
            return self.split_runs(shape, inferred);
        }
        make(OPERATION, |axes| {
            let extents = shape.iter().map(|&extent| if extent < 0 { inferred } else { extent });
            axes.extend(extents.map(|extent| Axis { extent, stride: 0 }));
            Ok(Items { offset: self.offset, size: self.item_size() })
        })
    }

    /// Finds strides for a shape of the same volume, which isn't 0, fastest axis first.
    fn split_runs(&self, shape: &[i64], inferred: i64) -> Result<Self, LayoutError> {
        make(OPERATION, |axes| {
            let mut runs =
                Runs { axes: self.axes.iter().rev().filter(|axis| axis.counts()).peekable() };
            let mut run = Axis { extent: 1, stride: self.item_size() };
            axes.reserve(shape.len());
            for (axis, &extent) in shape.iter().enumerate().rev() {
                let extent = if extent < 0 { inferred } else { extent };
                if run.extent == 1 && extent > 1 {
                    // The volumes are equal: as long as elements are missing, a run is left.
                    run = runs.next().unwrap_or(run);
                }
                axes.set(axis, Axis { extent, stride: run.stride });
                let left = if run.extent == extent { 1 } else { run.extent / extent };
                if left * extent != run.extent {
                    let rule =
                        LayoutRule::StridesIncompatible { axis, need: run.extent, have: extent };
                    return Err(rule.refused_by(OPERATION));
                }
                // Past the end of a run the stride is used by axes of extent 1 only.
                let next = run.stride.checked_mul(extent).unwrap_or(run.stride);
                run = Axis { extent: left, stride: next };
            }
            Ok(Items { offset: self.offset, size: self.item_size() })
        })
    }
}

/// Returns the extent that the volume leaves for that of -1; 1 if there is none.
fn infer_extent(shape: &[i64], volume: i64) -> Result<i64, LayoutError> {
    let (mut inferred, mut have, mut overflows) = (None, 1_i64, false);
    for (axis, &extent) in shape.iter().enumerate() {
        if extent < 0 {
            check_inferred(axis, extent, inferred)?;
            inferred = Some(axis);
        } else {
            let (product, overflow) = have.overflowing_mul(extent);
            (have, overflows) = (product, overflows | overflow);
        }
    }
    if overflows {
        have = volume_slowly(OPERATION, shape.iter().copied().filter(|extent| *extent >= 0))?;
    }
    let rule = match inferred {
        None if have == volume => return Ok(1),
        None => LayoutRule::VolumeMismatch { need: volume, have },
        Some(axis) if have == 0 => LayoutRule::InferredAmbiguous { axis },
        Some(_) => {
            let extent = volume / have;
            if extent * have == volume {
                return Ok(extent);
            }
            LayoutRule::InferredNotDivisible { volume, have }
        }
    };
    Err(rule.refused_by(OPERATION))
}

/// Checks that a negative extent is -1, and the only one.
fn check_inferred(axis: usize, have: i64, inferred: Option<usize>) -> Result<(), LayoutError> {
    let rule = match (have, inferred) {
        (-1, None) => return Ok(()),
        (-1, Some(first)) => LayoutRule::SeveralInferred { first, second: axis },
        _ => LayoutRule::NegativeExtent { axis, have },
    };
    Err(rule.refused_by(OPERATION))
}

/// The longest runs of evenly spaced elements, fastest first.
struct Runs<I: Iterator<Item = Axis>> {
    axes: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = Axis>> Iterator for Runs<I> {
    type Item = Axis;

    fn next(&mut self) -> Option<Axis> {
        let mut run = self.axes.next()?;
        while let Some(longer) = self.axes.peek().and_then(|outer| outer.around(run)) {
            self.axes.next();
            run = longer;
        }
        Some(run)
    }
}

impl Axis {
    /// Returns the one axis that counts as this one with `inner` inside it, if there is one.
    #[inline]
    pub(super) fn around(self, inner: Self) -> Option<Self> {
        if inner.extent == 1 {
            return Some(self);
        }
        if self.extent == 1 {
            return Some(inner);
        }
        let extent = self.extent.checked_mul(inner.extent)?;
        (inner.extent.checked_mul(inner.stride) == Some(self.stride))
            .then_some(Self { extent, stride: inner.stride })
    }
}
