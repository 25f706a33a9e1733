//! The other side of the socket, by hand: what it says is written out from the format's
//! description, so that it can also be wrong.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use cuda_ipc::Identity;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recvmsg, sendmsg, socket_with,
};

use super::child::PATIENCE;

pub(crate) const HELLO: u16 = 1;
pub(crate) const WELCOME: u16 = 2;
pub(crate) const CLAIM: u16 = 3;
pub(crate) const GRANT: u16 = 4;
pub(crate) const DENY: u16 = 5;
pub(crate) const ANNOUNCE: u16 = 6;
pub(crate) const REVOKE: u16 = 7;
pub(crate) const RELEASE: u16 = 8;

/// Makes a message.
pub(crate) fn message(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"CUDALEAS\x01\x00".to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(u32::try_from(20 + body.len()).unwrap().to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    let checksum = crc32c::crc32c(&bytes);
    bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

pub(crate) fn hello(identity: &Identity) -> Vec<u8> {
    let mut body = identity.pid.to_le_bytes().to_vec();
    body.extend(identity.boot_id);
    body.extend(identity.pid_namespace.to_le_bytes());
    body.extend(identity.start_time.to_le_bytes());
    message(HELLO, &body)
}

pub(crate) fn claim(request: u64, descriptor: &[u8]) -> Vec<u8> {
    message(CLAIM, &[&request.to_le_bytes(), descriptor].concat())
}

pub(crate) fn release(lease: u64) -> Vec<u8> {
    message(RELEASE, &lease.to_le_bytes())
}

/// Is a socket that says what it is told.
pub(crate) struct Raw(pub(crate) OwnedFd);

impl Raw {
    pub(crate) fn socket() -> OwnedFd {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap()
    }

    pub(crate) fn connect(path: &Path) -> Self {
        let socket = Self::socket();
        connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
        Self(socket)
    }

    /// Connects and says who it is.
    pub(crate) fn introduced(path: &Path) -> Self {
        let raw = Self::connect(path);
        assert!(raw.send(&hello(&Identity::current().unwrap())));
        assert_eq!(raw.receive().unwrap().0, WELCOME);
        raw
    }

    /// Claims a lease; returns its number.
    pub(crate) fn claim(&self, descriptor: &[u8]) -> u64 {
        assert!(self.send(&claim(1, descriptor)));
        let (kind, body) = self.receive().unwrap();
        assert_eq!((kind, &body[..8]), (GRANT, &1_u64.to_le_bytes()[..]));
        number(&body, 1)
    }

    /// Sends a message if the other side has room; answers whether it had.
    pub(crate) fn send(&self, message: &[u8]) -> bool {
        self.send_with(message, &[])
    }

    pub(crate) fn send_with(&self, message: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(32))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.0, &[IoSlice::new(message)], &mut control, flags).is_ok()
    }

    /// Waits for a message; returns its kind and what is behind the checksum; nothing at the end.
    pub(crate) fn receive(&self) -> Option<(u16, Vec<u8>)> {
        let mut buffer = vec![0; 1 << 16];
        let start = Instant::now();
        loop {
            let mut no_control = RecvAncillaryBuffer::default();
            let parts = &mut [IoSliceMut::new(&mut buffer)];
            match recvmsg(&self.0, parts, &mut no_control, RecvFlags::DONTWAIT) {
                Ok(received) if received.bytes == 0 => return None,
                Ok(received) => {
                    let kind = u16::from_le_bytes([buffer[10], buffer[11]]);
                    return Some((kind, buffer[20..received.bytes].to_vec()));
                }
                Err(rustix::io::Errno::CONNRESET) => {}
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(1)),
            }
            assert!(start.elapsed() < PATIENCE, "it says nothing");
        }
    }

    /// Waits for the end of the connection; what comes before it is ignored.
    pub(crate) fn wait_end(&self) {
        while self.receive().is_some() {}
    }
}

impl AsFd for Raw {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns a number of a message's body.
pub(crate) fn number(body: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(body[8 * at..8 * at + 8].try_into().unwrap())
}
