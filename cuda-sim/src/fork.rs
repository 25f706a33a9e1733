//! Notes that a process is the forked child of one with the simulator.
//!
//! Unsafe, because C's library is asked to call a function in the child.

#![expect(unsafe_code, reason = "what runs in a forked child is registered with C's library")]

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Watches for forks from here on.
pub(crate) fn watch() {
    // SAFETY: the function only sets a flag, which is allowed in a forked child.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(note)) };
}

/// Tells whether this process was forked from the one in which the simulator was installed.
pub(crate) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

unsafe extern "C" fn note() {
    IS_CHILD.store(true, Ordering::Relaxed);
}
