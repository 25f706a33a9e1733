//! Leases: who may use shared memory, and until when.
//!
//! ```text
//!   exporter                                importer
//!   Exporter::bind(path)
//!   publish(descriptor, owner)
//!        │            descriptor, by any way        │
//!        │ ◄──────────── HELLO, WELCOME ──────────► │  Importer::connect(path)
//!        │ ◄───────────────── CLAIM ─────────────── │  claim(descriptor)
//!        │ ────────────────── GRANT ──────────────► │  Lease
//!   announce(1) ─────────── ANNOUNCE ─────────────► │  wait_announced(1), opens, uses
//!   withdraw() ───────────── REVOKE ──────────────► │  is_revoked(): no new use
//!        │ ◄──────────────── RELEASE ────────────── │  all uses ended, mapping closed
//!   the owner is given back
//! ```
//!
//! A lease ends by RELEASE or by the importer's death, and by nothing else. Memory that is leased
//! is not freed, whatever is dropped, forgotten or killed.
//!
//! - Death is what the kernel says of the process (`pidfd`), whose start time was compared. The end
//!   of the connection is no death: kernels of a killed process go on writing for some milliseconds
//!   behind it, and a process may close a connection and live. Its leases are then *orphaned*;
//!   [`Orphans`] says what becomes of them.
//! - REVOKE is a request. If it is not answered in time the memory stays, and the caller is told.
//! - To an importer the end of the connection is a REVOKE: who shared the memory cannot say
//!   anything about it any more.
//! - A forked child has no leases: whatever it does with its parent's says nothing to anybody.
//! - Everything that waits has a time limit.
//!
//! Both processes are of one user and in one pid namespace, because the driver's handles work only
//! there. The socket's file admits nobody else from the moment it exists.

mod books;
mod desk;
mod error;
mod exporter;
mod handshake;
mod held;
mod importer;
mod ledger;
mod link;
mod listener;
mod outbox;
mod process;
mod protocol;
mod published;
mod serving;
mod socket;
mod wait;

pub use error::{Denial, LeaseError};
pub use exporter::{Exporter, Orphans};
pub use held::Lease;
pub use importer::Importer;
pub use ledger::LeaseState;
pub use published::{Holder, Published, WithdrawError};
pub use socket::MAX_MESSAGE;

#[cfg(feature = "driver")]
pub(crate) use wait::deadline;
