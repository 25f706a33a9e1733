//! Physical memory: a range of the common file, or a file of its own once other processes can have
//! it. Its bytes live as long as any process holds such a file.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cuda_sys::CUresult;
use rustix::fs::{MemfdFlags, SeekFrom, fstat, ftruncate, memfd_create, seek};
use rustix::io::{pread, pwrite};

use crate::driver::memory::MOST_JUNK;
use crate::engine::execute::JUNK;
use crate::engine::handle::Handle;
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::virtual_memory::VirtualMemory;
use crate::entry::INVALID_VALUE;
use crate::report::Side;

/// The beginning of the names of files of physical memory; the device's number follows.
pub(crate) const FILE_NAME: &str = "cuda-sim:physical:";

/// How much is written or copied at once.
const CHUNK: usize = 1 << 20;

/// Is where the bytes are.
#[derive(Debug)]
pub(crate) enum Bytes {
    /// In the common file from there on.
    Common(u64),
    Own(OwnedFd),
}

/// Is physical memory.
#[derive(Debug)]
pub(crate) struct Physical {
    pub(crate) size: u64,
    pub(crate) device: usize,
    pub(crate) handle_types: u32,
    pub(crate) bytes: Bytes,
    /// Whether another process made it, or could have.
    is_imported: bool,
    /// The handles that live.
    pub(crate) handles: Vec<Handle>,
    /// How often it is mapped.
    pub(crate) mappings: usize,
}

/// Writes junk.
fn fill(file: BorrowedFd<'_>, from: u64, size: u64) -> io::Result<()> {
    let junk = vec![JUNK; CHUNK];
    let mut done = 0;
    while done < size {
        let left = usize::try_from(size - done).unwrap_or(CHUNK).min(CHUNK);
        done += pwrite(file, junk.get(..left).unwrap_or_default(), from + done)? as u64;
    }
    Ok(())
}

/// Copies what was ever written of a range into a new file.
fn copy(from: BorrowedFd<'_>, start: u64, size: u64, to: BorrowedFd<'_>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut done = 0;
    while done < size {
        // Behind the last byte that was written there is none to find.
        let Ok(next) = seek(from, SeekFrom::Data(start + done)) else { break };
        done = next.saturating_sub(start);
        if done >= size {
            break;
        }
        let left = usize::try_from(size - done).unwrap_or(CHUNK).min(CHUNK);
        let part = buffer.get_mut(..left).unwrap_or_default();
        let count = pread(from, &mut *part, start + done)?;
        if count == 0 {
            break;
        }
        done += pwrite(to, part.get(..count).unwrap_or_default(), done)? as u64;
    }
    Ok(())
}

/// Makes a file of what was in the common one.
fn move_out(from: BorrowedFd<'_>, at: u64, size: u64, device: usize) -> io::Result<OwnedFd> {
    let file = memfd_create(format!("{FILE_NAME}{device}"), MemfdFlags::CLOEXEC)?;
    ftruncate(&file, size)?;
    copy(from, at, size, file.as_fd())?;
    Ok(file)
}

impl VirtualMemory {
    /// Returns the files that hold physical memory of their own.
    pub(crate) fn own_files(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.physical.values().filter_map(|physical| match &physical.bytes {
            Bytes::Common(_) => None,
            Bytes::Own(file) => Some(file.as_fd()),
        })
    }
}

impl State {
    /// Makes physical memory, and the first handle of it.
    pub(crate) fn create_physical(
        &mut self,
        call: &'static str,
        device: usize,
        size: u64,
        handle_types: u32,
    ) -> Result<Handle, CUresult> {
        let no_room = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let limit = self.config.memory;
        self.has_room(device, size)?;
        if self.space.charge(device, size, limit).is_err() {
            self.release_idle_pools();
            self.space.charge(device, size, limit)?;
        }
        let common = &mut self.space.common;
        let with_junk = self.config.junk && size <= MOST_JUNK;
        let made = common.extend(size).and_then(|at| {
            if with_junk {
                fill(common.as_fd(), at, size)?;
            }
            Ok(at)
        });
        let Ok(at) = made else {
            self.space.discharge(device, size);
            return Err(no_room);
        };
        self.add_physical(call, device, size, handle_types, Bytes::Common(at), false)
    }

    /// Makes a handle of physical memory of another process, or of this one. The same memory is
    /// known again.
    pub(crate) fn import_physical(
        &mut self,
        call: &'static str,
        device: usize,
        file: OwnedFd,
    ) -> Result<Handle, CUresult> {
        let found = fstat(&file).map_err(|_| INVALID_VALUE)?;
        let size = u64::try_from(found.st_size).map_err(|_| INVALID_VALUE)?;
        let is_it = |bytes: &Bytes| match bytes {
            Bytes::Common(_) => false,
            Bytes::Own(own) => {
                fstat(own).is_ok_and(|own| (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino))
            }
        };
        let mut known = self.virtual_memory.physical.iter();
        if let Some((&physical, _)) = known.find(|(_, physical)| is_it(&physical.bytes)) {
            return self.add_handle(call, physical);
        }
        self.add_physical(call, device, size, 1, Bytes::Own(file), true)
    }

    fn add_physical(
        &mut self,
        call: &'static str,
        device: usize,
        size: u64,
        handle_types: u32,
        bytes: Bytes,
        is_imported: bool,
    ) -> Result<Handle, CUresult> {
        // What happens to the bytes is remembered here, whatever their addresses.
        let id = self.registry.add_hidden(Allocation {
            id: 0,
            base: 0,
            size,
            kind: MemoryKind::Physical,
            device,
            context: 0,
            flags: 0,
            made_by: Side::new(call, ""),
            history: Vec::new(),
        });
        let (handles, mappings) = (Vec::new(), 0);
        let physical =
            Physical { size, device, handle_types, bytes, is_imported, handles, mappings };
        self.virtual_memory.physical.insert(id, physical);
        self.add_handle(call, id)
    }

    pub(crate) fn physical_memory(&self, id: BufferId) -> Option<&Physical> {
        self.virtual_memory.physical.get(&id)
    }

    /// Frees physical memory that has no handle and no mapping.
    pub(crate) fn end_physical(&mut self, id: BufferId) {
        let all = &mut self.virtual_memory.physical;
        if all.get(&id).is_none_or(|its| its.mappings > 0 || !its.handles.is_empty()) {
            return;
        }
        let Some(physical) = all.remove(&id) else { return };
        self.registry.remove(id);
        if let Bytes::Common(at) = physical.bytes {
            self.space.common.give_back(at, physical.size);
        }
        if !physical.is_imported {
            self.space.discharge(physical.device, physical.size);
        }
    }

    /// Returns the file of physical memory that other processes may have. Made at its first use: the
    /// bytes move into it, wherever they are mapped.
    pub(crate) fn own_file(&mut self, id: BufferId) -> Result<BorrowedFd<'_>, CUresult> {
        let its = self.virtual_memory.physical.get(&id).ok_or(INVALID_VALUE)?;
        if let Bytes::Common(at) = its.bytes {
            let (size, device) = (its.size, self.devices.get(its.device).copied().unwrap_or(0));
            let moved = move_out(self.space.common.as_fd(), at, size, device);
            let file = moved.map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
            self.map_again(id, file.as_fd())?;
            if let Some(its) = self.virtual_memory.physical.get_mut(&id) {
                its.bytes = Bytes::Own(file);
            }
            self.space.common.give_back(at, size);
        }
        match self.virtual_memory.physical.get(&id).map(|its| &its.bytes) {
            Some(Bytes::Own(file)) => Ok(file.as_fd()),
            _ => Err(INVALID_VALUE),
        }
    }
}
