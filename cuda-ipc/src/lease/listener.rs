//! A place in the file system where others connect.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, SocketFlags, accept_with, bind, listen};

use super::error::LeaseError;
use super::socket::Socket;

/// So many may wait to be accepted; the next ones wait to be let in.
const BACKLOG: i32 = 64;

/// Is a socket that others connect to. Its file goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: Socket,
    path: PathBuf,
    /// Device and inode of the file, so that nobody else's is removed.
    file: Option<(u64, u64)>,
    process: u32,
}

impl Listener {
    /// Makes a file at `path` that only this user can connect to. A file that is there stays.
    pub(crate) fn bind(path: &Path) -> Result<Self, LeaseError> {
        let system = LeaseError::system;
        let address = SocketAddrUnix::new(path).map_err(system("bind"))?;
        let socket = Socket::new()?;
        // Of the socket, not of the file: there is no moment at which others can connect.
        fchmod(socket.as_fd(), Mode::RUSR | Mode::WUSR).map_err(system("fchmod"))?;
        bind(socket.as_fd(), &address).map_err(system("bind"))?;
        let file = fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()));
        let process = std::process::id();
        let listener = Self { socket, path: path.to_owned(), file, process };
        listen(listener.as_fd(), BACKLOG).map_err(system("listen"))?;
        Ok(listener)
    }

    /// Takes the next one who waits, if there is one.
    pub(crate) fn accept(&self) -> Result<Option<Socket>, LeaseError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match accept_with(self.as_fd(), flags) {
            Ok(fd) => Ok(Some(Socket::from(fd))),
            // One who has gone again is none.
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(LeaseError::system("accept")(error)),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        let file = fs::symlink_metadata(&self.path).ok().map(|file| (file.dev(), file.ino()));
        if file.is_some() && file == self.file {
            // Nothing depends on it: a file that stays is one that nobody listens at.
            let _ = fs::remove_file(&self.path);
        }
    }
}
