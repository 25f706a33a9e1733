//! What an exporter's threads share: the ledger and the connections, under one lock.
//!
//! Under the lock nothing waits and no socket is used. Messages are queued under it, so that they
//! leave in the order of what they are about; the threads that send them are woken behind it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::LeaseError;
use super::exporter::Orphans;
use super::ledger::{Ledger, LinkId};
use super::outbox::Outbox;
use super::protocol::Message;
use super::wait::deadline;
use crate::identity::Identity;

/// Is what an exporter, its exports and its threads share.
pub(super) struct Shared {
    pub(super) identity: Identity,
    pub(super) orphans: Orphans,
    books: Mutex<Books>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct Books {
    pub(super) ledger: Ledger,
    outboxes: HashMap<LinkId, Arc<Outbox>>,
    last_link: LinkId,
    /// Tells whether the exporter is gone.
    closed: bool,
}

impl Books {
    /// Enters a connection; returns its number.
    pub(super) fn connect(&mut self, outbox: Arc<Outbox>) -> LinkId {
        if self.closed {
            outbox.close();
        }
        self.last_link += 1;
        self.outboxes.insert(self.last_link, outbox);
        self.last_link
    }

    /// Forgets a connection.
    pub(super) fn disconnect(&mut self, link: LinkId) {
        self.outboxes.remove(&link);
    }

    /// Queues a message for each of `told`; returns whom to wake, under no lock.
    pub(super) fn tell(
        &self,
        told: Vec<(LinkId, u64)>,
        message: impl Fn(u64) -> Message,
    ) -> Vec<Arc<Outbox>> {
        let queue = |(link, lease)| {
            let outbox = self.outboxes.get(&link)?;
            outbox.push(message(lease));
            Some(Arc::clone(outbox))
        };
        told.into_iter().filter_map(queue).collect()
    }
}

impl Shared {
    pub(super) fn new(identity: Identity, orphans: Orphans) -> Self {
        Self { identity, orphans, books: Mutex::default(), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets all connections end that have no leases, also those to come.
    pub(super) fn close(&self) {
        let mut books = self.lock();
        books.closed = true;
        books.outboxes.values().for_each(|outbox| outbox.close());
    }

    /// Lets those who wait look again.
    pub(super) fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits until `ready` answers, but no longer than `limit`.
    pub(super) fn wait<T>(
        &self,
        limit: Duration,
        mut ready: impl FnMut(&mut Books) -> Option<T>,
    ) -> Option<T> {
        let deadline = deadline(limit);
        let mut books = self.lock();
        loop {
            if let Some(answer) = ready(&mut books) {
                return Some(answer);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(books, left);
            books = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Refuses to do anything in a forked child.
    pub(super) fn check_process(&self) -> Result<(), LeaseError> {
        let (need, have) = (self.identity.pid, std::process::id());
        if need == have { Ok(()) } else { Err(LeaseError::Forked { need, have }) }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("identity", &self.identity).finish_non_exhaustive()
    }
}
