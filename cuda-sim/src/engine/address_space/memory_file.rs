//! Files in memory that hold the bytes of devices. Many segments share one, so that a process needs
//! few descriptors; another process finds in it what it may map.
//!
//! No offset is handed out twice: whoever still maps what was freed keeps its old bytes (measured),
//! and they are given back to the system when the last of them lets go.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};

use super::pins::{Identity, Pins};
use crate::engine::mapping::BLOCK;

/// Is a file that grows.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: OwnedFd,
    pub(crate) pins: Arc<Pins>,
    end: u64,
    /// What is free, but mapped by another process: starts and lengths.
    kept: Vec<(u64, u64)>,
}

impl MemoryFile {
    /// Makes a file of a name; its first block holds who maps what of it.
    pub(crate) fn create(name: &str, identity: Identity) -> io::Result<Self> {
        let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
        let end = BLOCK as u64;
        ftruncate(&file, end)?;
        let pins = Pins::map(&file)?;
        pins.identify(identity);
        Ok(Self { file, pins, end, kept: Vec::new() })
    }

    /// Returns where a new range of so many bytes begins.
    pub(crate) fn extend(&mut self, bytes: u64) -> io::Result<u64> {
        let start = self.end;
        let end = start.checked_add(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
        ftruncate(&self.file, end)?;
        self.end = end;
        Ok(start)
    }

    /// Gives a range back to the system, at once or when no other process maps it any more.
    pub(crate) fn give_back(&mut self, start: u64, bytes: u64) {
        self.kept.push((start, bytes));
        let kept = std::mem::take(&mut self.kept);
        for (start, bytes) in kept {
            if self.pins.holder(start, bytes).is_some() {
                self.kept.push((start, bytes));
            } else {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                // If the system refuses, the bytes stay its own.
                let _ = fallocate(&self.file, flags, start, bytes);
            }
        }
    }
}

impl AsFd for MemoryFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
