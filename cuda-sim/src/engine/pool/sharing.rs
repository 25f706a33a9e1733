//! Pools of other processes, and what tells a pointer of one of them.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::engine::address_space::memory_file::MemoryFile;
use crate::engine::address_space::pins::{self, Identity, Pin, Pins};
use crate::engine::handle::Handle;
use crate::engine::mapping::BLOCK;
use crate::engine::pool::Pool;
use crate::engine::registry::MemoryKind;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;

/// The name of the files of pools that can be exported.
pub(crate) const FILE_NAME: &str = "cuda-sim:pool";

/// How many bytes tell a pointer.
pub(crate) const LENGTH: usize = 64;

const MARK: &[u8; 16] = b"cuda-sim pointer";

/// Is what tells a pointer of a pool: which memory of which pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SharedPointer {
    owner: u64,
    number: u64,
    /// Where in the pool's file it begins.
    at: u64,
    size: u64,
}

impl SharedPointer {
    pub(crate) fn to_bytes(self) -> [u8; LENGTH] {
        let Self { owner, number, at, size } = self;
        let fields = [owner, number, at, size].map(u64::to_le_bytes);
        let mut bytes = [0; LENGTH];
        let said = MARK.iter().chain(fields.iter().flatten());
        for (target, source) in bytes.iter_mut().zip(said) {
            *target = *source;
        }
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; none if it did not.
    pub(crate) fn from_bytes(bytes: &[u8; LENGTH]) -> Option<Self> {
        let (mark, rest) = bytes.split_first_chunk::<16>()?;
        let mut fields = rest.chunks_exact(8).map(|field| {
            field.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
        });
        let mut next = || fields.next();
        let pointer = Self { owner: next()?, number: next()?, at: next()?, size: next()? };
        (mark == MARK).then_some(pointer)
    }
}

/// Is a pool of another process, as this one has it.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) file: OwnedFd,
    pins: Arc<Pins>,
    identity: Identity,
    /// Where what was imported is, by its place in the file.
    open: HashMap<u64, u64>,
    /// What tells the exporter that it is mapped, by address.
    mapped: HashMap<u64, Pin>,
}

impl Imported {
    /// Takes a pool's file.
    pub(crate) fn new(file: OwnedFd) -> Option<Self> {
        let pins = Pins::map(&file).ok()?;
        let identity = pins.identity();
        Some(Self { file, pins, identity, open: HashMap::new(), mapped: HashMap::new() })
    }

    /// Returns which of the machine's devices it is of.
    pub(crate) fn device(&self) -> Option<usize> {
        usize::try_from(self.identity.device).ok()
    }

    /// Lets the pointer be imported anew, as it is being freed.
    pub(crate) fn close(&mut self, base: u64) {
        self.open.retain(|_, &mut address| address != base);
    }

    /// Forgets what was mapped, and tells whether anything was.
    pub(crate) fn forget(&mut self, base: u64) -> bool {
        self.mapped.remove(&base).is_some()
    }
}

impl State {
    /// Gives a pool a file of its own, which other processes can import.
    pub(crate) fn make_pool_file(&mut self, pool: Handle, device: usize) -> Result<(), CUresult> {
        let no = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let owner = pins::owner(std::process::id()).ok_or(no)?;
        let identity = Identity { owner, number: pool, device: self.physical(device) as u64 };
        let file = MemoryFile::create(FILE_NAME, identity).map_err(|_| no)?;
        self.space.pool_files.insert(pool, file);
        Ok(())
    }

    /// Tells a pointer of an exported pool's memory to other processes; 1 until the pool itself was
    /// exported, and inside of an allocation (both measured).
    pub(crate) fn export_pointer(&self, address: u64) -> Result<SharedPointer, CUresult> {
        let memory = self.registry.at(address).ok_or(INVALID_VALUE)?;
        let pool = self.pools.of.get(&memory.id).and_then(|&pool| self.pools.table.get(pool));
        let pool = pool.filter(|pool| pool.is_exported).ok_or(INVALID_VALUE)?;
        let file = self.space.pool_files.get(&pool.handle).ok_or(INVALID_VALUE)?;
        let (_, offset, segment) = self.space.segment(memory.base).ok_or(INVALID_VALUE)?;
        let Identity { owner, number, .. } = file.pins.identity();
        Ok(SharedPointer { owner, number, at: segment.at + offset, size: memory.size })
    }

    /// Maps the memory that a pointer of another process's pool tells, or finds it mapped.
    pub(crate) fn import_pointer(
        &mut self,
        call: &'static str,
        pool: Handle,
        pointer: SharedPointer,
    ) -> Result<u64, CUresult> {
        self.context()?;
        let its = self.pools.table.get_mut(pool).ok_or(INVALID_VALUE)?;
        let (device, imported) = (its.device, its.imported.as_mut().ok_or(INVALID_VALUE)?);
        let Identity { owner, number, .. } = imported.identity;
        if (pointer.owner, pointer.number) != (owner, number) || pointer.size == 0 {
            return Err(INVALID_VALUE);
        }
        // Known of real drivers: the second import is the first one's pointer, and one free ends it.
        if let Some(&address) = imported.open.get(&pointer.at) {
            return Ok(address);
        }
        // Manual, where nothing is said: a pool's memory is its process's.
        if !pins::is_alive(owner) {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        let block = BLOCK as u64;
        let end = pointer.at.checked_add(pointer.size).ok_or(INVALID_VALUE)?;
        let length = rustix::fs::fstat(&imported.file).map_err(|_| INVALID_VALUE)?.st_size;
        if pointer.at < block || u64::try_from(length).is_ok_and(|length| end > length) {
            return Err(INVALID_VALUE);
        }
        let first = pointer.at / block * block;
        let blocks = usize::try_from((end - first).div_ceil(block)).map_err(|_| INVALID_VALUE)?;
        let no_room = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let pin = imported.pins.pin(pointer.at, pointer.size).ok_or(no_room)?;
        let start = self.space.import(device, imported.file.as_fd(), first, blocks, 0)?;
        let address = start + (pointer.at - first);
        imported.open.insert(pointer.at, address);
        imported.mapped.insert(address, pin);
        its.live += 1;
        let memory = self.admit(call, MemoryKind::Pool, device, address, pointer.size)?;
        self.pools.of.insert(memory, pool);
        Ok(address)
    }
}

impl Pool {
    /// Tells whether another process owns it.
    pub(crate) const fn is_imported(&self) -> bool {
        self.imported.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{LENGTH, SharedPointer};

    #[test]
    fn a_pointer_survives_its_bytes() {
        let pointer = SharedPointer { owner: 4711 << 16, number: 9, at: 5 << 21, size: 4096 };
        let bytes = pointer.to_bytes();
        assert_eq!(SharedPointer::from_bytes(&bytes), Some(pointer));
        assert_eq!(SharedPointer::from_bytes(&[0; LENGTH]), None);
    }
}
