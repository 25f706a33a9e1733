//! The exporter's books: what is shared, and who has a lease of it. No sockets, no driver.
//!
//! Whatever a change makes needless is returned and not dropped here, because memory is freed by
//! others' code, and the books are kept under a lock.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::error::Denial;
use crate::identity::{DeviceUuid, Identity, Nonce};
use crate::wire::{Descriptor, MemoryHandle};

/// Is what keeps shared memory allocated.
pub(super) type Owner = Arc<dyn Any + Send + Sync>;

/// The most leases of one connection.
const MAX_LEASES: usize = 4096;

/// Is the number of a connection.
pub(super) type LinkId = u64;

/// Says what the driver would confuse: two allocations, one behind the other, can have one handle.
type Key = (DeviceUuid, MemoryHandle);

/// Is an exporter's books.
#[derive(Default)]
pub(super) struct Ledger {
    exports: HashMap<Nonce, Export>,
    leases: BTreeMap<u64, Lease>,
    last: u64,
}

struct Export {
    key: Key,
    buffer_id: u64,
    bytes: Vec<u8>,
    owner: Owner,
    /// Tells whether new leases are given.
    open: bool,
    /// Tells whether somebody waits to have the owner back.
    kept: bool,
    announced: u64,
    leaked: bool,
}

/// Is one process's right to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) nonce: Nonce,
    pub(super) link: LinkId,
    pub(super) holder: Identity,
    pub(super) state: LeaseState,
}

/// Says how a lease stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaseState {
    /// The importer may use the memory.
    Held,
    /// The importer was asked to end it.
    Revoked,
    /// The importer cannot be asked any more, and lives: it may still use the memory.
    Orphaned,
}

/// Says how an export ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Every lease ended.
    Free,
    /// A lease was given up: the memory is never freed.
    Leaked,
}

/// Says why something is not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// Something is shared by the same name.
    Name,
    /// Another buffer is shared by the same handle.
    Handle {
        /// The driver's number for it.
        buffer_id: u64,
    },
}

impl Ledger {
    /// Enters an export, if it cannot be taken for another.
    pub(super) fn publish(&mut self, descriptor: &Descriptor, owner: Owner) -> Result<(), Clash> {
        let source = descriptor.source();
        if self.exports.contains_key(&source.nonce) {
            return Err(Clash::Name);
        }
        let key = (source.device, source.handle);
        let other = self
            .exports
            .values()
            .find(|export| export.key == key && export.buffer_id != source.buffer_id);
        if let Some(other) = other {
            return Err(Clash::Handle { buffer_id: other.buffer_id });
        }
        let export = Export {
            key,
            buffer_id: source.buffer_id,
            bytes: descriptor.encode(),
            owner,
            open: true,
            kept: true,
            announced: 0,
            leaked: false,
        };
        self.exports.insert(source.nonce, export);
        Ok(())
    }

    /// Gives a lease; returns its number and the highest value that was announced.
    pub(super) fn claim(
        &mut self,
        link: LinkId,
        holder: Identity,
        descriptor: &[u8],
    ) -> Result<(u64, u64), Denial> {
        let claimed = Descriptor::decode(descriptor).map_err(|_| Denial::Different)?;
        let nonce = claimed.source().nonce;
        let export = self.exports.get(&nonce).filter(|export| export.open);
        let export = export.ok_or(Denial::Stale)?;
        if export.bytes != descriptor {
            return Err(Denial::Different);
        }
        if self.leases.values().filter(|lease| lease.link == link).count() >= MAX_LEASES {
            return Err(Denial::TooMany);
        }
        self.last += 1;
        let lease = Lease { nonce, link, holder, state: LeaseState::Held };
        self.leases.insert(self.last, lease);
        Ok((self.last, export.announced))
    }

    /// Ends a lease that the connection has; answers whether it had it, and what is needless now.
    pub(super) fn release(&mut self, link: LinkId, lease: u64) -> (bool, Vec<Owner>) {
        if self.leases.get(&lease).is_none_or(|lease| lease.link != link) {
            return (false, Vec::new());
        }
        self.leases.remove(&lease);
        (true, self.sweep())
    }

    /// Ends all leases of a process that has ended; returns what is needless now.
    pub(super) fn died(&mut self, link: LinkId) -> Vec<Owner> {
        self.leases.retain(|_, lease| lease.link != link);
        self.sweep()
    }

    /// Notes that a connection has ended and its process lives.
    pub(super) fn orphan(&mut self, link: LinkId) {
        for lease in self.leases.values_mut().filter(|lease| lease.link == link) {
            lease.state = LeaseState::Orphaned;
        }
    }

    /// Gives the leases of a connection up: what they are of is never freed.
    pub(super) fn leak(&mut self, link: LinkId) {
        let leases = std::mem::take(&mut self.leases);
        let (given_up, kept): (BTreeMap<_, _>, _) =
            leases.into_iter().partition(|(_, lease)| lease.link == link);
        self.leases = kept;
        for lease in given_up.values() {
            if let Some(export) = self.exports.get_mut(&lease.nonce)
                && !std::mem::replace(&mut export.leaked, true)
            {
                // One count that nobody takes back: the owner is never dropped.
                std::mem::forget(Arc::clone(&export.owner));
            }
        }
    }

    pub(super) fn has_leases(&self, link: LinkId) -> bool {
        self.leases.values().any(|lease| lease.link == link)
    }

    /// Lets a value be known; returns who has to be told.
    pub(super) fn announce(&mut self, nonce: Nonce, value: u64) -> Vec<(LinkId, u64)> {
        match self.exports.get_mut(&nonce) {
            Some(export) if value > export.announced => export.announced = value,
            _ => return Vec::new(),
        }
        self.holders(nonce)
    }

    /// Gives no more leases; marks those there are, and returns who has to be told.
    pub(super) fn revoke(&mut self, nonce: Nonce) -> Vec<(LinkId, u64)> {
        if let Some(export) = self.exports.get_mut(&nonce) {
            export.open = false;
        }
        let mut told = Vec::new();
        for (number, lease) in &mut self.leases {
            if lease.nonce == nonce && lease.state == LeaseState::Held {
                lease.state = LeaseState::Revoked;
                told.push((lease.link, *number));
            }
        }
        told
    }

    /// Removes what is not shared any more, has no lease, and that nobody wants back.
    fn sweep(&mut self) -> Vec<Owner> {
        let leased: Vec<Nonce> = self.leases.values().map(|lease| lease.nonce).collect();
        // One that was given up stays, so that its handle is not shared again.
        self.exports
            .extract_if(|nonce, export| {
                !export.open && !export.kept && !export.leaked && !leased.contains(nonce)
            })
            .map(|(_, export)| export.owner)
            .collect()
    }

    /// Notes that nobody wants the owner of an export back; returns what is needless now.
    pub(super) fn abandon(&mut self, nonce: Nonce) -> Vec<Owner> {
        if let Some(export) = self.exports.get_mut(&nonce) {
            export.kept = false;
        }
        self.sweep()
    }

    /// Gives the owner of an export back that has ended.
    pub(super) fn take(&mut self, nonce: Nonce) -> Option<Owner> {
        if self.end(nonce) != Some(Ended::Free) {
            return None;
        }
        self.exports.remove(&nonce).map(|export| export.owner)
    }

    /// Returns the leases of an export, the oldest first.
    pub(super) fn leases(&self, nonce: Nonce) -> Vec<Lease> {
        self.leases.values().filter(|lease| lease.nonce == nonce).copied().collect()
    }

    /// Says how an export ended, if it has.
    pub(super) fn end(&self, nonce: Nonce) -> Option<Ended> {
        match self.exports.get(&nonce) {
            None => Some(Ended::Free),
            Some(export) if export.open || !self.leases(nonce).is_empty() => None,
            Some(export) => Some(if export.leaked { Ended::Leaked } else { Ended::Free }),
        }
    }

    fn holders(&self, nonce: Nonce) -> Vec<(LinkId, u64)> {
        let held = self.leases.iter().filter(|(_, lease)| lease.nonce == nonce);
        held.map(|(number, lease)| (lease.link, *number)).collect()
    }
}

#[cfg(test)]
mod tests;
