//! What a layout says of itself without looking at more than one axis at a time.

use super::arithmetic::{add, volume_of};
use super::{LayoutError, LayoutRule, PerAxis, StridedLayout};

impl StridedLayout {
    /// Returns the number of axes.
    #[must_use]
    #[inline]
    pub fn ndim(&self) -> usize {
        self.axes.len()
    }

    /// Returns the extents in elements.
    #[must_use]
    #[inline]
    pub fn shape(&self) -> &[i64] {
        self.axes.shape()
    }

    /// Returns the strides in bytes.
    ///
    /// Strides of axes of extent 0 or 1, and all strides of an empty layout, mean nothing.
    #[must_use]
    #[inline]
    pub fn byte_strides(&self) -> &[i64] {
        self.axes.strides()
    }

    /// Returns the strides in elements, or `None` if one that matters isn't a whole number.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let pixels = StridedLayout::from_byte_strides(&[576, 768], &[2560, 3], 3)?;
    /// assert_eq!(pixels.element_strides(), None);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn element_strides(&self) -> Option<PerAxis> {
        let empty = self.is_empty();
        let mut whole = true;
        let strides = PerAxis::build(self.ndim(), |position| {
            let axis = self.axes.get(position);
            // Invariant 3: the divisor is positive.
            let stride = axis.stride / self.item_size();
            whole &= empty || !axis.counts() || stride * self.item_size() == axis.stride;
            stride
        });
        whole.then_some(strides)
    }

    /// Returns the offset in bytes of the element whose index is all zeros.
    #[must_use]
    #[inline]
    pub fn byte_offset(&self) -> i64 {
        self.offset
    }

    /// Returns the offset in elements, or `None` if it isn't a whole number.
    #[must_use]
    pub fn element_offset(&self) -> Option<i64> {
        (self.offset % self.item_size() == 0).then_some(self.offset / self.item_size())
    }

    /// Returns the size of an item in bytes.
    #[must_use]
    #[inline]
    pub fn item_size(&self) -> i64 {
        self.item_size.get()
    }

    /// Says whether there are no elements.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.axes.ask(|shape, _| shape.iter().fold(false, |empty, &extent| empty | (extent == 0)))
    }

    /// Returns the number of elements: 1 without axes, 0 if an extent is 0.
    ///
    /// # Errors
    ///
    /// Refuses a number that doesn't fit 64 bits, possible only with broadcast axes.
    pub fn volume(&self) -> Result<i64, LayoutError> {
        self.axes.ask(|shape, _| volume_of("volume", shape))
    }

    /// Returns the lowest and the highest byte offset of an element, or `None` without elements.
    #[must_use]
    pub fn offset_bounds(&self) -> Option<(i64, i64)> {
        let (mut lowest, mut highest, mut empty) = (self.offset, self.offset, false);
        for axis in self.axes.iter() {
            // Invariant 4: both are offsets of elements, and so is every sum on the way, or the
            // layout is empty and they are never used.
            let reach = axis.reach();
            lowest = lowest.wrapping_add(reach.min(0));
            highest = highest.wrapping_add(reach.max(0));
            empty |= axis.extent == 0;
        }
        (!empty).then_some((lowest, highest))
    }

    /// Returns the offsets of the first and the last byte of all elements, or `None` without any.
    #[must_use]
    pub fn byte_bounds(&self) -> Option<(i64, i64)> {
        // Invariant 4: the last byte has an offset.
        self.offset_bounds().map(|(lowest, highest)| (lowest, highest + (self.item_size() - 1)))
    }

    /// Returns the bytes needed from the start of the memory to the end of the last element.
    ///
    /// The offset is part of it; an empty layout needs none.
    ///
    /// # Errors
    ///
    /// Refuses a layout that reaches before the start of the memory, and a size of 2^63 bytes.
    pub fn required_size(&self) -> Result<i64, LayoutError> {
        let operation = "required_size";
        match self.byte_bounds() {
            None => Ok(0),
            Some((first, _)) if first < 0 => {
                Err(LayoutRule::NegativeOffset { have: first }.refused_by(operation))
            }
            Some((_, last)) => add(operation, "size in bytes", last, 1),
        }
    }

    /// Returns the byte offset of the element at `index`, one number per axis.
    ///
    /// Negative numbers count from the end of their axis.
    ///
    /// # Errors
    ///
    /// Refuses another number of numbers than of axes, and one that is outside its axis.
    pub fn offset_of(&self, index: &[i64]) -> Result<i64, LayoutError> {
        let operation = "offset_of";
        if index.len() != self.ndim() {
            let (need, have) = (self.ndim(), index.len());
            return Err(
                LayoutRule::OnePerAxis { operand: "index", need, have }.refused_by(operation)
            );
        }
        let mut offset = self.offset;
        for (position, (axis, &have)) in self.axes.iter().zip(index).enumerate() {
            offset += axis.distance(operation, position, have)?;
        }
        Ok(offset)
    }
}
