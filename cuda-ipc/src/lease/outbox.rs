//! What one side has still to say, and how its thread is woken to say it.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error::LeaseError;
use super::protocol::Message;
use super::wait::Wake;

/// Above so many messages nothing more is taken from the other side until it has taken some.
pub(super) const MANY: usize = 256;

/// Is a queue of messages, sent by the connection's thread. Nothing is dropped while the other side
/// is there; how long it grows is bounded by how many leases there are.
#[derive(Debug)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    wake: Wake,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// Tells that the first message is being sent, so that nothing can be added to it.
    sending: bool,
    /// Tells that the connection is to end when everything is sent.
    closing: bool,
    /// Tells that nothing can be sent any more.
    ended: bool,
}

impl Outbox {
    pub(crate) fn new() -> Result<Self, LeaseError> {
        Ok(Self { queue: Mutex::default(), wake: Wake::new()? })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message. Whoever queues calls [`wake`](Self::wake) afterwards, under no lock.
    pub(crate) fn push(&self, message: Message) {
        let mut queue = self.lock();
        if queue.ended {
            return;
        }
        // Of two announcements that nobody has seen yet the later says everything.
        if let Message::Announce { lease, value } = &message {
            let settled = usize::from(queue.sending);
            for earlier in queue.messages.iter_mut().skip(settled) {
                if let Message::Announce { lease: same, value: seen } = earlier
                    && same == lease
                {
                    *seen = (*value).max(*seen);
                    return;
                }
            }
        }
        queue.messages.push_back(message);
    }

    /// Wakes the connection's thread.
    pub(crate) fn wake(&self) {
        self.wake.wake();
    }

    /// Sees to it that the next wait waits.
    pub(super) fn sleep(&self) {
        self.wake.sleep();
    }

    /// Lets the connection end when everything is sent and nothing is left to be heard.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.wake();
    }

    /// Forgets what was not sent: nobody is there to hear it.
    pub(super) fn end(&self) {
        let mut queue = self.lock();
        queue.ended = true;
        queue.messages.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Sends what there is room for. Messages leave the queue only when they were sent.
    pub(super) fn flush(
        &self,
        mut send: impl FnMut(&[u8]) -> Result<bool, LeaseError>,
    ) -> Result<(), LeaseError> {
        // Only the connection's thread takes messages away, so the first one stays the first; the
        // lock is not held while it is sent.
        while let Some(first) = self.begin() {
            let sent = send(&first.encode());
            let mut queue = self.lock();
            queue.sending = false;
            if !sent? {
                break;
            }
            queue.messages.pop_front();
        }
        Ok(())
    }

    /// Returns the first message, which is being sent from now on.
    fn begin(&self) -> Option<Message> {
        let mut queue = self.lock();
        let first = queue.messages.front().cloned();
        queue.sending = first.is_some();
        first
    }
}

impl AsFd for Outbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announce(value: u64) -> Message {
        Message::Announce { lease: 1, value }
    }

    /// Sends everything there is; in between, something else is announced.
    fn sent(outbox: &Outbox, meanwhile: Option<u64>) -> Vec<Message> {
        let (mut sent, mut meanwhile) = (Vec::new(), meanwhile);
        let send = |bytes: &[u8]| {
            if let Some(value) = meanwhile.take() {
                outbox.push(announce(value));
            }
            sent.push(Message::decode(bytes).unwrap());
            Ok(true)
        };
        outbox.flush(send).unwrap();
        sent
    }

    #[test]
    fn announcements_are_joined_until_they_are_sent() {
        let outbox = Outbox::new().unwrap();
        outbox.push(Message::Revoke { lease: 1 });
        (1..=3).for_each(|value| outbox.push(announce(value)));
        assert_eq!(outbox.len(), 2);
        assert_eq!(sent(&outbox, None), [Message::Revoke { lease: 1 }, announce(3)]);
        // What is being sent says nothing of what comes meanwhile.
        outbox.push(announce(4));
        assert_eq!(sent(&outbox, Some(5)), [announce(4), announce(5)]);
    }

    #[test]
    fn nothing_is_dropped_until_it_was_sent() {
        let outbox = Outbox::new().unwrap();
        outbox.push(Message::Release { lease: 7 });
        outbox.flush(|_| Ok(false)).unwrap();
        assert_eq!(sent(&outbox, None), [Message::Release { lease: 7 }]);
        assert_eq!(outbox.len(), 0);
        outbox.push(Message::Release { lease: 8 });
        assert!(outbox.flush(|_| Err(LeaseError::Closed)).is_err());
        outbox.end();
        outbox.push(Message::Release { lease: 9 });
        assert_eq!(outbox.len(), 0);
    }
}
