//! The state of the events that processes share: two counters an event, in memory that both map.
//!
//! An event is done when its last record is. The process that made a record counts it as done when
//! its stream comes to it; if that process dies before, nobody ever does (measured).
//!
//! Unsafe, because the counters lie in mapped memory. It is mapped for good.

#![expect(unsafe_code, reason = "counters in mapped memory are reached by address")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::driver::ipc::accesses::MarkName;
use crate::driver::ipc::directory;
use crate::engine::address_space::pins::{self, Owner};
use crate::engine::mapping;

/// How many events that processes share can live at once (measured).
pub(crate) const SLOTS: usize = 4096;

const NAME: &str = "cuda-sim:events";
const COUNTER: usize = size_of::<u64>();
const BYTES: usize = SLOTS * 2 * COUNTER;

/// Is the memory of one process's events.
#[derive(Debug)]
pub(crate) struct Board {
    base: usize,
    /// The process whose events they are.
    owner: Owner,
    /// Keeps it reachable for other processes.
    _file: Option<OwnedFd>,
}

impl Board {
    fn create() -> io::Result<Self> {
        let file = memfd_create(NAME, MemfdFlags::CLOEXEC)?;
        ftruncate(&file, BYTES as u64)?;
        let base = mapping::map_file(file.as_fd(), BYTES)?;
        let owner = pins::owner(std::process::id()).unwrap_or(0);
        Ok(Self { base, owner, _file: Some(file) })
    }

    /// Finds another process's.
    pub(crate) fn find(process: u32) -> Option<Self> {
        let file = directory::open_named(process, NAME)?;
        let base = mapping::map_file(file.as_fd(), BYTES).ok()?;
        Some(Self { base, owner: pins::owner(process)?, _file: None })
    }

    fn counter(&self, slot: usize, which: usize) -> &AtomicU64 {
        let at = self.base + (slot % SLOTS * 2 + which) * COUNTER;
        let at = std::ptr::with_exposed_provenance_mut(at);
        // SAFETY: it lies in the mapping, which stays and is aligned to pages; every process
        // reaches it as an atomic only.
        unsafe { AtomicU64::from_ptr(at) }
    }
}

/// Is an event's place on a board.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) board: Arc<Board>,
    pub(crate) slot: usize,
    /// Whether this process made the event.
    pub(crate) is_own: bool,
}

/// Is a record of an event that processes share.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    shared: Shared,
    number: u64,
}

impl Shared {
    /// Counts a record.
    pub(crate) fn record(&self) -> Mark {
        let number = self.board.counter(self.slot, 0).fetch_add(1, Ordering::SeqCst) + 1;
        Mark { shared: self.clone(), number }
    }

    /// Returns the last record, of whichever process.
    pub(crate) fn last(&self) -> Mark {
        let number = self.board.counter(self.slot, 0).load(Ordering::SeqCst);
        Mark { shared: self.clone(), number }
    }
}

impl Mark {
    /// Tells whether the record is done.
    pub(crate) fn is_reached(&self) -> bool {
        self.shared.board.counter(self.shared.slot, 1).load(Ordering::SeqCst) >= self.number
    }

    /// Says that the record is done.
    pub(crate) fn reach(&self) {
        self.shared.board.counter(self.shared.slot, 1).fetch_max(self.number, Ordering::SeqCst);
    }

    /// Returns what all processes call it.
    pub(crate) fn name(&self) -> MarkName {
        let event = self.shared.board.owner * SLOTS as u64 + self.shared.slot as u64;
        MarkName { event, number: self.number }
    }

    /// Returns the record before it, for which it waits (measured).
    pub(crate) fn before(&self) -> Self {
        Self { shared: self.shared.clone(), number: self.number.saturating_sub(1) }
    }
}

/// Holds this process's board.
#[derive(Debug, Default)]
pub(crate) struct OwnEvents {
    board: Option<Arc<Board>>,
    /// How many slots were ever used.
    used: usize,
    free: Vec<usize>,
}

impl OwnEvents {
    /// Finds a slot; none if there is none.
    pub(crate) fn add(&mut self) -> Option<Shared> {
        let board = match &self.board {
            Some(board) => Arc::clone(board),
            None => Arc::clone(self.board.insert(Arc::new(Board::create().ok()?))),
        };
        let shared = |slot| Shared { board: Arc::clone(&board), slot, is_own: true };
        if self.used < SLOTS {
            self.used += 1;
            return Some(shared(self.used - 1));
        }
        // A slot whose last record is pending is somebody's wait.
        let position = self.free.iter().position(|&slot| shared(slot).last().is_reached())?;
        Some(shared(self.free.remove(position)))
    }

    /// Gives a slot back.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.free.push(slot);
    }
}
