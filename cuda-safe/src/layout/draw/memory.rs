//! What every byte of a small layout belongs to, in lines of characters.

use std::collections::BTreeMap;
use std::fmt;

use crate::layout::StridedLayout;

/// The most bytes drawn in a line, and the most bytes of an item.
const WIDTH: i64 = 96;
/// The most lines.
const LINES: usize = 64;

/// The bytes of a layout in lines of equal length, of which the used columns are drawn.
pub(super) struct Memory {
    /// Bytes from the start of a line to the start of the next.
    line: i64,
    first_column: i64,
    columns: i64,
    /// Lines in use, by number from byte 0.
    lines: BTreeMap<i64, Vec<Mark>>,
}

impl Memory {
    /// Takes the longest stride as the length of a line with which the picture is small enough.
    pub(super) fn of(layout: &StridedLayout) -> Option<Self> {
        let Some((first, last)) = layout.byte_bounds() else {
            return Some(Self { line: 1, first_column: 0, columns: 0, lines: BTreeMap::new() });
        };
        if layout.item_size() > WIDTH {
            return None;
        }
        let mut strides: Vec<i64> = layout
            .counting_axes()
            .map(|axis| axis.stride.saturating_abs())
            .filter(|&stride| stride > layout.item_size())
            .collect();
        if layout.counting_axes().count() < 2 {
            strides.clear();
        }
        strides.sort_unstable_by_key(|&stride| std::cmp::Reverse(stride));
        let one_line = last.checked_sub(first).filter(|&span| first >= 0 && span < WIDTH);
        let candidates = strides.into_iter().chain(one_line.map(|_| last + 1)).chain([64]);
        candidates.into_iter().find_map(|line| Self::in_lines(layout, line))
    }

    /// Answers `None` if lines of this length are too many or too wide.
    fn in_lines(layout: &StridedLayout, line: i64) -> Option<Self> {
        let bytes = || {
            layout.offsets().flat_map(|offset| {
                // Invariant 4: every byte has an offset.
                (0..layout.item_size()).map(move |byte| (offset + byte, byte))
            })
        };
        let column = |byte: i64| byte.rem_euclid(line);
        let (first_column, columns) = if line <= WIDTH {
            (0, line)
        } else {
            let lowest = bytes().map(|(byte, _)| column(byte)).min()?;
            let highest = bytes().map(|(byte, _)| column(byte)).max()?;
            (lowest, highest - lowest + 1)
        };
        if columns > WIDTH {
            return None;
        }
        let width = usize::try_from(columns).ok()?;
        let mut lines: BTreeMap<i64, Vec<Mark>> = BTreeMap::new();
        for (byte, in_item) in bytes() {
            let marks =
                lines.entry(byte.div_euclid(line)).or_insert_with(|| vec![Mark::Unused; width]);
            let position = usize::try_from(column(byte) - first_column).ok()?;
            let mark = marks.get_mut(position)?;
            *mark = match (*mark, in_item) {
                (Mark::Unused, 0) => Mark::First,
                (Mark::Unused, _) => Mark::Rest,
                _ => Mark::Shared,
            };
        }
        (lines.len() <= LINES).then_some(Self { line, first_column, columns, lines })
    }

    fn has(&self, mark: Mark) -> bool {
        self.lines.values().any(|marks| marks.contains(&mark))
    }

    fn write_title(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element = if self.has(Mark::Rest) { "█▓" } else { "█" };
        write!(formatter, "\none character a byte: {element} an element")?;
        if self.has(Mark::Unused) {
            write!(formatter, ", · unused")?;
        }
        if self.has(Mark::Shared) {
            write!(formatter, ", ╳ shared by elements")?;
        }
        let left_out = self.line - self.columns;
        if left_out > 0 && self.lines.len() > 1 {
            write!(formatter, "; {left_out} unused bytes after each line left out")?;
        }
        writeln!(formatter)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_title(formatter)?;
        // A line in use starts less than its length before a byte that has an offset.
        let start = |line: i64| line.saturating_mul(self.line).saturating_add(self.first_column);
        let width = self.lines.keys().map(|&line| digits(start(line))).max().unwrap_or(0).max(4);
        let mut previous = None;
        for (&number, marks) in &self.lines {
            if previous.is_some_and(|previous| previous + 1 < number) {
                writeln!(formatter, "{:>width$}", "⋮")?;
            }
            previous = Some(number);
            write!(formatter, "{:width$} ", start(number))?;
            for mark in marks {
                formatter.write_str(mark.character())?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

/// What a byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unused,
    First,
    Rest,
    Shared,
}

impl Mark {
    fn character(self) -> &'static str {
        match self {
            Self::Unused => "·",
            Self::First => "█",
            Self::Rest => "▓",
            Self::Shared => "╳",
        }
    }
}

pub(super) fn digits(number: i64) -> usize {
    number.to_string().len()
}
