//! What an importer's connection has asked and was told, and the thread's side of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::{Denial, LeaseError};
use super::link::Side;
use super::outbox::Outbox;
use super::protocol::Message;
use super::wait::deadline;
use crate::identity::Identity;

/// Is what a connection, its leases and its thread share.
pub(super) struct Shared {
    /// This process.
    identity: Identity,
    pub(super) exporter: Identity,
    desk: Mutex<Desk>,
    changed: Condvar,
    pub(super) outbox: Arc<Outbox>,
}

/// Is what was asked, answered and told.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) last_request: u64,
    /// What was asked, and the answer once it is there.
    pub(super) requests: HashMap<u64, Option<Answer>>,
    pub(super) leases: HashMap<u64, Told>,
    pub(super) ended: bool,
}

pub(super) type Answer = Result<u64, Denial>;

/// Is what the exporter told of a lease.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) announced: u64,
    pub(super) revoked: bool,
}

impl Shared {
    pub(super) fn new(identity: Identity, exporter: Identity, outbox: Arc<Outbox>) -> Self {
        Self { identity, exporter, desk: Mutex::default(), changed: Condvar::new(), outbox }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `ready` answers, but no longer than `limit`.
    pub(super) fn wait<T>(
        &self,
        limit: Duration,
        mut ready: impl FnMut(&mut Desk) -> Option<T>,
    ) -> Option<T> {
        let deadline = deadline(limit);
        let mut desk = self.lock();
        loop {
            if let Some(answer) = ready(&mut desk) {
                return Some(answer);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(desk, left);
            desk = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Refuses to do anything in a forked child.
    pub(super) fn check_process(&self) -> Result<(), LeaseError> {
        let (need, have) = (self.identity.pid, std::process::id());
        if need == have { Ok(()) } else { Err(LeaseError::Forked { need, have }) }
    }

    pub(super) fn say(&self, message: Message) {
        self.outbox.push(message);
        self.outbox.wake();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("exporter", &self.exporter).finish_non_exhaustive()
    }
}

/// Is the importer's side of the connection.
pub(super) struct Hearing {
    shared: Arc<Shared>,
}

impl Hearing {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn end(&self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

impl Side for Hearing {
    fn hear(&mut self, message: Message) -> Result<(), LeaseError> {
        let mut desk = self.shared.lock();
        match message {
            Message::Grant { request, lease, announced } => {
                match desk.requests.get_mut(&request) {
                    Some(answer @ None) => {
                        *answer = Some(Ok(lease));
                        desk.leases.insert(lease, Told { announced, revoked: false });
                    }
                    Some(Some(_)) => {
                        let (need, have) = ("one answer to a claim", "GRANT behind another");
                        return Err(LeaseError::OutOfTurn { need, have });
                    }
                    // Whoever asked waits no more: the lease ends as it began.
                    None => self.shared.outbox.push(Message::Release { lease }),
                }
            }
            Message::Deny { request, denial } => {
                if let Some(answer) = desk.requests.get_mut(&request) {
                    *answer = Some(Err(denial));
                }
            }
            // What is told of a lease that was ended in the meantime is of no interest.
            Message::Announce { lease, value } => {
                if let Some(told) = desk.leases.get_mut(&lease) {
                    told.announced = told.announced.max(value);
                }
            }
            Message::Revoke { lease } => {
                if let Some(told) = desk.leases.get_mut(&lease) {
                    told.revoked = true;
                }
            }
            other => {
                let need = "GRANT, DENY, ANNOUNCE or REVOKE";
                return Err(LeaseError::OutOfTurn { need, have: other.name() });
            }
        }
        drop(desk);
        self.shared.changed.notify_all();
        Ok(())
    }

    fn ended(&mut self) {
        self.end();
    }

    fn died(&mut self) {
        self.end();
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn expired(&mut self) {}

    fn is_done(&self) -> bool {
        let desk = self.shared.lock();
        desk.leases.is_empty() && desk.requests.is_empty()
    }
}
