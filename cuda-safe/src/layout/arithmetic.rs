//! Checked sums and products whose refusal names the quantity and both numbers.

use super::error::{LayoutError, LayoutRule, Sign};

#[inline]
pub(super) fn multiply(
    operation: &'static str,
    quantity: &'static str,
    left: i64,
    right: i64,
) -> Result<i64, LayoutError> {
    left.checked_mul(right).ok_or_else(|| overflow(operation, quantity, left, Sign::Times, right))
}

#[inline]
pub(super) fn add(
    operation: &'static str,
    quantity: &'static str,
    left: i64,
    right: i64,
) -> Result<i64, LayoutError> {
    left.checked_add(right).ok_or_else(|| overflow(operation, quantity, left, Sign::Plus, right))
}

/// Multiplies extents; an extent of zero makes the product zero whatever stands beside it.
#[inline]
pub(super) fn volume_of(operation: &'static str, shape: &[i64]) -> Result<i64, LayoutError> {
    let (mut volume, mut overflows) = (1_i64, false);
    for &extent in shape {
        let (product, overflow) = volume.overflowing_mul(extent);
        volume = product;
        overflows |= overflow;
    }
    if overflows { volume_slowly(operation, shape.iter().copied()) } else { Ok(volume) }
}

/// Multiplies extents one by one to name the first two whose product doesn't fit.
#[cold]
pub(super) fn volume_slowly(
    operation: &'static str,
    mut extents: impl Iterator<Item = i64> + Clone,
) -> Result<i64, LayoutError> {
    if extents.clone().any(|extent| extent == 0) {
        return Ok(0);
    }
    extents.try_fold(1, |volume, extent| multiply(operation, "volume", volume, extent))
}

/// Returns the greatest common divisor; zero divides nothing and limits nothing. It is found
/// fastest with the larger number first, or a power of two last.
#[inline]
pub(super) fn common_divisor(left: u64, right: u64) -> u64 {
    if right.is_power_of_two() {
        // Of zero all bits trail.
        return 1 << left.trailing_zeros().min(right.trailing_zeros());
    }
    let (mut left, mut right) = (left, right);
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

#[cold]
fn overflow(
    operation: &'static str,
    quantity: &'static str,
    left: i64,
    sign: Sign,
    right: i64,
) -> LayoutError {
    LayoutRule::Overflow { quantity, left, sign, right }.refused_by(operation)
}
