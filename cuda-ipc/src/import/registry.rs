//! Which memory of other processes is open here. No driver, no sockets.
//!
//! The driver goes by the handle's bytes, which do not name a lifetime: opened again they give the
//! old mapping, whatever they name by now. So each handle is open once, for one lifetime, and
//! whoever means another waits until that is closed.
//!
//! Opening and closing take long and are not done under the lock; an entry says meanwhile what goes
//! on.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::identity::Identity;
use crate::lease::deadline;

/// Says which of the allocations is meant that have one handle one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime {
    pub(crate) exporter: Identity,
    pub(crate) buffer_id: u64,
}

impl Lifetime {
    /// Tells whether it is known to be over when `other` is not. The driver counts buffers upwards.
    const fn is_before(&self, other: &Self) -> bool {
        self.exporter.pid == other.exporter.pid
            && self.exporter.start_time == other.exporter.start_time
            && self.buffer_id < other.buffer_id
    }
}

/// Is a list of what is open, by handle.
pub(crate) struct Registry<K, M> {
    entries: Mutex<Option<HashMap<K, Entry<M>>>>,
    changed: Condvar,
}

struct Entry<M> {
    lifetime: Lifetime,
    /// None while it is opened. One that cannot be upgraded is being closed.
    mapping: Option<Weak<M>>,
}

/// Says why something was not opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused<E> {
    /// Opening failed.
    Failed(E),
    /// Another buffer with the same handle is open, or the same is still being opened or closed.
    Occupied(Lifetime),
}

impl<K: Copy + Eq + Hash, M> Registry<K, M> {
    pub(crate) const fn new() -> Self {
        Self { entries: Mutex::new(None), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<K, Entry<M>>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is open, or opens it; waits for another that has the handle to be closed, but
    /// no longer than `limit`.
    pub(crate) fn acquire<E>(
        &self,
        key: K,
        lifetime: Lifetime,
        limit: Duration,
        open: impl FnOnce() -> Result<M, E>,
    ) -> Result<Arc<M>, Refused<E>> {
        let deadline = deadline(limit);
        let mut entries = self.lock();
        while let Some(entry) = entries.get_or_insert_default().get(&key) {
            let same = entry.lifetime == lifetime;
            let mapping = entry.mapping.as_ref().and_then(Weak::upgrade);
            if let Some(mapping) = mapping.filter(|_| same) {
                return Ok(mapping);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || lifetime.is_before(&entry.lifetime) {
                return Err(Refused::Occupied(entry.lifetime));
            }
            let waited = self.changed.wait_timeout(entries, left);
            entries = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        entries.get_or_insert_default().insert(key, Entry { lifetime, mapping: None });
        drop(entries);
        // Also if opening unwinds.
        let opening = Opening { registry: self, key };
        let mapping = Arc::new(open().map_err(Refused::Failed)?);
        std::mem::forget(opening);
        if let Some(entry) = self.lock().get_or_insert_default().get_mut(&key) {
            entry.mapping = Some(Arc::downgrade(&mapping));
        }
        self.changed.notify_all();
        Ok(mapping)
    }

    /// Hears that what had the handle is closed.
    pub(crate) fn closed(&self, key: &K) {
        self.lock().get_or_insert_default().remove(key);
        self.changed.notify_all();
    }
}

/// Removes the entry of what could not be opened.
struct Opening<'a, K: Copy + Eq + Hash, M> {
    registry: &'a Registry<K, M>,
    key: K,
}

impl<K: Copy + Eq + Hash, M> Drop for Opening<'_, K, M> {
    fn drop(&mut self) {
        self.registry.closed(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(20);

    fn buffer(buffer_id: u64) -> Lifetime {
        let exporter = Identity { boot_id: [1; 16], pid_namespace: 2, pid: 3, start_time: 4 };
        Lifetime { exporter, buffer_id }
    }

    fn open(
        registry: &Registry<u8, u64>,
        buffer_id: u64,
        limit: Duration,
    ) -> Result<Arc<u64>, Refused<()>> {
        registry.acquire(7, buffer(buffer_id), limit, || Ok(buffer_id))
    }

    #[test]
    fn one_lifetime_is_opened_once() {
        let registry = Registry::new();
        let first = open(&registry, 1, SHORT).unwrap();
        let again = registry.acquire(7, buffer(1), SHORT, || Err::<u64, _>(())).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert!(registry.acquire(8, buffer(1), SHORT, || Ok::<_, ()>(1)).is_ok());
    }

    #[test]
    fn a_later_lifetime_waits_and_an_earlier_one_is_over() {
        let registry = Registry::new();
        let open_now = open(&registry, 2, SHORT).unwrap();
        assert_eq!(open(&registry, 3, SHORT), Err(Refused::Occupied(buffer(2))));
        let start = Instant::now();
        assert_eq!(open(&registry, 1, LONG), Err(Refused::Occupied(buffer(2))));
        assert!(start.elapsed() < LONG / 2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| open(&registry, 3, LONG));
            drop(open_now);
            // Not used any more, and not closed yet: not even the same may be opened.
            assert_eq!(open(&registry, 2, SHORT), Err(Refused::Occupied(buffer(2))));
            registry.closed(&7);
            assert_eq!(waiting.join().unwrap().as_deref(), Ok(&3));
        });
    }

    #[test]
    fn what_fails_to_open_leaves_nothing() {
        let registry = Registry::<u8, u64>::new();
        let failed = registry.acquire(7, buffer(1), SHORT, || Err("no"));
        assert_eq!(failed, Err(Refused::Failed("no")));
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = registry.acquire(7, buffer(1), SHORT, || -> Result<u64, ()> { panic!("no") });
        }));
        assert!(unwound.is_err());
        assert!(open(&registry, 2, SHORT).is_ok());
    }

    #[test]
    fn whoever_comes_while_it_is_opened_gets_it_too() {
        let registry = Registry::new();
        thread::scope(|scope| {
            let open = || {
                registry.acquire(7, buffer(1), LONG, || {
                    thread::sleep(SHORT);
                    Ok::<_, ()>(1)
                })
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            let opened: Vec<_> =
                threads.into_iter().map(|it| it.join().unwrap().unwrap()).collect();
            assert!(opened.iter().all(|it| Arc::ptr_eq(it, &opened[0])));
        });
    }
}
