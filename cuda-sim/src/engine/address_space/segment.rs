//! Segments: runs of blocks that are mapped together, and the allocations in them.

use std::collections::BTreeMap;

use super::ALIGNMENT;
use crate::engine::handle::Handle;
use crate::engine::mapping::BLOCK;

/// Up to this size an allocation shares its block with others (measured of a byte more than a
/// mebibyte).
pub(super) const SHARED: u64 = BLOCK as u64 - ALIGNMENT;

/// Is what a segment's memory is for. Memory of different purposes shares no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Plain,
    /// It is a memory pool's.
    Pool(Handle),
    /// A module's variables.
    Variable,
    Imported,
    Array,
}

/// Is a run of blocks that are mapped together.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) blocks: usize,
    pub(crate) device: usize,
    pub(crate) purpose: Purpose,
    /// Grows each time that memory is mapped at these addresses.
    pub(crate) generation: u32,
    /// Where in its file the memory begins.
    pub(crate) at: u64,
    /// The allocations: sizes by offset.
    pub(super) parts: BTreeMap<u64, u64>,
    /// From this offset on no byte was ever handed out.
    pub(super) fresh: u64,
}

impl Segment {
    /// Returns how many bytes it has.
    pub(crate) const fn bytes(&self) -> u64 {
        (self.blocks * BLOCK) as u64
    }

    /// Takes the lowest gap of that size. Outside of pools, only small allocations share a block.
    pub(super) fn place(&mut self, size: u64) -> Option<u64> {
        let is_pool = matches!(self.purpose, Purpose::Pool(_));
        let is_shared = self.blocks == 1 && self.parts.values().all(|&part| part <= SHARED);
        if !(is_pool || is_shared && size <= SHARED) {
            return None;
        }
        let mut start = 0;
        for (&offset, &part) in &self.parts {
            if offset - start >= size {
                break;
            }
            start = offset + part;
        }
        (start + size <= self.bytes()).then(|| {
            self.parts.insert(start, size);
            start
        })
    }

    /// Cuts an allocation after `size` bytes in two, if it is longer.
    pub(super) fn split(&mut self, offset: u64, size: u64) {
        if let Some(part) = self.parts.get_mut(&offset)
            && *part > size
        {
            let rest = *part - size;
            *part = size;
            self.parts.insert(offset + size, rest);
        }
    }
}
