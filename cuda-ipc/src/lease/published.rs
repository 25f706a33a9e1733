//! What an exporter shares: told to others, asked back, taken back.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::books::Shared;
use super::error::LeaseError;
use super::ledger::{Ended, LeaseState, Ledger};
use super::protocol::Message;
use super::wait::deadline;
use crate::identity::Identity;
use crate::wire::Descriptor;

/// Is memory that is shared: whoever has the descriptor may claim a lease of it.
///
/// Dropping it asks for all leases back and gives no more; the memory stays until the last one has
/// ended, and is dropped then. Forgetting it leaves the memory shared for ever.
pub struct Published<T> {
    shared: Arc<Shared>,
    descriptor: Box<Descriptor>,
    owner: PhantomData<Arc<T>>,
}

/// Is one process's right to shared memory, seen by who shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The process.
    pub process: Identity,
    /// How its lease stands.
    pub state: LeaseState,
}

/// Says why memory is not given back. It is freed in no case.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WithdrawError<T> {
    /// Leases have not ended in time. It can be tried again.
    #[error("{} leases have not ended within {limit:?}", holders.len())]
    StillHeld {
        /// What is still shared, though no more leases are given.
        published: Published<T>,
        /// Who has leases.
        holders: Vec<Holder>,
        /// How long it waited.
        limit: Duration,
    },
    /// A lease was given up: its holder may use the memory for ever.
    #[error("the memory was given up, because a process that has a lease cannot be asked")]
    Leaked,
    /// It is no use here.
    #[error(transparent)]
    Lease(#[from] LeaseError),
}

impl<T: Send + Sync + 'static> Published<T> {
    pub(super) fn new(shared: Arc<Shared>, descriptor: Descriptor) -> Self {
        Self { shared, descriptor: Box::new(descriptor), owner: PhantomData }
    }

    /// Stops sharing: asks for all leases back, waits until they have ended, but no longer than
    /// `limit`, and gives the memory back.
    ///
    /// # Errors
    ///
    /// [`WithdrawError`] if a lease has not ended. The memory is not freed then.
    pub fn withdraw(self, limit: Duration) -> Result<Arc<T>, WithdrawError<T>> {
        self.shared.check_process()?;
        self.revoke();
        let nonce = self.descriptor.source().nonce;
        let ended = self.shared.wait(limit, |books| match books.ledger.end(nonce)? {
            Ended::Free => Some(books.ledger.take(nonce)),
            Ended::Leaked => Some(None),
        });
        match ended {
            // It is the type that it was shared as.
            Some(owner) => owner.and_then(|it| it.downcast().ok()).ok_or(WithdrawError::Leaked),
            None => {
                let holders = self.holders();
                Err(WithdrawError::StillHeld { published: self, holders, limit })
            }
        }
    }
}

impl<T> Published<T> {
    /// Returns the descriptor, which names it to others.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Tells every holder, and those to come, that the work that counts as `value` is done.
    ///
    /// Values grow; a lower one than was announced says nothing. It is called when the work *is*
    /// done, by a host function of the stream or after a wait: no stream of another process may
    /// wait for a stream here, since it would wait for ever if this process ended.
    ///
    /// # Errors
    ///
    /// [`LeaseError::Forked`] in a forked child.
    pub fn announce(&self, value: u64) -> Result<(), LeaseError> {
        self.shared.check_process()?;
        let woken = {
            let mut books = self.shared.lock();
            let told = books.ledger.announce(self.descriptor.source().nonce, value);
            books.tell(told, |lease| Message::Announce { lease, value })
        };
        woken.iter().for_each(|outbox| outbox.wake());
        Ok(())
    }

    /// Returns who has leases.
    pub fn holders(&self) -> Vec<Holder> {
        holders_in(&self.shared.lock().ledger, &self.descriptor)
    }

    /// Waits until there are holders as `enough` wants them, but no longer than `limit`; answers
    /// whether there are.
    pub fn wait_holders(&self, limit: Duration, mut enough: impl FnMut(&[Holder]) -> bool) -> bool {
        let deadline = deadline(limit);
        let mut seen = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let changed = self.shared.wait(left, |books| {
                let holders = holders_in(&books.ledger, &self.descriptor);
                (seen.as_ref() != Some(&holders)).then_some(holders)
            });
            let Some(holders) = changed else { return false };
            // What the caller wants is asked under no lock.
            if enough(&holders) {
                return true;
            }
            seen = Some(holders);
        }
    }

    /// Asks for all leases back and gives no more.
    fn revoke(&self) {
        let woken = {
            let mut books = self.shared.lock();
            let told = books.ledger.revoke(self.descriptor.source().nonce);
            books.tell(told, |lease| Message::Revoke { lease })
        };
        woken.iter().for_each(|outbox| outbox.wake());
    }
}

fn holders_in(ledger: &Ledger, descriptor: &Descriptor) -> Vec<Holder> {
    let leases = ledger.leases(descriptor.source().nonce);
    leases.iter().map(|it| Holder { process: it.holder, state: it.state }).collect()
}

impl<T> fmt::Debug for Published<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Published").field("descriptor", &self.descriptor).finish_non_exhaustive()
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        if self.shared.check_process().is_err() {
            return;
        }
        self.revoke();
        let needless = self.shared.lock().ledger.abandon(self.descriptor.source().nonce);
        drop(needless);
        self.shared.notify();
    }
}
