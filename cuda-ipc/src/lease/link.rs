//! The thread that serves one connection: it alone reads, writes, and watches the other process.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags};

use super::error::LeaseError;
use super::outbox::{MANY, Outbox};
use super::process::Process;
use super::protocol::Message;
use super::socket::{MAX_MESSAGE, Received, Socket};
use super::wait::wait_any;

/// So many messages are heard before it is looked whether there are answers to be sent.
const SOME: usize = 64;

/// Is what is done with what is heard. It is called by the connection's thread only, under no lock.
pub(super) trait Side: Send + 'static {
    /// Hears a message.
    ///
    /// # Errors
    ///
    /// If it makes no sense; then the connection ends.
    fn hear(&mut self, message: Message) -> Result<(), LeaseError>;

    /// Hears that the connection has ended. That is not the end of the other process.
    fn ended(&mut self);

    /// Hears that the other process has ended, and that nothing of it runs any more.
    fn died(&mut self);

    /// Returns when [`expired`](Self::expired) is to be called, if it is.
    fn deadline(&self) -> Option<Instant>;

    /// Hears that the time has come.
    fn expired(&mut self);

    /// Tells whether nothing is left to wait for.
    fn is_done(&self) -> bool;
}

/// Is a connection with the process at its other end.
pub(super) struct Link<S> {
    pub(super) socket: Socket,
    pub(super) peer: Process,
    pub(super) outbox: Arc<Outbox>,
    pub(super) side: S,
    /// Tells whether there is still something to be read.
    pub(super) open: bool,
}

impl<S: Side> Link<S> {
    /// Starts the thread. It ends with the connection's last lease or the other process.
    pub(super) fn spawn(self, name: &str) -> Result<(), LeaseError> {
        let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || self.run());
        let operation = "starting a thread";
        spawned.map(drop).map_err(|source| LeaseError::System { operation, source })
    }

    /// Serves the connection, in the thread that calls.
    pub(super) fn run(mut self) {
        // Whatever fails here fails for good: nothing can be heard any more, as if it had ended.
        // What is leased stays so.
        if self.serve().is_err() {
            self.end();
        }
    }

    fn serve(&mut self) -> Result<(), LeaseError> {
        let mut buffer = vec![0; MAX_MESSAGE];
        loop {
            // In this order: what is done has been queued before it counts as done.
            let done = self.side.is_done();
            let outgoing = self.outbox.len();
            if done && (!self.open || (self.outbox.is_closing() && outgoing == 0)) {
                self.end();
                return Ok(());
            }
            let (socket, died) = self.wait(outgoing)?;
            self.outbox.sleep();
            if !socket.is_empty() && outgoing < MANY {
                self.read(&mut buffer, SOME);
            }
            if died {
                // Everything that was said before an end is heard before it; nothing is added.
                self.read(&mut buffer, usize::MAX);
                self.end();
                self.side.died();
                return Ok(());
            }
            if self.side.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
                self.side.expired();
            }
            if self.open {
                let socket = &self.socket;
                // What cannot be sent is of no use; what was said to us is still read to its end.
                if self.outbox.flush(|message| socket.send(message)).is_err() {
                    self.outbox.end();
                }
            }
        }
    }

    /// Waits until there is something to do; answers what the socket has, and whether the other
    /// process has ended.
    fn wait(&self, outgoing: usize) -> Result<(PollFlags, bool), LeaseError> {
        let mut events = PollFlags::empty();
        events.set(PollFlags::IN | PollFlags::RDHUP, outgoing < MANY);
        events.set(PollFlags::OUT, outgoing > 0);
        let mut fds = [
            PollFd::from_borrowed_fd(self.outbox.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.peer.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.socket.as_fd(), events),
        ];
        // A connection that has ended would wake the thread for ever.
        let watched = if self.open { 3 } else { 2 };
        wait_any(fds.get_mut(..watched).unwrap_or_default(), self.side.deadline())?;
        let [_, peer, socket] = fds;
        Ok((socket.revents(), !peer.revents().is_empty()))
    }

    /// Hears what was said, but no more than `most` messages: the other side may go on for ever.
    fn read(&mut self, buffer: &mut [u8], most: usize) {
        for _ in 0..most {
            if !self.open {
                return;
            }
            match self.read_one(buffer) {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => self.end(),
            }
        }
    }

    /// Hears the next message; answers whether there was one, and fails if it was none, or at the
    /// end.
    fn read_one(&mut self, buffer: &mut [u8]) -> Result<bool, LeaseError> {
        match self.socket.receive(buffer)? {
            Received::Nothing => Ok(false),
            Received::End => Err(LeaseError::Closed),
            Received::Message(length) => {
                let message = Message::decode(buffer.get(..length).unwrap_or_default())?;
                self.side.hear(message)?;
                Ok(true)
            }
        }
    }

    /// Ends the connection, once.
    fn end(&mut self) {
        if std::mem::take(&mut self.open) {
            self.outbox.end();
            // The other side hears of it at once, and not only when the thread ends.
            let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
            self.side.ended();
        }
    }
}
