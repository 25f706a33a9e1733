//! A lease, where it is held.

use std::sync::Arc;
use std::time::Duration;

use super::desk::{Desk, Shared};
use super::error::LeaseError;
use super::protocol::Message;
use crate::identity::Identity;
use crate::wire::Descriptor;

/// Is the right to use memory that another process shares.
///
/// Dropping it tells the exporter that the memory is not used any more. Forgetting it keeps the
/// memory allocated there until this process ends.
#[derive(Debug)]
pub struct Lease {
    shared: Arc<Shared>,
    number: u64,
    descriptor: Box<Descriptor>,
}

impl Lease {
    pub(super) const fn new(shared: Arc<Shared>, number: u64, descriptor: Box<Descriptor>) -> Self {
        Self { shared, number, descriptor }
    }

    /// Returns who shares the memory.
    pub fn exporter(&self) -> Identity {
        self.shared.exporter
    }

    /// Returns what it is a lease of.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Refuses to do anything in a forked child.
    #[cfg(feature = "driver")]
    pub(crate) fn check_process(&self) -> Result<(), LeaseError> {
        self.shared.check_process()
    }

    /// Tells whether the exporter asked for the lease back, or is gone: no new use begins then.
    pub fn is_revoked(&self) -> bool {
        let desk = self.shared.lock();
        desk.ended || desk.leases.get(&self.number).is_none_or(|told| told.revoked)
    }

    /// Waits until the exporter asks for the lease back, or is gone, but no longer than `limit`;
    /// answers whether it has.
    pub fn wait_revoked(&self, limit: Duration) -> bool {
        let revoked = |desk: &mut Desk| {
            let told = desk.leases.get(&self.number);
            (desk.ended || told.is_none_or(|told| told.revoked)).then_some(())
        };
        self.shared.wait(limit, revoked).is_some()
    }

    /// Waits until the exporter has announced that the work that counts as `value` is done.
    ///
    /// # Errors
    ///
    /// [`LeaseError::TimedOut`] after `limit`, and [`LeaseError::Closed`] if the exporter is gone:
    /// the work was not announced, and will not be.
    pub fn wait_announced(&self, value: u64, limit: Duration) -> Result<(), LeaseError> {
        self.shared.check_process()?;
        let answer = self.shared.wait(limit, |desk| {
            let announced = desk.leases.get(&self.number).map_or(0, |told| told.announced);
            if announced >= value {
                Some(Ok(()))
            } else if desk.ended {
                Some(Err(LeaseError::Closed))
            } else {
                None
            }
        });
        answer.unwrap_or(Err(LeaseError::TimedOut { operation: "announcement", limit }))
    }

    /// Returns the highest value that the exporter has announced.
    pub fn announced(&self) -> u64 {
        self.shared.lock().leases.get(&self.number).map_or(0, |told| told.announced)
    }

    /// Ends the lease: the memory is not used any more, and not mapped. Dropping it does the same.
    pub fn release(self) {}
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A forked child says nothing: the lease is its parent's.
        if self.shared.check_process().is_ok() {
            // Said before the books forget it, so that the thread does not end in between.
            self.shared.outbox.push(Message::Release { lease: self.number });
            self.shared.lock().leases.remove(&self.number);
            self.shared.outbox.wake();
        }
    }
}
