//! What can go wrong between two processes.

use std::io;
use std::time::Duration;

use crate::identity::{Identity, IdentityError, Relation};
use crate::wire::WireError;

/// Says why nothing was leased.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The system refuses an operation.
    #[error("{operation}: {source}")]
    System {
        /// The operation.
        operation: &'static str,
        /// What the system answered.
        source: io::Error,
    },
    /// It cannot be told which process this is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The other side sent something that is no message.
    #[error("the other process sent no message: {0}")]
    Wire(#[from] WireError),
    /// A message is not of a size that is carried.
    #[error("a message has {have} bytes (need 1 to {need})")]
    MessageSize {
        /// The most bytes of a message.
        need: usize,
        /// Its bytes.
        have: usize,
    },
    /// A message came with file descriptors; they were closed.
    #[error("a message came with file descriptors (need none)")]
    FileDescriptors,
    /// A message came at a time when it makes no sense.
    #[error("the other process sent a message out of turn (need {need}, have {have})")]
    OutOfTurn {
        /// What may come.
        need: &'static str,
        /// What came.
        have: &'static str,
    },
    /// The other process is of another user.
    #[error("the other process is of another user (need {need}, have {have})")]
    OtherUser {
        /// This process's user.
        need: u32,
        /// The other's.
        have: u32,
    },
    /// The other process is not who it says.
    #[error("the other process is not who it says (need process {need}, have {have})")]
    OtherProcess {
        /// The process that the kernel says it is.
        need: u32,
        /// The process that it says.
        have: u32,
    },
    /// Memory cannot be shared with a process there.
    #[error("the other process is not in this one's pid namespace: {have:?}")]
    NotReachable {
        /// Where it is.
        have: Relation,
    },
    /// The descriptor is of another exporter than the one that was asked.
    #[error("the descriptor is of another exporter (need {need}, have {have})")]
    OtherExporter {
        /// The exporter that was asked.
        need: Identity,
        /// The descriptor's.
        have: Identity,
    },
    /// The exporter gives no lease.
    #[error("the exporter gives no lease: {0}")]
    Denied(#[from] Denial),
    /// The other process ended, or its number is another's by now.
    #[error("the other process has ended")]
    Gone,
    /// The other process closed the connection.
    #[error("the connection has ended")]
    Closed,
    /// The answer did not come in time.
    #[error("{operation}: no answer within {limit:?}")]
    TimedOut {
        /// What was waited for.
        operation: &'static str,
        /// How long.
        limit: Duration,
    },
    /// This is a forked child: the connection and the memory are its parent's.
    #[error("the connection is process {need}'s, and this is its forked child {have}")]
    Forked {
        /// The process that made the connection.
        need: u32,
        /// This process.
        have: u32,
    },
    /// A descriptor names one export, and this one does already.
    #[error("the descriptor is shared already, or was given up: describe the buffer anew")]
    SharedAlready,
    /// Other memory is shared by the same handle.
    #[error("buffer {have} has the handle of buffer {need}, which is still leased")]
    Stale {
        /// The buffer that is leased.
        need: u64,
        /// The buffer that was to be shared.
        have: u64,
    },
}

impl LeaseError {
    /// Makes the error of a system call.
    pub(super) fn system(operation: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |source| Self::System { operation, source: source.into() }
    }
}

/// Says why an exporter gives no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// The exporter shares nothing of that name, or no longer: the memory may be free, or another
    /// array's by now.
    #[error("the descriptor is stale: its memory is not shared, or no longer")]
    Stale,
    /// The exporter shares something of that name, and its descriptor has other bytes.
    #[error("the descriptor is not the one that was exported")]
    Different,
    /// The process has as many leases as one may have.
    #[error("the process has too many leases")]
    TooMany,
    /// The exporter cannot tell who the process is, or shares nothing with where it is.
    #[error("the exporter does not know the process, or cannot share memory with it")]
    Unidentified,
    /// A reason that is not known here.
    #[error("reason {0}, which is not known here")]
    Other(u16),
}

impl Denial {
    pub(super) const fn number(self) -> u16 {
        match self {
            Self::Stale => 1,
            Self::Different => 2,
            Self::TooMany => 3,
            Self::Unidentified => 4,
            Self::Other(number) => number,
        }
    }

    pub(super) const fn from_number(number: u16) -> Self {
        match number {
            1 => Self::Stale,
            2 => Self::Different,
            3 => Self::TooMany,
            4 => Self::Unidentified,
            _ => Self::Other(number),
        }
    }
}
