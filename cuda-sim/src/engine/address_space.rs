//! Device memory: blocks of 2 MiB, each a file in memory, and allocations in them.
//!
//! Small allocations share a block and lie back to back; a freed address is handed out again
//! (both measured). What an allocation is used for is in `registry`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use cuda_sys::CUresult;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::driver::ipc::directory::{Directory, Entry};
use crate::engine::mapping::{BLOCK, Reservation};

/// Allocations begin at multiples of this (*manual*: at least 256).
const ALIGNMENT: u64 = 512;

/// Up to this size an allocation shares its block with others.
const SHARED: u64 = 1 << 20;

/// Is what a segment's memory is for. Memory of different purposes shares no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Plain,
    Pool,
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
    /// The allocations: sizes by offset.
    parts: BTreeMap<u64, u64>,
    /// From this offset on no byte was ever handed out.
    fresh: u64,
    /// Keeps the memory reachable for other processes.
    _file: Option<OwnedFd>,
}

/// Is the address space of all devices.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    pub(crate) reservation: Reservation,
    /// By their first block.
    segments: BTreeMap<usize, Segment>,
    generations: HashMap<usize, u32>,
    directory: Directory,
}

impl AddressSpace {
    pub(crate) fn new(bytes: u64) -> io::Result<Self> {
        let reservation = Reservation::new(usize::try_from(bytes).unwrap_or(usize::MAX / 4))?;
        let directory = Directory::create()?;
        Ok(Self { reservation, segments: BTreeMap::new(), generations: HashMap::new(), directory })
    }

    /// Returns how many bytes of a device are mapped.
    pub(crate) fn used(&self, device: usize) -> u64 {
        let mine = self.segments.values().filter(|segment| segment.device == device);
        mine.filter(|segment| segment.purpose != Purpose::Imported)
            .map(|segment| (segment.blocks * BLOCK) as u64)
            .sum()
    }

    /// Tells whether an address is a device's, allocated or not.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.reservation.block(address).is_some()
    }

    /// Finds room for `size` bytes; `limit` is how many the device has. Returns the address, and from
    /// which address on no byte was handed out before.
    pub(crate) fn allocate(
        &mut self,
        device: usize,
        purpose: Purpose,
        size: u64,
        limit: u64,
    ) -> Result<(u64, u64), CUresult> {
        let size = size.checked_next_multiple_of(ALIGNMENT).ok_or(OUT_OF_MEMORY)?;
        if size <= SHARED {
            for (&first, segment) in &mut self.segments {
                if segment.device == device
                    && segment.purpose == purpose
                    && let Some(offset) = segment.place(size)
                {
                    let start = self.reservation.address(first);
                    let fresh = start + segment.fresh;
                    segment.fresh = segment.fresh.max(offset + size);
                    return Ok((start + offset, fresh));
                }
            }
        }
        let blocks = usize::try_from(size.div_ceil(BLOCK as u64)).map_err(|_| OUT_OF_MEMORY)?;
        let bytes = blocks.checked_mul(BLOCK).ok_or(OUT_OF_MEMORY)? as u64;
        if self.used(device).checked_add(bytes).is_none_or(|used| used > limit) {
            return Err(OUT_OF_MEMORY);
        }
        let first = self.free_run(blocks).ok_or(OUT_OF_MEMORY)?;
        let generation = self.generations.get(&first).map_or(0x32, |last| last.wrapping_add(1));
        let name = block_name(first, generation);
        let file = memfd_create(name, MemfdFlags::CLOEXEC).map_err(|_| OUT_OF_MEMORY)?;
        ftruncate(&file, bytes).map_err(|_| OUT_OF_MEMORY)?;
        self.reservation.map(first, blocks, file.as_fd()).map_err(|_| OUT_OF_MEMORY)?;
        if purpose == Purpose::Plain {
            let entry = Entry { file: file.as_raw_fd(), generation, blocks };
            self.directory.write(first, Some(entry)).map_err(|_| OUT_OF_MEMORY)?;
        }
        self.generations.insert(first, generation);
        let parts = BTreeMap::from([(0, size)]);
        let segment =
            Segment { blocks, device, purpose, generation, parts, fresh: size, _file: Some(file) };
        self.segments.insert(first, segment);
        let start = self.reservation.address(first);
        Ok((start, start))
    }

    /// Maps another process's memory, and returns where it begins.
    pub(crate) fn import(
        &mut self,
        device: usize,
        file: &OwnedFd,
        blocks: usize,
        generation: u32,
    ) -> Result<u64, CUresult> {
        let first = self.free_run(blocks).ok_or(OUT_OF_MEMORY)?;
        self.reservation
            .map(first, blocks, file.as_fd())
            .map_err(|_| CUresult::CUDA_ERROR_MAP_FAILED)?;
        let segment = Segment {
            blocks,
            device,
            purpose: Purpose::Imported,
            generation,
            parts: BTreeMap::new(),
            fresh: 0,
            _file: None,
        };
        self.segments.insert(first, segment);
        Ok(self.reservation.address(first))
    }

    /// Gives an allocation back; the last of a segment unmaps it.
    pub(crate) fn free(&mut self, address: u64) {
        let Some((first, offset)) = self.locate(address) else { return };
        let Some(segment) = self.segments.get_mut(&first) else { return };
        segment.parts.remove(&offset);
        if segment.parts.is_empty() {
            self.unmap(first);
        }
    }

    /// Unmaps what [`import`](Self::import) mapped.
    pub(crate) fn unmap_import(&mut self, address: u64) {
        if let Some((first, _)) = self.locate(address) {
            self.unmap(first);
        }
    }

    /// Returns the segment of an address: its first block, the address's offset in it, and itself.
    pub(crate) fn segment(&self, address: u64) -> Option<(usize, u64, &Segment)> {
        let (first, offset) = self.locate(address)?;
        Some((first, offset, self.segments.get(&first)?))
    }

    fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let block = self.reservation.block(address)?;
        let (&first, segment) = self.segments.range(..=block).next_back()?;
        (block < first + segment.blocks).then(|| (first, address - self.reservation.address(first)))
    }

    fn unmap(&mut self, first: usize) {
        let Some(segment) = self.segments.remove(&first) else { return };
        // Neither fails for a range that is mapped; if one does, the addresses stay unused.
        let _ = self.directory.write(first, None);
        let _ = self.reservation.unmap(first, segment.blocks);
    }

    fn free_run(&self, blocks: usize) -> Option<usize> {
        let mut start = 0;
        for (&first, segment) in &self.segments {
            if first - start >= blocks {
                return Some(start);
            }
            start = first + segment.blocks;
        }
        (self.reservation.blocks() - start >= blocks).then_some(start)
    }
}

impl Segment {
    /// Finds the lowest gap of that size in a block that several allocations share.
    fn place(&mut self, size: u64) -> Option<u64> {
        if self.blocks != 1 || self.parts.values().any(|&part| part > SHARED) {
            return None;
        }
        let mut start = 0;
        for (&offset, &part) in &self.parts {
            if offset - start >= size {
                break;
            }
            start = offset + part;
        }
        (start + size <= BLOCK as u64).then(|| {
            self.parts.insert(start, size);
            start
        })
    }
}

/// Returns the name of the file of a segment's memory.
pub(crate) fn block_name(first: usize, generation: u32) -> String {
    format!("cuda-sim:block:{first}:{generation}")
}

const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

#[cfg(test)]
mod tests {
    use super::{AddressSpace, BLOCK, Purpose};

    #[test]
    fn small_allocations_lie_back_to_back_and_a_freed_address_comes_again() {
        let mut space = AddressSpace::new(1 << 30).unwrap();
        let mut get = |size| space.allocate(0, Purpose::Plain, size, 1 << 30).unwrap().0;
        let (first, second, third) = (get(4096), get(4096), get(100));
        assert_eq!([second - first, third - second], [4096, 4096]);
        let large = get(3 << 20);
        assert_eq!(large - first, BLOCK as u64);
        space.free(second);
        let again = space.allocate(0, Purpose::Plain, 4000, 1 << 30);
        assert_eq!(again, Ok((second, third + 512)));
        let (pool, fresh) = space.allocate(0, Purpose::Pool, 4000, 1 << 30).unwrap();
        assert_eq!([pool, fresh], [large + 2 * BLOCK as u64; 2]);
        assert_eq!(space.used(0), 4 * BLOCK as u64);
        space.free(large);
        assert_eq!(space.used(0), 2 * BLOCK as u64);
        assert!(space.allocate(0, Purpose::Plain, 1 << 30, 1 << 30).is_err());
    }
}
