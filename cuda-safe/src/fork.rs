//! Tells a forked child from the process that made something, without a call of the system.
//!
//! A drop asks it each time, and asking the system for the process's number can cost more than the
//! drop. A child that was made past C's library, by the system call itself, is not noticed.
#![expect(unsafe_code, reason = "what runs in a forked child is registered with C's library")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Is a process, among those that came from each other by forks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u64);

/// Counts the forks that lie between this process and the one that looked first.
static FORKS: AtomicU64 = AtomicU64::new(0);

impl Process {
    /// Returns this process.
    #[inline]
    pub(crate) fn current() -> Self {
        static WATCHED: OnceLock<bool> = OnceLock::new();
        if *WATCHED.get_or_init(watch) {
            Self(FORKS.load(Ordering::Relaxed))
        } else {
            Self(u64::from(std::process::id()))
        }
    }

    /// Tells whether this is the process.
    #[inline]
    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }
}

/// Has C's library count forks; answers whether it does.
#[cfg(unix)]
fn watch() -> bool {
    extern "C" fn note() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: the function only counts, which is allowed in a forked child.
    unsafe { libc::pthread_atfork(None, None, Some(note)) == 0 }
}

/// Answers that nothing has to be watched: here no process is copied.
#[cfg(not(unix))]
fn watch() -> bool {
    true
}
