//! The first words of a connection, and what is checked of them.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;

use super::error::LeaseError;
use super::process::Process;
use super::protocol::Message;
use super::socket::{MAX_MESSAGE, Received, Socket};
use super::wait::{deadline, wait_for};
use crate::identity::{Identity, Relation};

/// So long a process that has connected may take to say who it is.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Hears who the other process is, and checks it against what the kernel says.
pub(super) fn identify(
    this: &Identity,
    socket: &Socket,
) -> Result<(Identity, Process), LeaseError> {
    let need = socket.check_peer()?;
    let hello = receive_first(socket, HANDSHAKE)?;
    let Message::Hello(identity) = hello else {
        return Err(LeaseError::OutOfTurn { need: "HELLO", have: hello.name() });
    };
    check_identity(this, &identity, need)?;
    let peer = Process::open(&identity)?;
    Ok((identity, peer))
}

/// Checks that a process is where memory can be shared with, and is who the kernel says it is.
pub(super) fn check_identity(
    this: &Identity,
    other: &Identity,
    need: u32,
) -> Result<(), LeaseError> {
    match this.relation(other) {
        Relation::SameProcess | Relation::SameNamespace => {}
        have => return Err(LeaseError::NotReachable { have }),
    }
    let have = other.pid;
    if need == have { Ok(()) } else { Err(LeaseError::OtherProcess { need, have }) }
}

/// Waits for the first message.
pub(super) fn receive_first(socket: &Socket, limit: Duration) -> Result<Message, LeaseError> {
    let deadline = deadline(limit);
    let mut buffer = vec![0; MAX_MESSAGE];
    loop {
        match socket.receive(&mut buffer)? {
            Received::Message(length) => {
                return Ok(Message::decode(buffer.get(..length).unwrap_or_default())?);
            }
            Received::End => return Err(LeaseError::Closed),
            Received::Nothing if !wait_for(socket.as_fd(), PollFlags::IN, Some(deadline))? => {
                return Err(LeaseError::TimedOut { operation: "handshake", limit });
            }
            Received::Nothing => {}
        }
    }
}
