//! Waiting for a file descriptor, not for ever.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;

use super::error::LeaseError;

/// Waits until one of `fds` has something, or the time has come.
pub(crate) fn wait_any(
    fds: &mut [PollFd<'_>],
    deadline: Option<Instant>,
) -> Result<(), LeaseError> {
    loop {
        let limit = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A time that is too long for the system is none.
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(fds, limit.as_ref()) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(LeaseError::system("poll")(error)),
        }
    }
}

/// Waits until `fd` has something, or the time has come; answers whether it has.
pub(crate) fn wait_for(
    fd: BorrowedFd<'_>,
    events: PollFlags,
    deadline: Option<Instant>,
) -> Result<bool, LeaseError> {
    let mut fds = [PollFd::from_borrowed_fd(fd, events)];
    wait_any(&mut fds, deadline)?;
    let [fd] = fds;
    Ok(!fd.revents().is_empty())
}

/// Wakes a thread that waits for file descriptors.
#[derive(Debug)]
pub(crate) struct Wake(OwnedFd);

impl Wake {
    pub(crate) fn new() -> Result<Self, LeaseError> {
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map(Self)
            .map_err(LeaseError::system("eventfd"))
    }

    pub(crate) fn wake(&self) {
        // It fails only if it was woken very often and has not come yet: then it is awake.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Sees to it that the next wait waits.
    pub(crate) fn sleep(&self) {
        // It fails only if nobody has woken the thread.
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns the time at which `limit` will have passed; a time that is beyond all clocks is a year.
pub(crate) fn deadline(limit: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);
    Instant::now() + limit.min(YEAR)
}
