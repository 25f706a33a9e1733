//! A small layout in characters: the offset of every element, and what every byte belongs to.

use std::fmt;

use super::memory::{Memory, digits};
use crate::layout::StridedLayout;

/// The most elements in a row of the table.
const COLUMNS: i64 = 32;
/// The most elements.
const ELEMENTS: i64 = 512;

/// A layout small enough to be drawn in characters.
pub(super) struct Picture<'a> {
    layout: &'a StridedLayout,
    memory: Memory,
}

impl<'a> Picture<'a> {
    /// Answers `None` if the layout is too large.
    pub(super) fn of(layout: &'a StridedLayout) -> Option<Self> {
        let columns = layout.shape().last().copied().unwrap_or(1);
        let elements = layout.volume().unwrap_or(i64::MAX);
        if columns > COLUMNS || elements > ELEMENTS {
            return None;
        }
        Memory::of(layout).map(|memory| Self { layout, memory })
    }

    fn write_table(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.layout.shape();
        let columns = shape.last().copied().unwrap_or(1);
        let rows = shape.iter().rev().nth(1).copied().unwrap_or(1);
        let (lowest, highest) = self.layout.offset_bounds().unwrap_or((0, 0));
        let width = 1 + digits(lowest).max(digits(highest)).max(digits(columns - 1));
        let mut offsets = self.layout.offsets();
        for page in 0..self.layout.volume().unwrap_or(0) / (columns * rows).max(1) {
            writeln!(formatter)?;
            self.write_page_title(formatter, page)?;
            write!(formatter, "    ")?;
            for column in 0..columns {
                write!(formatter, "{column:width$}")?;
            }
            writeln!(formatter)?;
            for row in 0..rows {
                write!(formatter, "{row:3} ")?;
                for offset in offsets.by_ref().take(usize::try_from(columns).unwrap_or(0)) {
                    write!(formatter, "{offset:width$}")?;
                }
                writeln!(formatter)?;
            }
        }
        Ok(())
    }

    /// Writes the index that the axes before the last two have on a page.
    fn write_page_title(&self, formatter: &mut fmt::Formatter<'_>, page: i64) -> fmt::Result {
        let outer = self.layout.shape().len().saturating_sub(2);
        let extents = self.layout.shape().get(..outer).unwrap_or_default();
        if extents.is_empty() {
            return writeln!(formatter, "index to byte offset");
        }
        let mut index = Vec::new();
        let mut left = page;
        for &extent in extents.iter().rev() {
            index.push(left % extent);
            left /= extent;
        }
        write!(formatter, "index to byte offset at (")?;
        for at in index.iter().rev() {
            write!(formatter, "{at}, ")?;
        }
        writeln!(formatter, "..)")
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.layout)?;
        match self.layout.offset_bounds() {
            None => writeln!(formatter, "\nno elements"),
            Some(_) => {
                self.write_table(formatter)?;
                write!(formatter, "{}", self.memory)
            }
        }
    }
}
