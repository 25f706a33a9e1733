//! Makes layouts: from strides, dense in any order, dense like another.

use std::num::NonZero;

use super::arithmetic::multiply;
use super::{
    Axis, Items, LayoutError, LayoutRule, Order, StridedLayout, check_extents, check_item_size,
    check_ndim, make, make_sound,
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
        let operation = "dense";
        if order == Order::Keep {
            let need = "C, F or a list of axes";
            return Err(LayoutRule::OrderUnknown { need, have: 'K' }.refused_by(operation));
        }
        check_ndim(operation, shape.len())?;
        check_extents(operation, shape)?;
        let item_size = check_item_size(operation, item_size)?;
        dense_in(operation, shape, item_size, order, None)
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
        dense_in(operation, other.shape(), other.item_size, order, Some(other))
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

/// Lays `shape` out densely; [`Order::Keep`] keeps the order of `like`.
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
            Order::Keep if like.is_none_or(StridedLayout::is_slowest_first) => {
                in_order.rev().try_for_each(place)?;
            }
            Order::Keep | Order::Axes(_) => {
                let order = order.resolve(operation, shape.len(), like)?;
                let fastest_first = order.as_slice().iter().rev();
                fastest_first
                    .filter_map(|&position| Some((position, shape.get(position)?)))
                    .try_for_each(&mut place)?;
            }
        }
        // Invariants 4 and 5: the size in bytes fits, and all begins at 0.
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
