//! What a piece of work touches: boxes of bytes, not the ranges that bound them.

use std::fmt;

/// Is whether bytes are read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// They are read.
    Read,
    /// They are written, or cease to be.
    Write,
    /// They are read and written as one, by a kernel.
    Atomic,
}

impl AccessKind {
    /// Tells whether two accesses to the same bytes have to be ordered.
    pub(crate) const fn conflicts(self, other: Self) -> bool {
        !matches!((self, other), (Self::Read, Self::Read) | (Self::Atomic, Self::Atomic))
    }
}

/// Is a box of bytes: `height` rows of `width` bytes that begin `pitch` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessBox {
    /// The address of the first byte, as the driver's user knows it.
    pub base: u64,
    /// How far the rows are apart.
    pub pitch: u64,
    /// How many bytes each row has.
    pub width: u64,
    /// How many rows there are.
    pub height: u64,
}

impl AccessBox {
    /// Makes a box of one row.
    pub const fn linear(base: u64, width: u64) -> Self {
        Self { base, pitch: width, width, height: 1 }
    }

    /// Makes a box; rows without a gap between them are one.
    pub const fn rows(base: u64, pitch: u64, width: u64, height: u64) -> Self {
        if height <= 1 || pitch == width {
            return Self::linear(base, width.saturating_mul(height));
        }
        Self { base, pitch, width, height }
    }

    /// Returns the address behind the last byte.
    pub const fn end(&self) -> u64 {
        if self.is_empty() {
            return self.base;
        }
        let rows = self.pitch.saturating_mul(self.height.saturating_sub(1));
        self.base.saturating_add(rows).saturating_add(self.width)
    }

    /// Tells whether it has no byte.
    pub const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Tells whether it surely has all bytes of another.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.is_empty()
            || self == other
            || self.height == 1 && self.base <= other.base && other.end() <= self.end()
    }

    /// Tells whether both have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.is_empty() || other.is_empty() {
            return false;
        }
        if self.base >= other.end() || other.base >= self.end() {
            return false;
        }
        let (few, many) = if self.height <= other.height { (self, other) } else { (other, self) };
        (0..few.height).any(|row| {
            let start = few.base.saturating_add(row.saturating_mul(few.pitch));
            many.touches(start, start.saturating_add(few.width))
        })
    }

    /// Returns the boxes that its bytes from `start` up to, but not including, `end` make up.
    pub(crate) fn within(&self, start: u64, end: u64) -> Vec<Self> {
        if self.is_empty() || self.base >= end || self.end() <= start {
            return Vec::new();
        }
        if start <= self.base && self.end() <= end {
            return vec![*self];
        }
        let row = |row: u64| {
            let base = self.base.saturating_add(row.saturating_mul(self.pitch));
            let (from, to) = (base.max(start), base.saturating_add(self.width).min(end));
            Self::linear(from, to.saturating_sub(from))
        };
        // The rows that begin in the range; the one before them may reach into it.
        let (pitch, last) = (self.pitch.max(1), self.height - 1);
        let first = start.saturating_sub(self.base).div_ceil(pitch).min(self.height);
        let behind = end.saturating_sub(self.base).div_ceil(pitch).min(self.height);
        let mut parts: Vec<Self> = first.checked_sub(1).map(row).into_iter().collect();
        if let Some(whole) = behind.checked_sub(first).and_then(|rows| rows.checked_sub(1)) {
            let base = self.base.saturating_add(first.saturating_mul(self.pitch));
            parts.push(Self::rows(base, self.pitch, self.width, whole));
            parts.push(row((behind - 1).min(last)));
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// Tells whether a row has a byte from `start` up to, but not including, `end`.
    fn touches(&self, start: u64, end: u64) -> bool {
        if end <= self.base {
            return false;
        }
        if self.height == 1 || self.pitch == 0 {
            return start < self.base.saturating_add(self.width);
        }
        // The last row that begins before `end`; if it ends before `start`, so do all before it.
        let row = ((end - 1 - self.base) / self.pitch).min(self.height - 1);
        start < self.base.saturating_add(row * self.pitch).saturating_add(self.width)
    }
}

impl fmt::Display for AccessBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base, pitch, width, height } = self;
        if *height == 1 {
            return write!(f, "{width} bytes at {base:#x}");
        }
        write!(f, "{height} rows of {width} bytes, {pitch} apart, at {base:#x}")
    }
}

impl fmt::Debug for AccessBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::AccessBox;

    fn bytes(area: &AccessBox) -> HashSet<u64> {
        (0..area.height)
            .flat_map(|row| (0..area.width).map(move |byte| area.base + row * area.pitch + byte))
            .collect()
    }

    #[test]
    fn overlap_is_that_of_the_bytes() {
        let mut boxes = Vec::new();
        for base in [10, 11, 13, 17, 24] {
            for (pitch, width) in [(1, 1), (4, 2), (5, 3), (7, 1), (7, 7), (9, 4)] {
                for height in [0, 1, 2, 5] {
                    boxes.push(AccessBox { base, pitch, width, height });
                }
            }
        }
        for left in &boxes {
            for right in &boxes {
                let common = !bytes(left).is_disjoint(&bytes(right));
                assert_eq!(left.overlaps(right), common, "{left} and {right}");
            }
        }
    }

    #[test]
    fn the_part_within_a_range_has_its_bytes() {
        for (pitch, width, height) in [(7, 7, 1), (4, 2, 5), (9, 4, 3), (5, 5, 4)] {
            let area = AccessBox { base: 20, pitch, width, height };
            for start in 15..60 {
                for end in start..60 {
                    let mut found: Vec<u64> =
                        area.within(start, end).iter().flat_map(bytes).collect();
                    found.sort_unstable();
                    let mut expected: Vec<u64> = bytes(&area).into_iter().collect();
                    expected.retain(|byte| (start..end).contains(byte));
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{area} within {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn two_halves_of_each_row_are_disjoint() {
        let left = AccessBox::rows(0x1000, 2560, 1280, 576);
        let right = AccessBox::rows(0x1000 + 1280, 2560, 1280, 576);
        assert!(!left.overlaps(&right));
        assert!(left.overlaps(&AccessBox::rows(0x1000 + 1279, 2560, 1280, 576)));
    }
}
