//! The order in which axes lie in memory, slowest first.

use std::str::FromStr;

use super::per_axis::InlineList;
use super::{INLINE_AXES, LayoutError, LayoutRule, PerAxis, StridedLayout, resolve_axis};

/// Names the order in which the axes of a dense layout lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order<'a> {
    /// The last axis is the fastest, as in C and NumPy.
    C,
    /// The first axis is the fastest, as in Fortran and BLAS.
    F,
    /// The order of another layout's strides; where two are as long, the order of its axes.
    Keep,
    /// The axes slowest first; negative ones count from the end.
    Axes(&'a [i64]),
}

impl FromStr for Order<'static> {
    type Err = LayoutError;

    /// Reads `C`, `F` or `K` (keep).
    fn from_str(name: &str) -> Result<Self, LayoutError> {
        match name {
            "C" => Ok(Self::C),
            "F" => Ok(Self::F),
            "K" => Ok(Self::Keep),
            other => {
                let have = other.chars().next().unwrap_or(' ');
                Err(LayoutRule::OrderUnknown { need: "C, F or K", have }.refused_by("order"))
            }
        }
    }
}

/// Positions of axes.
pub(super) type Positions = InlineList<usize, INLINE_AXES>;

impl Order<'_> {
    /// Names every axis once, slowest first.
    pub(super) fn resolve(
        self,
        operation: &'static str,
        ndim: usize,
        like: Option<&StridedLayout>,
    ) -> Result<Positions, LayoutError> {
        match (self, like) {
            (Self::C, _) => Ok(Positions::of(0..ndim)),
            (Self::F, _) => Ok(Positions::of((0..ndim).rev())),
            (Self::Keep, Some(layout)) => Ok(layout.slowest_first()),
            (Self::Keep, None) => Ok(Positions::of(0..ndim)),
            (Self::Axes(order), _) => resolve_permutation(operation, "order", order, ndim),
        }
    }
}

/// Turns axis numbers that may be negative into positions; every axis must be named once.
pub(super) fn resolve_permutation(
    operation: &'static str,
    operand: &'static str,
    axes: &[i64],
    ndim: usize,
) -> Result<Positions, LayoutError> {
    if axes.len() != ndim {
        return Err(
            LayoutRule::AxesLength { operand, need: ndim, have: axes.len() }.refused_by(operation)
        );
    }
    let mut positions = Positions::new();
    let mut seen = 0;
    for &axis in axes {
        positions.push(resolve_unseen(operation, operand, axis, ndim, &mut seen)?);
    }
    Ok(positions)
}

/// Turns an axis number into a position that must not be among those seen, one bit each.
#[inline]
pub(super) fn resolve_unseen(
    operation: &'static str,
    operand: &'static str,
    axis: i64,
    ndim: usize,
    seen: &mut u64,
) -> Result<usize, LayoutError> {
    let position = resolve_axis(operation, operand, axis, ndim)?;
    // Invariant 1: a position is below 64.
    let bit = 1 << (position & 63);
    if *seen & bit != 0 {
        return Err(LayoutRule::AxisRepeated { operand, have: axis }.refused_by(operation));
    }
    *seen |= bit;
    Ok(position)
}

impl StridedLayout {
    /// Returns the axes in the order in which they lie in memory, slowest first.
    ///
    /// The order is that of the strides' absolute values; where two are as long, that of the axes.
    #[must_use]
    pub fn stride_order(&self) -> PerAxis {
        // At most 64 axes, so the casts are exact.
        if self.is_slowest_first() {
            return PerAxis::build(self.ndim(), |position| position as i64);
        }
        let order = self.slowest_first();
        let order = order.as_slice();
        PerAxis::build(order.len(), |place| order.get(place).map_or(0, |&axis| axis as i64))
    }

    /// Says whether the axes already stand in the order in which they lie in memory.
    pub(super) fn is_slowest_first(&self) -> bool {
        self.byte_strides().is_sorted_by(|slow, fast| slow.unsigned_abs() >= fast.unsigned_abs())
    }

    /// Returns the positions of the axes, slowest first.
    pub(super) fn slowest_first(&self) -> Positions {
        let mut order = Positions::build(self.ndim(), |position| position);
        if !self.is_slowest_first() {
            let step = |position: usize| self.axes.get(position).stride.unsigned_abs();
            order.sort_stably(|left, right| step(left) < step(right));
        }
        order
    }
}
