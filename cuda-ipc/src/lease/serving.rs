//! The exporter's side of one connection: answers claims, and notices who has gone.

use std::sync::Arc;
use std::time::Instant;

use super::books::Shared;
use super::error::{Denial, LeaseError};
use super::exporter::Orphans;
use super::handshake::identify;
use super::ledger::{Ledger, LinkId, Owner};
use super::link::{Link, Side};
use super::outbox::Outbox;
use super::protocol::Message;
use super::socket::Socket;
use crate::identity::Identity;

/// Serves one connection to its end.
pub(super) fn serve(shared: &Arc<Shared>, socket: Socket) {
    let (holder, peer) = match identify(&shared.identity, &socket) {
        Ok(identified) => identified,
        Err(_) => {
            // The other end is told; whether it listens is its own affair.
            let denial = Denial::Unidentified;
            let _ = socket.send(&Message::Deny { request: 0, denial }.encode());
            return;
        }
    };
    let Ok(outbox) = Outbox::new().map(Arc::new) else { return };
    outbox.push(Message::Welcome(shared.identity));
    let id = shared.lock().connect(Arc::clone(&outbox));
    let shared = Arc::clone(shared);
    let side = Serving { shared, id, holder, outbox: Arc::clone(&outbox), orphaned: None };
    Link { socket, peer, outbox, side, open: true }.run();
}

/// Is the exporter's side of one connection.
struct Serving {
    shared: Arc<Shared>,
    id: LinkId,
    holder: Identity,
    outbox: Arc<Outbox>,
    /// When the connection ended though the process lived.
    orphaned: Option<Instant>,
}

impl Serving {
    /// Changes the books, then drops what is needless, under no lock, and lets others look.
    fn settle(&self, change: impl FnOnce(&mut Ledger) -> Vec<Owner>) {
        let needless = change(&mut self.shared.lock().ledger);
        drop(needless);
        self.shared.notify();
    }
}

impl Side for Serving {
    fn hear(&mut self, message: Message) -> Result<(), LeaseError> {
        match message {
            Message::Claim { request, descriptor } => {
                let mut books = self.shared.lock();
                let answer = match books.ledger.claim(self.id, self.holder, &descriptor) {
                    Ok((lease, announced)) => Message::Grant { request, lease, announced },
                    Err(denial) => Message::Deny { request, denial },
                };
                // Under the lock, so that what is announced from now on comes behind it.
                self.outbox.push(answer);
                drop(books);
                self.outbox.wake();
                self.shared.notify();
                Ok(())
            }
            Message::Release { lease } => {
                let mut had = false;
                self.settle(|ledger| {
                    let (known, needless) = ledger.release(self.id, lease);
                    had = known;
                    needless
                });
                let (need, have) = ("a lease of this connection", "RELEASE of another");
                if had { Ok(()) } else { Err(LeaseError::OutOfTurn { need, have }) }
            }
            other => Err(LeaseError::OutOfTurn { need: "CLAIM or RELEASE", have: other.name() }),
        }
    }

    fn ended(&mut self) {
        self.orphaned = Some(Instant::now());
        self.settle(|ledger| {
            ledger.orphan(self.id);
            Vec::new()
        });
    }

    fn died(&mut self) {
        self.settle(|ledger| ledger.died(self.id));
    }

    fn deadline(&self) -> Option<Instant> {
        match self.shared.orphans {
            Orphans::LeakAfter(patience) => self.orphaned?.checked_add(patience),
            Orphans::KeepUntilDeath => None,
        }
    }

    fn expired(&mut self) {
        self.orphaned = None;
        self.settle(|ledger| {
            ledger.leak(self.id);
            Vec::new()
        });
    }

    fn is_done(&self) -> bool {
        !self.shared.lock().ledger.has_leases(self.id)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.shared.lock().disconnect(self.id);
    }
}
