//! The exporter's end: a place to connect to, and what is shared there.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};

use super::books::Shared;
use super::error::LeaseError;
use super::ledger::Clash;
use super::listener::Listener;
use super::published::Published;
use super::serving::serve;
use super::wait::{Wake, wait_any};
use crate::identity::Identity;
use crate::wire::Descriptor;

/// Says what becomes of the leases of a process that cannot be asked any more, and lives.
///
/// Its kernels may still use the memory, so that it is freed in no case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Orphans {
    /// They are kept until the process ends; then the memory is free.
    #[default]
    KeepUntilDeath,
    /// They are given up after that time: the memory is leaked, also when the process ends.
    LeakAfter(Duration),
}

/// Shares memory with other processes, through a socket in the file system.
///
/// Its threads answer for it: one takes connections, and each connection has one. When it is
/// dropped nobody can connect any more; leases that were given go on until they end.
#[derive(Debug)]
pub struct Exporter {
    shared: Arc<Shared>,
    path: PathBuf,
    stop: Arc<Wake>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// Listens at `path`, where there must be no file yet, for processes of this user.
    ///
    /// # Errors
    ///
    /// As the system answers: a path of over 107 bytes, a file that is there, a missing folder.
    pub fn bind(path: &Path, orphans: Orphans) -> Result<Self, LeaseError> {
        let identity = Identity::current()?;
        let listener = Listener::bind(path)?;
        let stop = Arc::new(Wake::new()?);
        let shared = Arc::new(Shared::new(identity, orphans));
        let (accepting, stopped) = (Arc::clone(&shared), Arc::clone(&stop));
        let thread = thread::Builder::new()
            .name("cuda-ipc accept".to_owned())
            .spawn(move || accept(&accepting, &listener, &stopped))
            .map_err(|source| LeaseError::System { operation: "starting a thread", source })?;
        Ok(Self { shared, path: path.to_owned(), stop, thread: Some(thread) })
    }

    /// Returns where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns who it says that it is.
    pub fn identity(&self) -> Identity {
        self.shared.identity
    }

    /// Shares the memory that `descriptor` names, which `owner` keeps allocated.
    ///
    /// While another buffer is shared, or still leased, by the same handle, it waits for that to
    /// end, but no longer than `limit`: the driver could not tell the two apart.
    ///
    /// # Errors
    ///
    /// [`LeaseError::OtherExporter`] if the descriptor is not of this process,
    /// [`LeaseError::SharedAlready`] if it is shared by this very descriptor,
    /// [`LeaseError::Stale`] if the other buffer is still leased after `limit`, and
    /// [`LeaseError::Forked`] in a forked child.
    pub fn publish<T: Send + Sync + 'static>(
        &self,
        descriptor: Descriptor,
        owner: Arc<T>,
        limit: Duration,
    ) -> Result<Published<T>, LeaseError> {
        self.shared.check_process()?;
        let (need, have) = (self.shared.identity, descriptor.source().exporter);
        if need != have {
            return Err(LeaseError::OtherExporter { need, have });
        }
        let mut need = 0;
        let published = self.shared.wait(limit, |books| {
            match books.ledger.publish(&descriptor, Arc::clone(&owner) as _) {
                Ok(()) => Some(Ok(())),
                Err(Clash::Name) => Some(Err(LeaseError::SharedAlready)),
                Err(Clash::Handle { buffer_id }) => {
                    need = buffer_id;
                    None
                }
            }
        });
        let have = descriptor.source().buffer_id;
        published.unwrap_or(Err(LeaseError::Stale { need, have }))?;
        Ok(Published::new(Arc::clone(&self.shared), descriptor))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let thread = self.thread.take();
        if self.shared.check_process().is_err() {
            // The thread is not there in a forked child, and must not be waited for.
            std::mem::forget(thread);
            return;
        }
        self.stop.wake();
        if let Some(thread) = thread {
            // It waits for nothing but this. A panic of it has been told, and ends here.
            let _ = thread.join();
        }
        self.shared.close();
    }
}

/// Takes connections until it is told to stop.
fn accept(shared: &Arc<Shared>, listener: &Listener, stop: &Wake) {
    loop {
        let mut fds = [
            PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
        ];
        let waited = wait_any(&mut fds, None);
        let [stopped, _] = fds;
        if waited.is_err() || !stopped.revents().is_empty() {
            return;
        }
        match listener.accept() {
            Ok(None) => {}
            Ok(Some(socket)) => {
                let shared = Arc::clone(shared);
                // A connection that gets no thread is closed, which its other end sees.
                let _ = thread::Builder::new()
                    .name("cuda-ipc lease".to_owned())
                    .spawn(move || serve(&shared, socket));
            }
            // No descriptors are left, perhaps: others go on, and free some.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}
