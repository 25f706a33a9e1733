//! Another process, so held that its number cannot become another's unnoticed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::error::LeaseError;
use crate::identity::{Identity, Stat};

/// Is a process that was alive when it was looked for.
///
/// Its file descriptor becomes readable when the process has ended and the driver has taken back
/// what it had: no kernel of it runs any more. The end of a connection comes earlier and proves
/// nothing: kernels go on for some milliseconds behind it.
#[derive(Debug)]
pub(crate) struct Process {
    pidfd: OwnedFd,
}

impl Process {
    /// Finds the process that `identity` names.
    ///
    /// # Errors
    ///
    /// [`LeaseError::Gone`] if it has ended, also if its number is another's by now.
    pub(crate) fn open(identity: &Identity) -> Result<Self, LeaseError> {
        let pid = i32::try_from(identity.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(LeaseError::Gone)?;
        let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(Errno::SRCH) => return Err(LeaseError::Gone),
            Err(error) => return Err(LeaseError::system("pidfd_open")(error)),
        };
        // The number is held from here on: whose it is now, it stays.
        let path = format!("/proc/{}/stat", identity.pid);
        let text = std::fs::read_to_string(path).map_err(|_| LeaseError::Gone)?;
        let stat = Stat::parse(&text).ok_or(LeaseError::Gone)?;
        if stat.start_time != identity.start_time || stat.is_zombie {
            return Err(LeaseError::Gone);
        }
        Ok(Self { pidfd })
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use rustix::event::PollFlags;

    use super::*;
    use crate::lease::wait::wait_for;

    fn identity_of(pid: u32) -> Identity {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start_time = Stat::parse(&stat).unwrap().start_time;
        Identity { pid, start_time, ..Identity::current().unwrap() }
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let identity = identity_of(child.id());
        let process = Process::open(&identity).unwrap();
        let ended = |deadline| wait_for(process.as_fd(), PollFlags::IN, Some(deadline)).unwrap();
        assert!(!ended(Instant::now()));
        drop(child.stdin.take());
        assert!(ended(Instant::now() + Duration::from_secs(10)));
        // Before it is waited for, it is a zombie; afterwards its number is free.
        assert!(matches!(Process::open(&identity), Err(LeaseError::Gone)));
        child.wait().unwrap();
        assert!(matches!(Process::open(&identity), Err(LeaseError::Gone)));
        assert!(ended(Instant::now()));
    }

    #[test]
    fn a_reused_number_is_noticed() {
        let this = Identity::current().unwrap();
        let earlier = Identity { start_time: this.start_time - 1, ..this };
        assert!(matches!(Process::open(&earlier), Err(LeaseError::Gone)));
        for pid in [0, u32::MAX] {
            assert!(matches!(Process::open(&Identity { pid, ..this }), Err(LeaseError::Gone)));
        }
    }
}
