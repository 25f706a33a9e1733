//! What all imports of one buffer share: the mapping, and the leases that end behind it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cuda_safe::Context;

use super::error::ImportError;
use super::mapping::Mapping;
use super::registry::{Lifetime, Refused, Registry};
use super::report::report;
use crate::lease::Lease;
use crate::wire::{MemoryHandle, Source};

/// Says what the driver would confuse: in one context, one handle is one mapping.
type Key = (u64, MemoryHandle);

static OPEN: Registry<Key, Shared> = Registry::new();

/// Is a mapping with the leases that it is under.
#[derive(Debug)]
pub(super) struct Shared {
    key: Key,
    /// Taken when it is closed.
    mapping: Option<Mapping>,
    leases: Mutex<Vec<Arc<Lease>>>,
    process: u32,
}

impl Shared {
    /// Maps what `source` names, or finds it mapped.
    pub(super) fn acquire(
        context: &Context,
        source: &Source,
        lease: Arc<Lease>,
        limit: Duration,
    ) -> Result<Arc<Self>, ImportError> {
        let key = (context.id(), source.handle);
        let lifetime = Lifetime { exporter: source.exporter, buffer_id: source.buffer_id };
        let shared = OPEN.acquire(key, lifetime, limit, || {
            let mapping = Mapping::open(context, &source.handle, source.allocation_size)?;
            let (leases, process) = (Mutex::default(), std::process::id());
            Ok::<_, ImportError>(Self { key, mapping: Some(mapping), leases, process })
        });
        let shared = shared.map_err(|refused| match refused {
            Refused::Failed(error) => error,
            Refused::Occupied(open) => {
                ImportError::Stale { need: open.buffer_id, have: source.buffer_id }
            }
        })?;
        shared.leases.lock().unwrap_or_else(PoisonError::into_inner).push(lease);
        Ok(shared)
    }

    /// Returns the mapping, which is there until this is dropped.
    pub(super) const fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_ref()
    }

    /// Closes the mapping, whose uses are done, and only then ends the leases.
    pub(super) fn close(mut self) -> cuda_safe::Result<()> {
        match self.parting() {
            Some(parting) => parting.close(),
            None => Ok(()),
        }
    }

    fn parting(&mut self) -> Option<Parting> {
        let mapping = self.mapping.take()?;
        let leases = std::mem::take(self.leases.get_mut().unwrap_or_else(PoisonError::into_inner));
        Some(Parting { key: self.key, mapping, leases })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(parting) = self.parting() else { return };
        // A forked child has the address, but neither the mapping nor the leases.
        if self.process != std::process::id() {
            return;
        }
        if parting.mapping.is_idle() {
            if let Err(error) = parting.close() {
                report(&error);
            }
            return;
        }
        // Whoever drops does not wait for the uses; a thread does. If there is none to be had, the
        // mapping stays, and so do the leases, until the process ends.
        let waiting = thread::Builder::new().name("cuda-ipc close".to_owned());
        let parting = std::mem::ManuallyDrop::new(parting);
        let spawned = waiting.spawn(move || {
            let parting = std::mem::ManuallyDrop::into_inner(parting);
            let closed = match parting.mapping.wait() {
                Ok(()) => parting.close(),
                Err(error) => {
                    parting.give_up();
                    Err(error)
                }
            };
            if let Err(error) = closed {
                report(&error);
            }
        });
        // Nobody waits for the thread.
        drop(spawned);
    }
}

/// Is a mapping that nothing uses any more.
struct Parting {
    key: Key,
    mapping: Mapping,
    leases: Vec<Arc<Lease>>,
}

impl Parting {
    /// Unmaps the memory; then others may open the handle, and the exporter hears of it.
    fn close(self) -> cuda_safe::Result<()> {
        let Self { key, mapping, leases } = self;
        match mapping.close() {
            Ok(()) => {
                OPEN.closed(&key);
                drop(leases);
                Ok(())
            }
            // It may still be mapped, and in use.
            Err(error) => {
                std::mem::forget(leases);
                Err(error)
            }
        }
    }

    /// Leaves the memory mapped and leased until the process ends: it may be in use.
    fn give_up(self) {
        std::mem::forget(self.leases);
    }
}
