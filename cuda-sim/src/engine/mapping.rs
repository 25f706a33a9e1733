//! Reserves and maps addresses: the device's range that nobody can touch, its shadow, host memory.
//!
//! Unsafe, because mapping replaces what lies at an address. All of it happens inside ranges that
//! this file has got from the system itself and hands out once.

#![expect(unsafe_code, reason = "mmap and munmap change what lies at an address")]

use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::mm::{
    MapFlags, MprotectFlags, MremapFlags, ProtFlags, mmap, mmap_anonymous, mprotect, mremap, munmap,
};

/// Is how much device memory is mapped at once.
pub(crate) const BLOCK: usize = 2 << 20;

/// The least that is worth reserving.
const LEAST: usize = 64 << 20;

/// Is the device's address space: `length` bytes of addresses that are never accessible, and at a
/// fixed distance behind them their shadow, where the bytes are.
#[derive(Debug)]
pub(crate) struct Reservation {
    base: usize,
    length: usize,
}

impl Reservation {
    /// Reserves that many bytes of addresses, or half as many as often as they are refused.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        let mut length = (bytes.max(LEAST) / BLOCK).saturating_mul(BLOCK);
        loop {
            match Self::reserve(length) {
                Ok(base) => return Ok(Self { base, length }),
                Err(error) if length <= LEAST => return Err(error),
                Err(_) => length = (length / 2 / BLOCK).saturating_mul(BLOCK).max(LEAST),
            }
        }
    }

    fn reserve(length: usize) -> io::Result<usize> {
        let whole = length
            .checked_mul(2)
            .and_then(|both| both.checked_add(BLOCK))
            .ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: no address is asked for, so that nothing is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), whole, ProtFlags::empty(), flags) }?;
        Ok(start.expose_provenance().next_multiple_of(BLOCK))
    }

    /// Returns how many blocks there are.
    pub(crate) const fn blocks(&self) -> usize {
        self.length / BLOCK
    }

    /// Returns the device address of a block.
    pub(crate) const fn address(&self, block: usize) -> u64 {
        (self.base + block * BLOCK) as u64
    }

    /// Returns the block of a device address, if it is one.
    pub(crate) fn block(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address).ok()?.checked_sub(self.base)?;
        (offset < self.length).then_some(offset / BLOCK)
    }

    /// Returns where the byte of a device address lies.
    pub(crate) fn shadow(&self, address: u64) -> usize {
        usize::try_from(address).unwrap_or(0).wrapping_add(self.length)
    }

    /// Returns the first block from `from` on whose address is a multiple of so many blocks.
    pub(crate) fn aligned(&self, from: usize, alignment: usize) -> Option<usize> {
        let block = (self.base / BLOCK).checked_add(from)?;
        let next = block.checked_next_multiple_of(alignment.max(1))?;
        Some(next - self.base / BLOCK)
    }

    /// Maps a file, from byte `offset` on, into the shadow of `blocks` blocks.
    pub(crate) fn map(
        &self,
        first: usize,
        blocks: usize,
        file: BorrowedFd<'_>,
        offset: u64,
    ) -> io::Result<()> {
        let (at, length) = self.range(first, blocks)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the range lies in the shadow, which is this reservation's own; what it replaces
        // there, callers have found to be nothing, or the same bytes.
        unsafe { mmap(at, length, access, MapFlags::SHARED | MapFlags::FIXED, file, offset) }?;
        Ok(())
    }

    /// Takes the file out of the shadow of `blocks` blocks; the addresses stay reserved.
    pub(crate) fn unmap(&self, first: usize, blocks: usize) -> io::Result<()> {
        let (at, length) = self.range(first, blocks)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: as above; that no queued work uses the bytes is checked before it runs.
        unsafe { mmap_anonymous(at, length, ProtFlags::empty(), flags) }?;
        Ok(())
    }

    fn range(&self, first: usize, blocks: usize) -> io::Result<(*mut c_void, usize)> {
        if first.checked_add(blocks).is_none_or(|end| end > self.blocks()) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let at = self.base + self.length + first * BLOCK;
        Ok((ptr::with_exposed_provenance_mut(at), blocks * BLOCK))
    }
}

/// Maps host memory.
pub(crate) fn map_host(bytes: usize) -> io::Result<usize> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: no address is asked for, so that nothing is replaced.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, flags) }?;
    Ok(start.expose_provenance())
}

/// Maps what [`map_host`] mapped at a second address.
pub(crate) fn map_again(address: usize, bytes: usize) -> io::Result<usize> {
    let first = ptr::with_exposed_provenance_mut(address);
    // SAFETY: of a shared mapping, which `map_host` made, a move of no bytes leaves it in place and
    // makes another of the same memory, where nothing was.
    let second = unsafe { mremap(first, 0, bytes, MremapFlags::MAYMOVE) }?;
    Ok(second.expose_provenance())
}

/// Is what may be done with pages of host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Allowed {
    Nothing,
    Reads,
    All,
}

/// Says what may be done with pages that [`map_host`] mapped.
pub(crate) fn protect_host(address: usize, bytes: usize, allowed: Allowed) -> io::Result<()> {
    let flags = match allowed {
        Allowed::Nothing => MprotectFlags::empty(),
        Allowed::Reads => MprotectFlags::READ,
        Allowed::All => MprotectFlags::READ | MprotectFlags::WRITE,
    };
    // SAFETY: the registry names the pages as those of `map_host`; that a touch of closed ones ends
    // the process is what the configuration asked for.
    unsafe { mprotect(ptr::with_exposed_provenance_mut(address), bytes, flags) }?;
    Ok(())
}

/// Reserves addresses that nobody can touch.
pub(crate) fn reserve(bytes: usize) -> io::Result<usize> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: no address is asked for, so that nothing is replaced.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::empty(), flags) }?;
    Ok(start.expose_provenance())
}

/// Unmaps what [`map_host`] mapped or [`reserve`] reserved.
pub(crate) fn unmap_host(address: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: the registry names this range as one that `map_host` returned, and forgets it; that
    // nobody uses it any more is the promise of whoever called `cuMemFreeHost`.
    unsafe { munmap(ptr::with_exposed_provenance_mut(address), bytes) }?;
    Ok(())
}

/// Unmaps what [`map_file`] mapped.
pub(crate) fn unmap_file(address: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: the one owner of the mapping calls this when it is dropped.
    unsafe { munmap(ptr::with_exposed_provenance_mut(address), bytes) }?;
    Ok(())
}

/// Maps the beginning of a file that processes share.
pub(crate) fn map_file(file: BorrowedFd<'_>, bytes: usize) -> io::Result<usize> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: no address is asked for, so that nothing is replaced.
    let start = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0) }?;
    Ok(start.expose_provenance())
}
