//! Messages between two processes of one machine: whole, in order, from a known sender.
//!
//! Sockets here never block; waiting is the caller's. A program that is executed does not get them.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendFlags,
    SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg, sendmsg, socket_with, sockopt,
};

use super::error::LeaseError;
use super::wait::{deadline, wait_for};

/// The most bytes of a message.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// As many descriptors are taken from the kernel, to be closed; it closes the others.
const MAX_DESCRIPTORS: usize = 16;

/// Is one end of a connection.
#[derive(Debug)]
pub(crate) struct Socket {
    fd: OwnedFd,
}

/// Is what a connection has to give.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A message of so many bytes.
    Message(usize),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

impl Socket {
    pub(super) fn new() -> Result<Self, LeaseError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map(Self::from)
            .map_err(LeaseError::system("socket"))
    }

    /// Connects to whoever listens at `path`.
    pub(crate) fn connect(path: &Path, limit: Duration) -> Result<Self, LeaseError> {
        let system = LeaseError::system("connect");
        let address = SocketAddrUnix::new(path).map_err(&system)?;
        let socket = Self::new()?;
        let deadline = deadline(limit);
        loop {
            match connect(&socket.fd, &address) {
                Ok(()) | Err(Errno::ISCONN) => return Ok(socket),
                // Whoever listens has as many waiting as it lets wait.
                Err(Errno::AGAIN | Errno::INTR) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(Errno::AGAIN) => {
                    return Err(LeaseError::TimedOut { operation: "connect", limit });
                }
                Err(error) => return Err(system(error)),
            }
        }
    }

    /// Returns the process and the user of the other end, as they were when it was connected.
    pub(crate) fn peer(&self) -> Result<(u32, u32), LeaseError> {
        let peer = sockopt::socket_peercred(&self.fd).map_err(LeaseError::system("SO_PEERCRED"))?;
        let pid = peer.pid.as_raw_nonzero().get().cast_unsigned();
        Ok((pid, peer.uid.as_raw()))
    }

    /// Checks that the other end is of this process's user; returns its process.
    pub(crate) fn check_peer(&self) -> Result<u32, LeaseError> {
        let (pid, have) = self.peer()?;
        let need = rustix::process::geteuid().as_raw();
        if need != have {
            return Err(LeaseError::OtherUser { need, have });
        }
        Ok(pid)
    }

    /// Sends a message; answers whether there was room for it.
    pub(crate) fn send(&self, message: &[u8]) -> Result<bool, LeaseError> {
        if !(1..=MAX_MESSAGE).contains(&message.len()) {
            return Err(LeaseError::MessageSize { need: MAX_MESSAGE, have: message.len() });
        }
        let mut no_control = SendAncillaryBuffer::default();
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        loop {
            match sendmsg(&self.fd, &[IoSlice::new(message)], &mut no_control, flags) {
                Ok(_) => return Ok(true),
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(LeaseError::Closed),
                Err(error) => return Err(LeaseError::system("sendmsg")(error)),
            }
        }
    }

    /// Takes the next message. A connection that was reset gives what it still has before it ends.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Received, LeaseError> {
        let need = buffer.len();
        let mut control = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut control);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC | RecvFlags::TRUNC;
        let received = loop {
            match recvmsg(&self.fd, &mut [IoSliceMut::new(buffer)], &mut control, flags) {
                Ok(received) => break received,
                Err(Errno::AGAIN) => return Ok(Received::Nothing),
                // The error is told once; the messages before it are still there.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                Err(error) => return Err(LeaseError::system("recvmsg")(error)),
            }
        };
        // Dropping what was drained closes it.
        if control.drain().count() > 0 || received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(LeaseError::FileDescriptors);
        }
        match received.bytes {
            // A message of no bytes looks like the end, but there is none.
            0 if self.has_ended()? => Ok(Received::End),
            have if (1..=need).contains(&have) => Ok(Received::Message(have)),
            have => Err(LeaseError::MessageSize { need, have }),
        }
    }

    fn has_ended(&self) -> Result<bool, LeaseError> {
        wait_for(self.as_fd(), PollFlags::RDHUP, Some(Instant::now()))
    }
}

impl From<OwnedFd> for Socket {
    fn from(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
