//! Who has which bytes of a file in memory mapped, in all processes: a table in the file itself.
//!
//! Another process writes its entry before it maps, and looks once more whether the bytes are what
//! it wanted; the owner frees first and reads the table then. So either the owner sees the entry, or
//! the other sees that the bytes are gone. Entries of a process that died count no more.
//!
//! Unsafe, because the table lies in mapped memory. It is unmapped when nothing points to it.

#![expect(unsafe_code, reason = "a table in mapped memory is reached by address")]

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::driver::ipc::handle::start_mark;
use crate::engine::mapping;

/// How many ranges can be mapped by other processes at once.
const SLOTS: usize = 1 << 14;

const WORD: usize = size_of::<u64>();

/// A process, and the start and the length of what it has mapped.
const SLOT_WORDS: usize = 3;

/// How many slots were ever used; then what the owner says of itself.
const HEAD_WORDS: usize = 4;

const BYTES: usize = (HEAD_WORDS + SLOTS * SLOT_WORDS) * WORD;

/// Is a process with a mark of its start, as one number.
pub(crate) type Owner = u64;

/// Returns a process as it stands in the table; none if it is gone.
pub(crate) fn owner(process: u32) -> Option<Owner> {
    Some(u64::from(process) << 16 | u64::from(start_mark(process)?))
}

/// Tells whether a process is still the one that was noted.
pub(crate) fn is_alive(noted: Owner) -> bool {
    u32::try_from(noted >> 16).ok().and_then(owner) == Some(noted)
}

/// Is what the owner of a file says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) owner: Owner,
    /// What the owner calls it.
    pub(crate) number: u64,
    /// Which of the machine's devices its memory is of.
    pub(crate) device: u64,
}

/// Is the table of a file.
#[derive(Debug)]
pub(crate) struct Pins {
    base: usize,
}

impl Pins {
    /// Maps the table at the beginning of a file, which is long enough for it.
    pub(crate) fn map(file: impl AsFd) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { base: mapping::map_file(file.as_fd(), BYTES)? }))
    }

    /// Writes what the file is.
    pub(crate) fn identify(&self, identity: Identity) {
        let Identity { owner, number, device } = identity;
        for (word, value) in [owner, number, device].into_iter().enumerate() {
            self.word(1 + word).store(value, Ordering::SeqCst);
        }
    }

    /// Reads what the file is.
    pub(crate) fn identity(&self) -> Identity {
        let [owner, number, device] = [1, 2, 3].map(|at| self.word(at).load(Ordering::SeqCst));
        Identity { owner, number, device }
    }

    /// Notes that this process maps a range; none if the table is full.
    pub(crate) fn pin(self: &Arc<Self>, start: u64, length: u64) -> Option<Pin> {
        let me = owner(std::process::id())?;
        let slot = (0..SLOTS).find(|&slot| {
            let [owner, ..] = self.slot(slot);
            owner.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        })?;
        self.word(0).fetch_max(slot as u64 + 1, Ordering::SeqCst);
        let [_, at, size] = self.slot(slot);
        at.store(start, Ordering::SeqCst);
        size.store(length, Ordering::SeqCst);
        Some(Pin { pins: Arc::clone(self), slot })
    }

    /// Returns a process that has a byte of the range mapped.
    pub(crate) fn holder(&self, start: u64, length: u64) -> Option<u32> {
        let used = usize::try_from(self.word(0).load(Ordering::SeqCst)).unwrap_or(0);
        (0..used.min(SLOTS)).find_map(|slot| {
            let [noted, at, size] = self.slot(slot);
            let [holder, at, size] =
                [noted, at, size].map(|word: &AtomicU64| word.load(Ordering::SeqCst));
            let overlaps = at < start.saturating_add(length) && start < at.saturating_add(size);
            if holder == 0 || !overlaps {
                return None;
            }
            if is_alive(holder) {
                return u32::try_from(holder >> 16).ok();
            }
            self.clear(slot, holder);
            None
        })
    }

    /// Empties a slot, if it is still its holder's.
    fn clear(&self, slot: usize, holder: Owner) {
        let [noted, _, size] = self.slot(slot);
        size.store(0, Ordering::SeqCst);
        // If it isn't any more, another process of the owner's peers has emptied it.
        let _ = noted.compare_exchange(holder, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn slot(&self, slot: usize) -> [&AtomicU64; SLOT_WORDS] {
        let first = HEAD_WORDS + slot % SLOTS * SLOT_WORDS;
        [0, 1, 2].map(|word| self.word(first + word))
    }

    fn word(&self, word: usize) -> &AtomicU64 {
        let at = std::ptr::with_exposed_provenance_mut(self.base + word * WORD % BYTES);
        // SAFETY: it lies in the mapping, which stays as long as `self` and is aligned to pages;
        // every process reaches it as an atomic only.
        unsafe { AtomicU64::from_ptr(at) }
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // It fails for no range that was mapped.
        let _ = mapping::unmap_file(self.base, BYTES);
    }
}

/// Is this process's entry in a table; the range counts as mapped until it is dropped.
#[derive(Debug)]
pub(crate) struct Pin {
    pins: Arc<Pins>,
    slot: usize,
}

impl Drop for Pin {
    fn drop(&mut self) {
        let [noted, ..] = self.pins.slot(self.slot);
        self.pins.clear(self.slot, noted.load(Ordering::SeqCst));
    }
}
