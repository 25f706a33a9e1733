//! A layout in one line, for people and for programmers.

use std::fmt;

use super::StridedLayout;

impl fmt::Display for StridedLayout {
    /// Writes shape and byte strides, the item size, and the byte offset unless it is 0.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let image = StridedLayout::from_byte_strides(&[300, 300, 3], &[2560, 3, 1], 1)?;
    /// assert_eq!(
    ///     image.with_byte_offset(256150)?.to_string(),
    ///     "(300, 300, 3):(2560, 3, 1) of 1-byte items from byte 256150",
    /// );
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(formatter, self.shape())?;
        formatter.write_str(":")?;
        write_list(formatter, self.byte_strides())?;
        write!(formatter, " of {}-byte items", self.item_size())?;
        if self.offset != 0 {
            write!(formatter, " from byte {}", self.offset)?;
        }
        Ok(())
    }
}

impl fmt::Debug for StridedLayout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StridedLayout")
            .field("shape", &self.shape())
            .field("byte_strides", &self.byte_strides())
            .field("byte_offset", &self.byte_offset())
            .field("item_size", &self.item_size())
            .finish()
    }
}

fn write_list(formatter: &mut fmt::Formatter<'_>, numbers: &[i64]) -> fmt::Result {
    formatter.write_str("(")?;
    for (position, number) in numbers.iter().enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(formatter, "{comma}{number}")?;
    }
    formatter.write_str(")")
}
