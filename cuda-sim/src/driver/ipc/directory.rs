//! What a process publishes of its device memory: a file in memory that lists its blocks.
//!
//! Another process finds the file under `/proc/PID/fd` by its name, and each block's file by the
//! entry in it. All of it goes when the process does, even if it is killed.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open, readlink};
use rustix::io::{pread, pwrite};

use crate::engine::address_space::block_name;

const NAME: &str = "cuda-sim:directory";
const ENTRY: usize = 16;

/// Is what is known of the segment that begins with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The number of its file in the process.
    pub(crate) file: RawFd,
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
        Ok(Self { file: memfd_create(NAME, MemfdFlags::CLOEXEC)? })
    }

    /// Sets or clears the entry of a block.
    pub(crate) fn write(&self, block: usize, entry: Option<Entry>) -> io::Result<()> {
        let mut bytes = [0_u8; ENTRY];
        if let Some(entry) = entry {
            let number = |number: Result<u32, _>| number.map_err(|_| io::ErrorKind::InvalidInput);
            let fields = [
                1,
                number(u32::try_from(entry.file))?,
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

/// Is another process's list.
#[derive(Debug)]
pub(crate) struct Foreign {
    process: u32,
    file: OwnedFd,
}

impl Foreign {
    /// Finds the list of a process; none if it is gone, or has none that this process may read.
    pub(crate) fn find(process: u32) -> Option<Self> {
        let file = open_named(process, NAME)?;
        Some(Self { process, file })
    }

    /// Opens the memory that the process has now at a block; none if it has none.
    pub(crate) fn open(&self, block: usize) -> Option<(Entry, OwnedFd)> {
        // The entry can change between its reading and the opening; the name tells.
        for _ in 0..8 {
            let entry = self.read(block)?;
            let path = format!("/proc/{}/fd/{}", self.process, entry.file);
            if let Ok(file) = open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
                let mine = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
                if is_named(&mine, &block_name(block, entry.generation)) {
                    return Some((entry, file));
                }
            }
        }
        None
    }

    fn read(&self, block: usize) -> Option<Entry> {
        let mut bytes = [0_u8; ENTRY];
        let count = pread(&self.file, &mut bytes[..], (block as u64).checked_mul(ENTRY as u64)?);
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
            file: RawFd::try_from(fields.next()?).ok()?,
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
