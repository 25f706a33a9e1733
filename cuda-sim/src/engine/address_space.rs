//! Device memory: blocks of 2 MiB of files in memory, and allocations in them.
//!
//! Small allocations share a block and lie back to back; a freed address is handed out again
//! (both measured). What an allocation is used for is in `registry`.

pub(crate) mod memory_file;
pub(crate) mod pins;
mod segment;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use cuda_sys::CUresult;

use crate::driver::ipc::directory::{self, Directory, Entry};
use crate::engine::handle::Handle;
use crate::engine::mapping::{BLOCK, Reservation};
use memory_file::MemoryFile;
use pins::Identity;
pub(crate) use segment::{Purpose, Segment};

/// Allocations begin at multiples of this (measured).
pub(crate) const ALIGNMENT: u64 = 512;

/// Pools grow by multiples of this (measured).
pub(crate) const POOL_GROWTH: u64 = 32 << 20;

/// Is the address space of all devices.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    pub(crate) reservation: Reservation,
    /// How many blocks are taken from each block on, mapped or not.
    taken: BTreeMap<usize, usize>,
    /// By their first block.
    segments: BTreeMap<usize, Segment>,
    generations: HashMap<usize, u32>,
    directory: Directory,
    /// The bytes of all memory that has no file of its own.
    pub(crate) common: MemoryFile,
    /// The files of pools that other processes can import.
    pub(crate) pool_files: HashMap<Handle, MemoryFile>,
    /// How many bytes of each device are in use.
    used: HashMap<usize, u64>,
}

impl AddressSpace {
    pub(crate) fn new(bytes: u64) -> io::Result<Self> {
        let process = std::process::id();
        let owner = pins::owner(process).ok_or(io::ErrorKind::Unsupported)?;
        let identity = Identity { owner, number: 0, device: 0 };
        Ok(Self {
            reservation: Reservation::new(usize::try_from(bytes).unwrap_or(usize::MAX / 4))?,
            taken: BTreeMap::new(),
            segments: BTreeMap::new(),
            generations: HashMap::new(),
            directory: Directory::create()?,
            common: MemoryFile::create(&directory::memory_name(process), identity)?,
            pool_files: HashMap::new(),
            used: HashMap::new(),
        })
    }

    /// Returns how many bytes of a device are in use.
    pub(crate) fn used(&self, device: usize) -> u64 {
        self.used.get(&device).copied().unwrap_or(0)
    }

    /// Takes bytes from those that a device has.
    pub(crate) fn charge(&mut self, device: usize, bytes: u64, limit: u64) -> Result<(), CUresult> {
        let used = self.used.entry(device).or_default();
        match used.checked_add(bytes).filter(|&used| used <= limit) {
            Some(sum) => {
                *used = sum;
                Ok(())
            }
            None => Err(OUT_OF_MEMORY),
        }
    }

    /// Gives bytes of a device back.
    pub(crate) fn discharge(&mut self, device: usize, bytes: u64) {
        if let Some(used) = self.used.get_mut(&device) {
            *used = used.saturating_sub(bytes);
        }
    }

    /// Tells whether an address is a device's, allocated or not.
    pub(crate) fn contains(&self, address: u64) -> bool {
        self.reservation.block(address).is_some()
    }

    /// Returns where in this process the byte of an address lies, a device's or the host's.
    pub(crate) fn in_this_process(&self, address: u64) -> Option<usize> {
        if self.contains(address) {
            return Some(self.reservation.shadow(address));
        }
        usize::try_from(address).ok()
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
        let bytes = size.checked_next_multiple_of(BLOCK as u64).ok_or(OUT_OF_MEMORY)?;
        let grown = match purpose {
            Purpose::Pool(_) => size.checked_next_multiple_of(POOL_GROWTH).ok_or(OUT_OF_MEMORY)?,
            _ => bytes,
        };
        // A device with less left gives what the allocation needs.
        let left = limit.saturating_sub(self.used(device));
        let bytes = if grown <= left { grown } else { bytes };
        self.charge(device, bytes, limit)?;
        let start = self.grow(device, purpose, size, bytes).map_err(|_| {
            self.discharge(device, bytes);
            OUT_OF_MEMORY
        })?;
        Ok((start, start))
    }

    /// Maps a new segment, of which `size` bytes are an allocation.
    fn grow(&mut self, device: usize, purpose: Purpose, size: u64, bytes: u64) -> io::Result<u64> {
        let none = io::ErrorKind::OutOfMemory;
        let blocks = usize::try_from(bytes / BLOCK as u64).map_err(|_| none)?;
        let first = self.free_run(blocks, 1).ok_or(none)?;
        let generation = self.generations.get(&first).map_or(0x32, |last| last.wrapping_add(1));
        let file = match purpose {
            Purpose::Pool(pool) => self.pool_files.get_mut(&pool).unwrap_or(&mut self.common),
            Purpose::Plain | Purpose::Variable | Purpose::Array | Purpose::Imported => {
                &mut self.common
            }
        };
        let at = file.extend(bytes)?;
        self.reservation.map(first, blocks, file.as_fd(), at)?;
        if purpose == Purpose::Plain {
            self.directory.write(first, Some(Entry { at, generation, blocks }))?;
        }
        self.generations.insert(first, generation);
        let parts = BTreeMap::from([(0, size)]);
        let segment = Segment { blocks, device, purpose, generation, at, parts, fresh: size };
        self.segments.insert(first, segment);
        self.taken.insert(first, blocks);
        Ok(self.reservation.address(first))
    }

    /// Maps another process's memory, and returns where it begins.
    pub(crate) fn import(
        &mut self,
        device: usize,
        file: BorrowedFd<'_>,
        at: u64,
        blocks: usize,
        generation: u32,
    ) -> Result<u64, CUresult> {
        let first = self.free_run(blocks, 1).ok_or(OUT_OF_MEMORY)?;
        let mapped = self.reservation.map(first, blocks, file, at);
        mapped.map_err(|_| CUresult::CUDA_ERROR_MAP_FAILED)?;
        let (purpose, parts) = (Purpose::Imported, BTreeMap::new());
        let segment = Segment { blocks, device, purpose, generation, at, parts, fresh: 0 };
        self.segments.insert(first, segment);
        self.taken.insert(first, blocks);
        Ok(self.reservation.address(first))
    }

    /// Gives an allocation back; the last of a segment unmaps it, except in a pool.
    pub(crate) fn free(&mut self, address: u64) {
        let Some((first, offset)) = self.locate(address) else { return };
        let Some(segment) = self.segments.get_mut(&first) else { return };
        segment.parts.remove(&offset);
        if segment.parts.is_empty() && !matches!(segment.purpose, Purpose::Pool(_)) {
            self.unmap(first);
        }
    }

    /// Cuts an allocation after `size` bytes in two, if it is longer.
    pub(crate) fn split(&mut self, address: u64, size: u64) {
        if let Some((first, offset)) = self.locate(address)
            && let Some(segment) = self.segments.get_mut(&first)
        {
            segment.split(offset, size);
        }
    }

    /// Returns how many bytes are mapped for a pool.
    pub(crate) fn reserved(&self, pool: Handle) -> u64 {
        let purpose = Purpose::Pool(pool);
        self.segments.values().filter(|its| its.purpose == purpose).map(Segment::bytes).sum()
    }

    /// Unmaps segments of a pool that hold no allocation, until no more than `keep` bytes are left.
    pub(crate) fn trim(&mut self, pool: Handle, keep: u64) {
        let mut left = self.reserved(pool);
        let empty: Vec<_> = self
            .segments
            .iter()
            .filter(|(_, its)| its.purpose == Purpose::Pool(pool) && its.parts.is_empty())
            .map(|(&first, its)| (first, its.bytes()))
            .collect();
        for (first, bytes) in empty.into_iter().rev() {
            if left <= keep {
                break;
            }
            self.unmap(first);
            left -= bytes;
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

    /// Returns the process that has a byte of an allocation mapped, if another one has.
    pub(crate) fn holder(&self, address: u64, size: u64) -> Option<u32> {
        let (_, offset, segment) = self.segment(address)?;
        self.file(segment.purpose)?.pins.holder(segment.at + offset, size)
    }

    fn file(&self, purpose: Purpose) -> Option<&MemoryFile> {
        match purpose {
            Purpose::Plain | Purpose::Variable | Purpose::Array => Some(&self.common),
            Purpose::Pool(pool) => self.pool_files.get(&pool).or(Some(&self.common)),
            Purpose::Imported => None,
        }
    }

    fn locate(&self, address: u64) -> Option<(usize, u64)> {
        let block = self.reservation.block(address)?;
        let (&first, segment) = self.segments.range(..=block).next_back()?;
        (block < first + segment.blocks).then(|| (first, address - self.reservation.address(first)))
    }

    fn unmap(&mut self, first: usize) {
        let Some(segment) = self.segments.remove(&first) else { return };
        let (at, bytes) = (segment.at, segment.bytes());
        // Neither fails for a range that is mapped; if one does, the addresses stay unused.
        let _ = self.directory.write(first, None);
        self.leave(first, segment.blocks);
        match segment.purpose {
            Purpose::Imported => return,
            Purpose::Plain | Purpose::Variable | Purpose::Array => {
                self.common.give_back(at, bytes);
            }
            Purpose::Pool(pool) => {
                let file = self.pool_files.get_mut(&pool).unwrap_or(&mut self.common);
                file.give_back(at, bytes);
            }
        }
        self.discharge(segment.device, bytes);
    }

    /// Unmaps a run of blocks, and lets them be handed out again.
    fn leave(&mut self, first: usize, blocks: usize) {
        let _ = self.reservation.unmap(first, blocks);
        self.taken.remove(&first);
    }

    /// Reserves addresses, at `hint` if they are free there; else so that they begin at a multiple of
    /// so many blocks.
    pub(crate) fn reserve(&mut self, bytes: u64, alignment: u64, hint: u64) -> Option<u64> {
        let blocks = usize::try_from(bytes / BLOCK as u64).ok()?;
        let alignment = usize::try_from(alignment).ok()?;
        let wanted = self.reservation.block(hint).filter(|&first| {
            self.reservation.address(first) == hint
                && self.reservation.aligned(first, alignment) == Some(first)
                && self.is_free(first, blocks)
        });
        let first = wanted.or_else(|| self.free_run(blocks, alignment))?;
        self.taken.insert(first, blocks);
        Some(self.reservation.address(first))
    }

    /// Gives back what [`reserve`](Self::reserve) reserved.
    pub(crate) fn unreserve(&mut self, address: u64) {
        if let Some(first) = self.reservation.block(address) {
            self.taken.remove(&first);
        }
    }

    /// Maps a file, from byte `at` on, at reserved addresses.
    pub(crate) fn map_at(
        &self,
        address: u64,
        bytes: u64,
        file: BorrowedFd<'_>,
        at: u64,
    ) -> Result<(), CUresult> {
        let no = CUresult::CUDA_ERROR_MAP_FAILED;
        let blocks = usize::try_from(bytes / BLOCK as u64).map_err(|_| no)?;
        let first = self.reservation.block(address).ok_or(no)?;
        self.reservation.map(first, blocks, file, at).map_err(|_| no)
    }

    /// Unmaps what [`map_at`](Self::map_at) mapped; the addresses stay reserved.
    pub(crate) fn unmap_at(&self, address: u64, bytes: u64) {
        let blocks = usize::try_from(bytes / BLOCK as u64).unwrap_or(0);
        if let Some(first) = self.reservation.block(address) {
            // It fails for no range that is mapped.
            let _ = self.reservation.unmap(first, blocks);
        }
    }

    fn is_free(&self, first: usize, blocks: usize) -> bool {
        let Some(end) = first.checked_add(blocks) else { return false };
        let before = self.taken.range(..end).next_back();
        end <= self.reservation.blocks() && before.is_none_or(|(&at, &taken)| at + taken <= first)
    }

    /// Finds blocks that are not taken, the first a multiple of `alignment` blocks from zero on.
    fn free_run(&self, blocks: usize, alignment: usize) -> Option<usize> {
        let mut start = self.reservation.aligned(0, alignment)?;
        for (&first, &taken) in &self.taken {
            if first.checked_sub(start).is_some_and(|room| room >= blocks) {
                return Some(start);
            }
            start = start.max(self.reservation.aligned(first + taken, alignment)?);
        }
        (self.reservation.blocks().checked_sub(start)? >= blocks).then_some(start)
    }
}

const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

#[cfg(test)]
mod tests {
    use super::{AddressSpace, BLOCK, POOL_GROWTH, Purpose};

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
        let pool = Purpose::Pool(7);
        let (pooled, fresh) = space.allocate(0, pool, 4000, 1 << 30).unwrap();
        let growth = POOL_GROWTH;
        assert_eq!([pooled, fresh], [large + 2 * BLOCK as u64; 2]);
        assert_eq!((space.used(0), space.reserved(7)), (3 * BLOCK as u64 + growth, growth));
        space.free(large);
        assert_eq!(space.used(0), BLOCK as u64 + growth);
        assert!(space.allocate(0, Purpose::Plain, 1 << 30, 1 << 30).is_err());
        // A pool keeps what is freed until it is trimmed.
        space.free(pooled);
        assert_eq!(space.reserved(7), growth);
        space.trim(7, 0);
        assert_eq!((space.used(0), space.reserved(7)), (BLOCK as u64, 0));
    }
}
