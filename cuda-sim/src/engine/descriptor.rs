//! The program's file descriptors of memory and pools: those that exports made, and those that imports
//! were given. Closing them is the program's.
//!
//! A descriptor is known by its number, as long as that stands for the same file. What a program makes
//! of one with `dup`, or receives and never imports, is not known.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd};

use crate::engine::state::State;
use crate::report::Side;

/// Identifies a file: its device, and its number there.
type FileId = (u64, u64);

/// Is a descriptor that the program has or had.
#[derive(Debug)]
struct Held {
    file: FileId,
    what: &'static str,
    made_by: Side,
}

/// Holds the descriptors that calls made or were given, by number.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    held: BTreeMap<c_int, Held>,
}

/// Returns the file that a number stands for, if it is open.
fn file_of(number: c_int) -> Option<FileId> {
    let found = rustix::fs::stat(format!("/proc/self/fd/{number}")).ok()?;
    Some((found.st_dev, found.st_ino))
}

impl Descriptors {
    /// Notes that the program has a descriptor; what is known of the same one stays.
    pub(crate) fn note(&mut self, number: c_int, what: &'static str, made_by: Side) {
        let Some(file) = file_of(number) else { return };
        if self.held.get(&number).is_none_or(|held| held.file != file) {
            self.held.insert(number, Held { file, what, made_by });
        }
    }
}

impl State {
    /// Returns the descriptors that the program has not closed, with what they are of.
    pub(crate) fn open_descriptors(&self) -> Vec<(&Side, String)> {
        let held = self.descriptors.held.iter();
        let open = held.filter(|&(&number, held)| {
            file_of(number) == Some(held.file) && !self.is_own_descriptor(number)
        });
        open.map(|(number, held)| {
            (&held.made_by, format!("file descriptor {number} of {}", held.what))
        })
        .collect()
    }

    /// Tells whether a descriptor is the simulator's, which has some of the same files.
    fn is_own_descriptor(&self, number: c_int) -> bool {
        let pools = self.space.pool_files.values().map(AsFd::as_fd);
        let imported = self.pools.table.values().filter_map(|pool| pool.imported.as_ref());
        pools
            .chain(imported.map(|imported| imported.file.as_fd()))
            .chain(self.virtual_memory.own_files())
            .any(|file| file.as_raw_fd() == number)
    }
}
