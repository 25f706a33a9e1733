//! Makes layouts: from strides, dense in any order, dense like another.

use std::num::NonZero;

use super::arithmetic::multiply;
use super::{
    Axis, Builder, Items, LayoutError, LayoutRule, Order, StridedLayout, check_extents,
    check_item_size, check_ndim, make, make_plain, make_sound,
};

impl StridedLayout {
    /// Makes a layout from a shape, strides in bytes and the size of an item in bytes.
    ///
    /// The byte offset is 0; [`with_byte_offset`](Self::with_byte_offset) gives another. Strides
    /// may be negative, zero, and no multiple of the item size.
    ///
    /// # Errors
    ///
    /// Refuses an item size below 1, more than 64 axes, another number of strides than of extents,
    /// a negative extent, and offsets of bytes that don't fit 64 bits.
    pub fn from_byte_strides(
        shape: &[i64],
        byte_strides: &[i64],
        item_size: i64,
    ) -> Result<Self, LayoutError> {
        let operation = "from_byte_strides";
        check_lengths(operation, shape, byte_strides)?;
        make(operation, |axes| {
            let pairs = shape.iter().zip(byte_strides);
            axes.extend(pairs.map(|(&extent, &stride)| Axis { extent, stride }));
            Ok(Items { offset: 0, size: item_size })
        })
    }

    /// Makes a layout from a shape, strides in elements and the size of an item in bytes.
    ///
    /// # Errors
    ///
    /// As [`from_byte_strides`](Self::from_byte_strides), which see.
    pub fn from_element_strides(
        shape: &[i64],
        element_strides: &[i64],
        item_size: i64,
    ) -> Result<Self, LayoutError> {
        let operation = "from_element_strides";
        check_lengths(operation, shape, element_strides)?;
        let empty = shape.contains(&0);
        make(operation, |axes| {
            for (&extent, &stride) in shape.iter().zip(element_strides) {
                let stride = match multiply(operation, "byte stride", stride, item_size) {
                    Err(_) if empty || extent == 1 => 0,
                    other => other?,
                };
                axes.push(Axis { extent, stride });
            }
            Ok(Items { offset: 0, size: item_size })
        })
    }

    /// Makes a dense layout: offset 0, positive strides, no byte between two elements unused.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let shape = [4, 6, 3];
    /// assert_eq!(StridedLayout::dense(&shape, 2, Order::C)?.byte_strides(), [36, 6, 2]);
    /// assert_eq!(StridedLayout::dense(&shape, 2, Order::F)?.byte_strides(), [2, 8, 48]);
    /// // Axis 2 is the slowest, axis 1 the fastest.
    /// let dense = StridedLayout::dense(&shape, 2, Order::Axes(&[2, 0, 1]))?;
    /// assert_eq!(dense.byte_strides(), [12, 2, 48]);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Refuses what [`from_byte_strides`](Self::from_byte_strides) refuses, an order that doesn't
    /// name every axis once, [`Order::Keep`], and a size in bytes that doesn't fit 64 bits.
    pub fn dense(shape: &[i64], item_size: i64, order: Order<'_>) -> Result<Self, LayoutError> {
        let size = NonZero::new(item_size).filter(|size| size.is_positive() && order == Order::C);
        match size {
            Some(size) => dense_plain(shape, size, || dense_any(shape, item_size, order)),
            None => dense_any(shape, item_size, order),
        }
    }

    /// Makes a dense layout of the shape and item size of `other`.
    ///
    /// [`Order::Keep`] keeps the order in which its axes lie in memory, slowest first.
    ///
    /// # Errors
    ///
    /// As [`dense`](Self::dense), except that every [`Order`] is possible.
    pub fn dense_like(other: &Self, order: Order<'_>) -> Result<Self, LayoutError> {
        let operation = "dense_like";
        let any = || dense_in(operation, other.shape(), other.item_size, order, Some(other));
        let is_plain = match order {
            Order::C => true,
            Order::Keep => other.is_slowest_first(),
            Order::F | Order::Axes(_) => false,
        };
        if is_plain { dense_plain(other.shape(), other.item_size, any) } else { any() }
    }

    /// Returns the dense layout of the same shape and item size.
    ///
    /// # Errors
    ///
    /// As [`dense_like`](Self::dense_like).
    pub fn to_dense(&self, order: Order<'_>) -> Result<Self, LayoutError> {
        Self::dense_like(self, order)
    }

    /// Returns the layout moved to another byte offset.
    ///
    /// # Errors
    ///
    /// Refuses an offset with which the offset of a byte doesn't fit 64 bits.
    pub fn with_byte_offset(&self, byte_offset: i64) -> Result<Self, LayoutError> {
        make("with_byte_offset", |axes| {
            axes.extend(self.axes.iter());
            Ok(Items { offset: byte_offset, size: self.item_size() })
        })
    }

    /// Returns the layout moved to another offset, given in elements.
    ///
    /// # Errors
    ///
    /// As [`with_byte_offset`](Self::with_byte_offset).
    pub fn with_element_offset(&self, element_offset: i64) -> Result<Self, LayoutError> {
        let operation = "with_element_offset";
        let offset = match multiply(operation, "byte offset", element_offset, self.item_size()) {
            Err(_) if self.is_empty() => 0,
            other => other?,
        };
        self.with_byte_offset(offset)
    }
}

const DENSE: &str = "dense";

/// Lays out a few axes densely, the last one fastest, or else returns what another way returns.
#[inline(always)]
fn dense_plain(
    shape: &[i64],
    item_size: NonZero<i64>,
    otherwise: impl FnOnce() -> Result<StridedLayout, LayoutError>,
) -> Result<StridedLayout, LayoutError> {
    let build = |axes: &mut Builder<'_>| {
        axes.reserve(shape.len());
        let mut step = item_size.get();
        for (position, &extent) in shape.iter().enumerate().rev() {
            if extent < 1 {
                return None;
            }
            axes.set(position, Axis { extent, stride: step });
            step = step.checked_mul(extent)?;
        }
        // Invariants 4 and 5: the size in bytes fits, and all begins at 0.
        Some(0)
    };
    make_plain(item_size, build, otherwise)
}

/// Lays out any shape densely.
#[inline(never)]
fn dense_any(
    shape: &[i64],
    item_size: i64,
    order: Order<'_>,
) -> Result<StridedLayout, LayoutError> {
    if order == Order::Keep {
        let need = "C, F or a list of axes";
        return Err(LayoutRule::OrderUnknown { need, have: 'K' }.refused_by(DENSE));
    }
    check_ndim(DENSE, shape.len())?;
    check_extents(DENSE, shape)?;
    let item_size = check_item_size(DENSE, item_size)?;
    dense_in(DENSE, shape, item_size, order, None)
}

/// Lays `shape` out densely; [`Order::Keep`] keeps the order of `like`.
#[inline(never)]
fn dense_in(
    operation: &'static str,
    shape: &[i64],
    item_size: NonZero<i64>,
    order: Order<'_>,
    like: Option<&StridedLayout>,
) -> Result<StridedLayout, LayoutError> {
    make_sound(operation, item_size, |axes| {
        axes.reserve(shape.len());
        // Without elements all strides stay 0, and no product can overflow.
        let mut step = if shape.contains(&0) { 0 } else { item_size.get() };
        let mut place = |(position, &extent): (usize, &i64)| {
            axes.set(position, Axis { extent, stride: step });
            step = multiply(operation, "size in bytes", step, extent)?;
            Ok(())
        };
        let mut in_order = shape.iter().enumerate();
        match order {
            Order::F => in_order.try_for_each(place)?,
            Order::C => in_order.rev().try_for_each(place)?,
            Order::Keep | Order::Axes(_) => {
                let order = order.resolve(operation, shape.len(), like)?;
                let fastest_first = order.as_slice().iter().rev();
                fastest_first
                    .filter_map(|&position| Some((position, shape.get(position)?)))
                    .try_for_each(&mut place)?;
            }
        }
        // As above.
        Ok(0)
    })
}

/// Checks that there may be as many axes, and that each has its stride.
fn check_lengths(
    operation: &'static str,
    shape: &[i64],
    strides: &[i64],
) -> Result<(), LayoutError> {
    // Invariant 1.
    check_ndim(operation, shape.len().max(strides.len()))?;
    if strides.len() != shape.len() {
        check_extents(operation, shape)?;
        let rule = LayoutRule::StridesLength { need: shape.len(), have: strides.len() };
        return Err(rule.refused_by(operation));
    }
    Ok(())
}
