//! Takes neighbouring items as one, or an item as several.

use super::arithmetic::{common_divisor, multiply};
use super::{
    Axis, LayoutError, LayoutRule, StridedLayout, check_item_size, make_sound, resolve_axis,
};

/// Says along which axis items are packed or unpacked, and what is known of the address.
///
/// ```
/// use cuda_safe::layout::Packing;
///
/// let rows = Packing { axis: 0, ..Packing::LAST_AXIS };
/// assert!(rows.address.is_none() && rows.keep_axis);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    /// The axis; negative numbers count from the end.
    pub axis: i64,
    /// Address of byte offset 0, which must be aligned to the item size; `None` isn't checked.
    pub address: Option<u64>,
    /// Whether an axis that packing leaves with extent 1 stays.
    pub keep_axis: bool,
}

impl Packing {
    /// Along the last axis, at an address that isn't checked, without dropping the axis.
    pub const LAST_AXIS: Self = Self { axis: -1, address: None, keep_axis: true };
}

impl Default for Packing {
    fn default() -> Self {
        Self::LAST_AXIS
    }
}

impl StridedLayout {
    /// Returns the layout of the same bytes as items of another size.
    ///
    /// One item size must divide the other. Along the axis items must lie side by side; the other
    /// axes and the offset stay as they are. To the layout's own item size nothing is done.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    /// use cuda_safe::layout::Packing;
    ///
    /// let channels = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    /// let pixels = channels.repack(3, Packing { keep_axis: false, ..Packing::LAST_AXIS })?;
    /// assert_eq!(pixels.to_string(), "(576, 768):(2560, 3) of 3-byte items");
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses an item size below 1 or that neither divides nor is divided, an axis that doesn't
    /// exist, items along it that don't lie side by side or make no whole items, an address that
    /// isn't aligned to a larger item, and numbers that don't fit 64 bits.
    pub fn repack(&self, item_size: i64, packing: Packing) -> Result<Self, LayoutError> {
        let operation = "repack";
        if item_size == self.item_size() {
            return Ok(self.clone());
        }
        let position = resolve_axis(operation, "axis", packing.axis, self.ndim())?;
        let size = check_item_size(operation, item_size)?;
        let axis = self.axes.get(position);
        let extent = if item_size > self.item_size() {
            check_divides(operation, self.item_size(), item_size, item_size % self.item_size())?;
            check_address(operation, packing.address, item_size)?;
            self.check_side_by_side(operation, position, axis)?;
            let need = item_size / self.item_size();
            if axis.extent % need != 0 {
                let rule =
                    LayoutRule::ExtentNotDivisible { axis: position, need, have: axis.extent };
                return Err(rule.refused_by(operation));
            }
            axis.extent / need
        } else {
            check_divides(operation, self.item_size(), item_size, self.item_size() % item_size)?;
            self.check_side_by_side(operation, position, axis)?;
            multiply(operation, "extent of the axis", axis.extent, self.item_size() / item_size)?
        };
        make_sound(operation, size, |axes| {
            for (number, kept) in self.axes.iter().enumerate() {
                if number != position {
                    axes.push(kept);
                } else if packing.keep_axis || extent != 1 {
                    axes.push_new(Axis { extent, stride: item_size });
                }
            }
            Ok(self.offset)
        })
    }

    /// Returns the largest item size, at most `limit`, that the elements can be packed to.
    ///
    /// It is the item size times the largest factor common to the limit, the extent of the axis,
    /// the offset, the other strides and the address, all counted in items. Every item of that size
    /// is aligned to it if the address is. It needn't be a power of two. Where items don't lie side
    /// by side along the axis, it is the item size itself.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    /// use cuda_safe::layout::Packing;
    ///
    /// let rows = StridedLayout::from_byte_strides(&[576, 2304], &[2560, 1], 1)?;
    /// assert_eq!(rows.max_compatible_item_size(16, Packing::LAST_AXIS)?, 16);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses a limit below the layout's item size, an axis that doesn't exist, and an address
    /// that isn't a multiple of the item size.
    pub fn max_compatible_item_size(
        &self,
        limit: i64,
        packing: Packing,
    ) -> Result<i64, LayoutError> {
        let operation = "max_compatible_item_size";
        if limit < 1 {
            return Err(LayoutRule::LimitNotPositive { have: limit }.refused_by(operation));
        }
        let position = resolve_axis(operation, "axis", packing.axis, self.ndim())?;
        if limit < self.item_size() {
            let rule = LayoutRule::LimitBelowItemSize { need: self.item_size(), have: limit };
            return Err(rule.refused_by(operation));
        }
        check_address(operation, packing.address, self.item_size())?;
        let axis = self.axes.get(position);
        if axis.extent == 0 || !self.is_side_by_side(axis) {
            return Ok(self.item_size());
        }
        // Invariant 3: the item size is positive.
        let item_size = self.item_size().unsigned_abs();
        let items = |bytes: u64| match item_size {
            1 => bytes,
            _ if bytes.is_multiple_of(item_size) => bytes / item_size,
            _ => 1,
        };
        let mut factor = limit.unsigned_abs() / item_size;
        factor = common_divisor(axis.extent.unsigned_abs(), factor);
        factor = common_divisor(items(packing.address.unwrap_or(0)), factor);
        if !self.is_empty() {
            factor = common_divisor(items(self.offset.unsigned_abs()), factor);
            for (number, other) in self.axes.iter().enumerate() {
                if number != position && other.counts() {
                    factor = common_divisor(items(other.stride.unsigned_abs()), factor);
                }
            }
        }
        // The factor is at most limit / item size, so the product is at most the limit.
        Ok(self.item_size() * i64::try_from(factor).unwrap_or(1))
    }

    /// Says whether items lie side by side along an axis, or whether that doesn't matter.
    fn is_side_by_side(&self, axis: Axis) -> bool {
        !axis.counts() || axis.stride == self.item_size() || self.is_empty()
    }

    /// Checks that items lie side by side along an axis on which that matters.
    fn check_side_by_side(
        &self,
        operation: &'static str,
        position: usize,
        axis: Axis,
    ) -> Result<(), LayoutError> {
        if !self.is_side_by_side(axis) {
            let (need, have) = (self.item_size(), axis.stride);
            let rule = LayoutRule::AxisNotContiguous { axis: position, need, have };
            return Err(rule.refused_by(operation));
        }
        Ok(())
    }
}

fn check_divides(
    operation: &'static str,
    need: i64,
    have: i64,
    remainder: i64,
) -> Result<(), LayoutError> {
    if remainder != 0 {
        return Err(LayoutRule::ItemSizeNotDividing { need, have }.refused_by(operation));
    }
    Ok(())
}

fn check_address(
    operation: &'static str,
    address: Option<u64>,
    item_size: i64,
) -> Result<(), LayoutError> {
    match address {
        Some(have) if !have.is_multiple_of(item_size.unsigned_abs()) => {
            Err(LayoutRule::AddressUnaligned { need: item_size, have }.refused_by(operation))
        }
        _ => Ok(()),
    }
}
