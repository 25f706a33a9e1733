//! The importer's end: a connection, over which leases are claimed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::desk::{Hearing, Shared};
use super::error::LeaseError;
use super::handshake::{check_identity, receive_first};
use super::held::Lease;
use super::link::Link;
use super::outbox::Outbox;
use super::process::Process;
use super::protocol::Message;
use super::socket::Socket;
use crate::identity::Identity;
use crate::wire::Descriptor;

/// Is a connection to an exporter, to claim leases over.
///
/// One thread serves it. When it is dropped, leases that it gave go on; the connection ends with
/// the last of them.
#[derive(Debug)]
pub struct Importer {
    shared: Arc<Shared>,
}

impl Importer {
    /// Connects to the exporter that listens at `path`.
    ///
    /// # Errors
    ///
    /// As the system answers: nobody listens there, or no access. Refuses a process of another
    /// user, one that is not who it says, and one with which no memory can be shared.
    pub fn connect(path: &Path, limit: Duration) -> Result<Self, LeaseError> {
        let (identity, start) = (Identity::current()?, Instant::now());
        let socket = Socket::connect(path, limit)?;
        let need = socket.check_peer()?;
        // The socket is new and has room. If the other side is gone again, it may have said why.
        match socket.send(&Message::Hello(identity).encode()) {
            Ok(_) | Err(LeaseError::Closed) => {}
            Err(error) => return Err(error),
        }
        let exporter = match receive_first(&socket, limit.saturating_sub(start.elapsed()))? {
            Message::Welcome(exporter) => exporter,
            Message::Deny { denial, .. } => return Err(denial.into()),
            other => return Err(LeaseError::OutOfTurn { need: "WELCOME", have: other.name() }),
        };
        check_identity(&identity, &exporter, need)?;
        let peer = Process::open(&exporter)?;
        let outbox = Arc::new(Outbox::new()?);
        let shared = Arc::new(Shared::new(identity, exporter, Arc::clone(&outbox)));
        let side = Hearing::new(Arc::clone(&shared));
        Link { socket, peer, outbox, side, open: true }.spawn("cuda-ipc import")?;
        Ok(Self { shared })
    }

    /// Returns who the exporter is.
    pub fn exporter(&self) -> Identity {
        self.shared.exporter
    }

    /// Claims a lease of what `descriptor` names.
    ///
    /// The exporter compares every byte of the descriptor with what it shares.
    ///
    /// # Errors
    ///
    /// [`LeaseError::Denied`] says why the exporter gives none. [`LeaseError::OtherExporter`] if
    /// the descriptor is not of this exporter, [`LeaseError::Closed`] if it is gone,
    /// [`LeaseError::TimedOut`] if it does not answer within `limit`, and [`LeaseError::Forked`] in
    /// a forked child.
    pub fn claim(&self, descriptor: &Descriptor, limit: Duration) -> Result<Lease, LeaseError> {
        self.shared.check_process()?;
        let (need, have) = (self.shared.exporter, descriptor.source().exporter);
        if need != have {
            return Err(LeaseError::OtherExporter { need, have });
        }
        let request = {
            let mut desk = self.shared.lock();
            if desk.ended {
                return Err(LeaseError::Closed);
            }
            desk.last_request += 1;
            let request = desk.last_request;
            desk.requests.insert(request, None);
            request
        };
        self.shared.say(Message::Claim { request, descriptor: descriptor.encode() });
        let answer = self.shared.wait(limit, |desk| match desk.requests.get(&request) {
            Some(Some(answer)) => Some(Some(*answer)),
            _ if desk.ended => Some(None),
            _ => None,
        });
        // An answer that comes later finds that nobody wants it.
        let answer = match answer {
            None => self.shared.lock().requests.remove(&request).flatten().map(Some),
            Some(answer) => {
                self.shared.lock().requests.remove(&request);
                Some(answer)
            }
        };
        match answer {
            Some(Some(Ok(number))) => {
                let descriptor = Box::new(descriptor.clone());
                Ok(Lease::new(Arc::clone(&self.shared), number, descriptor))
            }
            Some(Some(Err(denial))) => Err(denial.into()),
            Some(None) => Err(LeaseError::Closed),
            None => Err(LeaseError::TimedOut { operation: "claim", limit }),
        }
    }
}

impl Drop for Importer {
    fn drop(&mut self) {
        if self.shared.check_process().is_ok() {
            self.shared.outbox.close();
        }
    }
}
