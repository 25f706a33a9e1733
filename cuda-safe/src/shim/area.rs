//! Which bytes of an allocation: a box of rows, and what two boxes have in common. No driver.

/// Is a box of bytes in an allocation: `height` rows of `width` bytes, `pitch` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Area {
    start: usize,
    pitch: usize,
    width: usize,
    height: usize,
}

/// The most rows that are looked at one by one; beyond them two boxes of different pitches whose
/// bounds overlap count as overlapping.
const ROWS_SEARCHED: usize = 1 << 16;

impl Area {
    /// Has no bytes.
    pub const EMPTY: Self = Self { start: 0, pitch: 0, width: 0, height: 0 };

    /// Makes the area of `len` bytes from `start` on.
    pub const fn bytes(start: usize, len: usize) -> Self {
        if len == 0 { Self::EMPTY } else { Self { start, pitch: len, width: len, height: 1 } }
    }

    /// Makes the area of `height` rows of `width` bytes, `pitch` bytes apart.
    ///
    /// Rows without a gap are one run of bytes, and so are rows that reach into each other.
    pub const fn rows(start: usize, pitch: usize, width: usize, height: usize) -> Self {
        if width == 0 || height == 0 {
            return Self::EMPTY;
        }
        if height == 1 {
            return Self::bytes(start, width);
        }
        if pitch <= width {
            return Self::bytes(start, pitch.saturating_mul(height - 1).saturating_add(width));
        }
        Self { start, pitch, width, height }
    }

    /// Tells whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.height == 0
    }

    /// Returns the offset of its first byte.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// Returns the offset behind its last byte.
    pub const fn end(&self) -> usize {
        if self.is_empty() {
            return self.start;
        }
        let last = self.pitch.saturating_mul(self.height - 1);
        self.start.saturating_add(last).saturating_add(self.width)
    }

    /// Tells whether some byte belongs to both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.is_empty()
            || other.is_empty()
            || self.end() <= other.start
            || other.end() <= self.start
        {
            return false;
        }
        if self.height == 1 {
            return other.has_byte_in(self.start, self.end());
        }
        if other.height == 1 {
            return self.has_byte_in(other.start, other.end());
        }
        if self.pitch == other.pitch {
            return self.overlaps_same_pitch(other);
        }
        let (few, many) = if self.height <= other.height { (self, other) } else { (other, self) };
        if few.height > ROWS_SEARCHED {
            return true;
        }
        let mut row = few.start;
        for _ in 0..few.height {
            if many.has_byte_in(row, row.saturating_add(few.width)) {
                return true;
            }
            row = row.saturating_add(few.pitch);
        }
        false
    }

    /// Tells whether a row has a byte in `start..end`.
    const fn has_byte_in(&self, start: usize, end: usize) -> bool {
        // The first row that ends behind `start`.
        let behind = start.saturating_add(1).saturating_sub(self.start.saturating_add(self.width));
        let row = behind.div_ceil(self.pitch);
        row < self.height && self.start.saturating_add(row.saturating_mul(self.pitch)) < end
    }

    /// Compares boxes of one pitch: a row of one can only meet two neighbouring rows of the other.
    const fn overlaps_same_pitch(&self, other: &Self) -> bool {
        let (first, second) = if self.start <= other.start { (self, other) } else { (other, self) };
        let distance = second.start - first.start;
        let (row, column) = (distance / first.pitch, distance % first.pitch);
        // The second box begins in `row` of the first, behind `column` bytes.
        let in_row = row < first.height && column < first.width;
        let in_next = row + 1 < first.height && column + second.width > first.pitch;
        in_row || in_next
    }

    /// Tells whether every byte of `other` is known to belong to this one.
    pub const fn contains(&self, other: &Self) -> bool {
        if other.is_empty() {
            return true;
        }
        if self.is_empty() || other.start < self.start {
            return false;
        }
        if self.height == 1 {
            return other.end() <= self.end();
        }
        let distance = other.start - self.start;
        let (row, column) = (distance / self.pitch, distance % self.pitch);
        (other.height == 1 || other.pitch == self.pitch)
            && column.saturating_add(other.width) <= self.width
            && row.saturating_add(other.height) <= self.height
    }
}

#[cfg(test)]
mod tests;
