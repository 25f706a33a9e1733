//! Touches memory: the bytes of copies, fills and checks.
//!
//! Unsafe, because what lies at an address is known by its owner only: for memory that the driver
//! allocated the registry says that it is there; for the rest the caller of the C function does.

#![expect(unsafe_code, reason = "copying bytes between addresses is what a driver does")]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Is a box of bytes in this process, at an address that may be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) base: usize,
    /// How far rows are apart.
    pub(crate) pitch: usize,
    /// How far slices are apart.
    pub(crate) slice: usize,
}

/// Is the extent of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes.
    pub(crate) width: usize,
    /// Rows.
    pub(crate) height: usize,
    /// Slices.
    pub(crate) depth: usize,
}

impl Extent {
    pub(crate) const fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }

    /// Returns how many bytes there are; callers have checked that the box lies in memory.
    pub(crate) const fn volume(&self) -> usize {
        self.width.saturating_mul(self.height).saturating_mul(self.depth)
    }

    /// Returns how many bytes there are from the first to the last of them in such rows; none if
    /// that is no number of bytes.
    pub(crate) fn span(&self, pitch: usize, slice: usize) -> Option<usize> {
        if self.is_empty() {
            return Some(0);
        }
        let slices = slice.checked_mul(self.depth - 1)?;
        let rows = pitch.checked_mul(self.height - 1)?;
        slices.checked_add(rows)?.checked_add(self.width)
    }
}

impl Rows {
    /// Makes the box that has no gaps.
    pub(crate) const fn dense(base: usize, extent: Extent) -> Self {
        Self { base, pitch: extent.width, slice: extent.width.saturating_mul(extent.height) }
    }

    /// Calls `each` with the address of each row, rows without gaps joined, and with its width.
    fn each(self, extent: Extent, other: Self, mut each: impl FnMut(usize, usize, usize)) {
        let Extent { width, height, depth } = extent;
        let (width, height) = if self.pitch == width && other.pitch == width {
            (width.saturating_mul(height), height.min(1))
        } else {
            (width, height)
        };
        for slice in 0..depth {
            for row in 0..height {
                let at = |rows: Self| {
                    rows.base
                        .wrapping_add(slice.wrapping_mul(rows.slice))
                        .wrapping_add(row.wrapping_mul(rows.pitch))
                };
                each(at(self), at(other), width);
            }
        }
    }
}

/// Copies a box. Overlapping rows are copied as if through a buffer.
///
/// # Safety
///
/// The bytes of both boxes are mapped, the destination's writable, and no Rust reference to them
/// lives that this would break.
pub(crate) unsafe fn copy(to: Rows, from: Rows, extent: Extent) {
    if extent.is_empty() {
        return;
    }
    to.each(extent, from, |to, from, width| {
        let from = std::ptr::with_exposed_provenance::<u8>(from);
        let to = std::ptr::with_exposed_provenance_mut::<u8>(to);
        // SAFETY: both rows lie in the boxes, of which the caller says that they are mapped.
        unsafe { std::ptr::copy(from, to, width) };
    });
}

/// Writes a pattern of 1, 2 or 4 bytes into each row of a box.
///
/// # Safety
///
/// The bytes of the box are mapped and writable, and no Rust reference to them lives.
pub(crate) unsafe fn fill(rows: Rows, extent: Extent, pattern: &[u8]) {
    if extent.is_empty() {
        return;
    }
    rows.each(extent, rows, |at, _, width| {
        let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
        // SAFETY: the row lies in the box, of which the caller says that it is mapped.
        let row = unsafe { std::slice::from_raw_parts_mut(at, width) };
        match pattern {
            [byte] => row.fill(*byte),
            _ => repeat(row, pattern),
        }
    });
}

/// How many bytes of a pattern are written at once: a part of the processor's cache.
const AT_ONCE: usize = 16 << 10;

/// Fills a row with a pattern: what is filled is copied behind itself, more each time.
fn repeat(row: &mut [u8], pattern: &[u8]) {
    let length = row.len();
    let mut filled = pattern.len().min(length);
    for (target, source) in row.iter_mut().zip(pattern) {
        *target = *source;
    }
    while filled < length && filled > 0 {
        let more = filled.min(length - filled).min(AT_ONCE);
        row.copy_within(..more, filled);
        filled += more;
    }
}

/// Returns a hash of the bytes of a box.
///
/// # Safety
///
/// The bytes of the box are mapped, and nobody writes them meanwhile.
pub(crate) unsafe fn hash(rows: Rows, extent: Extent) -> u64 {
    // Processors compute this one; a change of the bytes that it misses is one in 2³².
    let mut hash = 0;
    rows.each(extent, rows, |at, _, width| {
        let at = std::ptr::with_exposed_provenance::<u8>(at);
        // SAFETY: the row lies in the box, of which the caller says that it is mapped.
        hash = crc32c::crc32c_append(hash, unsafe { std::slice::from_raw_parts(at, width) });
    });
    hash.into()
}

/// Tells whether all bytes of a box have a value.
///
/// # Safety
///
/// The bytes of the box are mapped, and nobody writes them meanwhile.
pub(crate) unsafe fn is_filled(rows: Rows, extent: Extent, value: u8) -> bool {
    let mut is_filled = true;
    rows.each(extent, rows, |at, _, width| {
        let at = std::ptr::with_exposed_provenance::<u8>(at);
        // SAFETY: the row lies in the box, of which the caller says that it is mapped.
        let row = unsafe { std::slice::from_raw_parts(at, width) };
        // Each byte is the one before it: the C library compares the two, whatever the build.
        let (Some((&first, rest)), Some((_, front))) = (row.split_first(), row.split_last()) else {
            return;
        };
        is_filled &= first == value && rest == front;
    });
    is_filled
}

/// Copies a box into a dense buffer.
///
/// # Safety
///
/// The bytes of the box are mapped.
pub(crate) unsafe fn take(from: Rows, extent: Extent) -> Vec<u8> {
    let mut bytes = vec![0; extent.volume()];
    let to = Rows::dense(bytes.as_mut_ptr().expose_provenance(), extent);
    // SAFETY: the buffer has the box's volume, and the caller says that the box is mapped.
    unsafe { copy(to, from, extent) };
    bytes
}

/// Is a word that streams wait for and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Short(u32),
    Long(u64),
}

impl Word {
    /// Returns how many bytes it has.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Self::Short(_) => 4,
            Self::Long(_) => 8,
        }
    }

    /// Returns its number.
    pub(crate) const fn bits(self) -> u64 {
        match self {
            Self::Short(number) => number as u64,
            Self::Long(number) => number,
        }
    }
}

/// Is what is done to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Write,
    Add,
    And,
    Or,
}

/// Reads a word as long as `like`, at once.
///
/// # Safety
///
/// The word is mapped and lies at a multiple of its length.
pub(crate) unsafe fn load(at: usize, like: Word) -> Word {
    match like {
        Word::Short(_) => {
            let at = std::ptr::with_exposed_provenance_mut(at);
            // SAFETY: the caller says that the word is mapped and aligned.
            Word::Short(unsafe { AtomicU32::from_ptr(at) }.load(Ordering::Acquire))
        }
        Word::Long(_) => {
            let at = std::ptr::with_exposed_provenance_mut(at);
            // SAFETY: the caller says that the word is mapped and aligned.
            Word::Long(unsafe { AtomicU64::from_ptr(at) }.load(Ordering::Acquire))
        }
    }
}

/// Changes a word at once.
///
/// # Safety
///
/// The word is mapped, writable, and lies at a multiple of its length.
pub(crate) unsafe fn change(at: usize, word: Word, change: Change) {
    match word {
        Word::Short(value) => {
            let at = std::ptr::with_exposed_provenance_mut(at);
            // SAFETY: the caller says that the word is mapped, writable and aligned.
            let word = unsafe { AtomicU32::from_ptr(at) };
            match change {
                Change::Write => word.store(value, Ordering::Release),
                Change::Add => drop(word.fetch_add(value, Ordering::AcqRel)),
                Change::And => drop(word.fetch_and(value, Ordering::AcqRel)),
                Change::Or => drop(word.fetch_or(value, Ordering::AcqRel)),
            }
        }
        Word::Long(value) => {
            let at = std::ptr::with_exposed_provenance_mut(at);
            // SAFETY: the caller says that the word is mapped, writable and aligned.
            let word = unsafe { AtomicU64::from_ptr(at) };
            match change {
                Change::Write => word.store(value, Ordering::Release),
                Change::Add => drop(word.fetch_add(value, Ordering::AcqRel)),
                Change::And => drop(word.fetch_and(value, Ordering::AcqRel)),
                Change::Or => drop(word.fetch_or(value, Ordering::AcqRel)),
            }
        }
    }
}
