//! What a process publishes of its device memory: a file in memory that lists its blocks.
//!
//! Another process finds the list, and the file with the bytes, under `/proc/PID/fd` by their names.
//! Both go when the process does, even if it is killed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open, readlink};
use rustix::io::{pread, pwrite};

use crate::engine::address_space::pins::{Pin, Pins};
use crate::engine::mapping::BLOCK;

const ENTRY: usize = 16;

/// Returns the name of a process's list. What one process opens of another has the other's name.
fn list_name(process: u32) -> String {
    format!("cuda-sim:directory:{process}")
}

/// Returns the name of the file with a process's device memory.
pub(crate) fn memory_name(process: u32) -> String {
    format!("cuda-sim:memory:{process}")
}

/// Is what is known of the segment that begins with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where in the process's file it begins.
    pub(crate) at: u64,
    pub(crate) generation: u32,
    pub(crate) blocks: usize,
}

/// Is this process's list.
#[derive(Debug)]
pub(crate) struct Directory {
    file: OwnedFd,
}

impl Directory {
    pub(crate) fn create() -> io::Result<Self> {
        Ok(Self { file: memfd_create(list_name(std::process::id()), MemfdFlags::CLOEXEC)? })
    }

    /// Sets or clears the entry of a block.
    pub(crate) fn write(&self, block: usize, entry: Option<Entry>) -> io::Result<()> {
        let mut bytes = [0_u8; ENTRY];
        if let Some(entry) = entry {
            let number = |number: Result<u32, _>| number.map_err(|_| io::ErrorKind::InvalidInput);
            let fields = [
                1,
                number(u32::try_from(entry.at / BLOCK as u64))?,
                entry.generation,
                number(u32::try_from(entry.blocks))?,
            ];
            for (target, field) in bytes.chunks_mut(4).zip(fields) {
                target.copy_from_slice(&field.to_le_bytes());
            }
        }
        pwrite(&self.file, &bytes, (block * ENTRY) as u64)?;
        Ok(())
    }
}

/// Is another process's list, and its device memory.
#[derive(Debug)]
pub(crate) struct Foreign {
    list: OwnedFd,
    memory: OwnedFd,
    pins: Arc<Pins>,
}

impl Foreign {
    /// Finds those of a process; none if it is gone, or has none that this process may read.
    pub(crate) fn find(process: u32) -> Option<Self> {
        let list = open_named(process, &list_name(process))?;
        let memory = open_named(process, &memory_name(process))?;
        let pins = Pins::map(&memory).ok()?;
        Some(Self { list, memory, pins })
    }

    /// Returns the file that entries mean.
    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    /// Finds the memory that the process has now at a block, and keeps its bytes there; none if it
    /// has none.
    pub(crate) fn pin(&self, block: usize, offset: u64, size: u64) -> Option<(Entry, Pin)> {
        // The entry can change before the process can see the pin.
        for _ in 0..8 {
            let entry = self.read(block)?;
            let pin = self.pins.pin(entry.at.checked_add(offset)?, size)?;
            if self.read(block) == Some(entry) {
                return Some((entry, pin));
            }
        }
        None
    }

    fn read(&self, block: usize) -> Option<Entry> {
        let mut bytes = [0_u8; ENTRY];
        let count = pread(&self.list, &mut bytes[..], (block as u64).checked_mul(ENTRY as u64)?);
        if count.ok()? != ENTRY {
            return None;
        }
        let mut fields = bytes.chunks_exact(4).map(|field| {
            field.iter().rev().fold(0_u32, |number, &byte| number << 8 | u32::from(byte))
        });
        if fields.next()? != 1 {
            return None;
        }
        Some(Entry {
            at: u64::from(fields.next()?).checked_mul(BLOCK as u64)?,
            generation: fields.next()?,
            blocks: usize::try_from(fields.next()?).ok()?,
        })
    }
}

/// Opens a process's file in memory of that name; none if it is gone, or may not be opened.
pub(crate) fn open_named(process: u32, name: &str) -> Option<OwnedFd> {
    let mut files = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let file = files.find(|file| is_named(&file.path(), name))?;
    open(file.path(), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn is_named(path: &std::path::Path, name: &str) -> bool {
    readlink(path, Vec::new())
        .is_ok_and(|link| link.to_string_lossy().starts_with(&format!("/memfd:{name} ")))
}
