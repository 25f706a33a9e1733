//! Memory pools: what they hold, and which memory of theirs is handed out again to whom.
//!
//! A pool is its device's, not a context's: it survives a reset (measured). Where its bytes are is in
//! `address_space`, what other processes have of it in `sharing`.

pub(crate) mod sharing;

use std::collections::{BTreeMap, HashMap};

use cuda_sys::{CUmemAccess_flags, CUmemoryPool, CUresult};

use crate::engine::address_space::{ALIGNMENT, POOL_GROWTH, Purpose};
use crate::engine::clock::{Clock, LaneId};
use crate::engine::handle::{Ended, Handle, Kind, RawHandle, Table};
use crate::engine::registry::{BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::work::ItemId;
use crate::entry::INVALID_VALUE;
use crate::report::Side;
use sharing::Imported;

/// Is which freed memory a stream may get that another stream has freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reuse {
    /// What an event orders before it.
    pub(crate) follow_events: bool,
    /// What happens to be done.
    pub(crate) opportunistic: bool,
    /// What is not done, by waiting for it, if no other is left.
    pub(crate) internal: bool,
}

/// Is memory whose free is queued, or done but not to be had by every stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Idle {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) lane: LaneId,
    pub(crate) count: u64,
    pub(crate) item: ItemId,
}

/// Is a memory pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) handle: Handle,
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    pub(crate) handle_types: u32,
    /// How many bytes it may hold; zero is as many as the device has.
    pub(crate) most: u64,
    /// How many bytes it keeps when a call waits for the device.
    pub(crate) threshold: u64,
    pub(crate) reuse: Reuse,
    pub(crate) used: u64,
    pub(crate) used_high: u64,
    pub(crate) reserved_high: u64,
    /// What other devices may do with its memory.
    pub(crate) access: BTreeMap<usize, u32>,
    pub(crate) idle: Vec<Idle>,
    /// How many allocations live.
    pub(crate) live: usize,
    /// The call that destroyed it; it ends with its last allocation.
    pub(crate) destroyed_by: Option<Side>,
    /// Whether it was exported, before which no pointer can be (measured).
    pub(crate) is_exported: bool,
    pub(crate) imported: Option<Imported>,
    pub(crate) made_by: Side,
}

impl Pool {
    pub(crate) fn new(handle: Handle, device: usize, made_by: Side) -> Self {
        Self {
            handle,
            device,
            is_default: false,
            handle_types: 0,
            most: 0,
            threshold: 0,
            // Manual: all three are on.
            reuse: Reuse { follow_events: true, opportunistic: true, internal: true },
            used: 0,
            used_high: 0,
            reserved_high: 0,
            access: BTreeMap::new(),
            idle: Vec::new(),
            live: 0,
            destroyed_by: None,
            is_exported: false,
            imported: None,
            made_by,
        }
    }

    /// Returns what a device may do with its memory; its own may do all.
    pub(crate) fn access_of(&self, device: usize) -> u32 {
        let all = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE.0;
        let own = if self.device == device { all } else { 0 };
        self.access.get(&device).copied().unwrap_or(own)
    }

    /// Tells whether it was destroyed.
    pub(crate) const fn is_destroyed(&self) -> bool {
        self.destroyed_by.is_some()
    }

    /// Tells whether nothing of it is left to free.
    fn is_over(&self) -> bool {
        self.is_destroyed() && self.live == 0 && self.idle.is_empty()
    }
}

/// Holds all pools.
#[derive(Debug)]
pub(crate) struct Pools {
    pub(crate) table: Table<Pool>,
    /// The default pools, by device.
    pub(crate) default: Vec<Handle>,
    /// The current pools, by device.
    pub(crate) current: Vec<Handle>,
    /// Whose memory an allocation is.
    pub(crate) of: HashMap<BufferId, Handle>,
    /// Whether memory was freed since they were last looked at.
    unsettled: bool,
}

impl Pools {
    pub(crate) fn new(devices: usize) -> Self {
        let mut table = Table::new(Kind::Pool);
        let made_by = Side::new("cuInit", "");
        let default: Vec<_> = (0..devices)
            .filter_map(|device| {
                table.insert_with(|handle| Pool {
                    is_default: true,
                    ..Pool::new(handle, device, made_by.clone())
                })
            })
            .collect();
        let current = default.clone();
        Self { table, default, current, of: HashMap::new(), unsettled: false }
    }
}

impl State {
    /// Returns a pool. A handle of a destroyed one is reported.
    pub(crate) fn pool(&mut self, pool: CUmemoryPool) -> Result<&mut Pool, CUresult> {
        let handle = pool.number();
        let known = self.pools.table.get(handle);
        let destroyed = known.and_then(|pool| pool.destroyed_by.clone());
        let ended = destroyed.map(|by| Ended { by: Some(by) });
        if let Some(ended) = ended.or_else(|| self.pools.table.ended(handle)) {
            self.stale("pool", "the pool was destroyed; a real driver crashes", ended);
            return Err(INVALID_VALUE);
        }
        self.pools.table.get_mut(handle).ok_or(INVALID_VALUE)
    }

    /// Returns what a device may do with memory of a pool.
    pub(crate) fn pool_access(&self, memory: BufferId, device: usize) -> u32 {
        let pool = self.pools.of.get(&memory).and_then(|&pool| self.pools.table.get(pool));
        pool.map_or(0, |pool| pool.access_of(device))
    }

    /// Allocates memory of a pool for the next work of a lane. Returns it, its address, and the work
    /// that must have run before it may be used.
    pub(crate) fn allocate_from_pool(
        &mut self,
        call: &'static str,
        pool: Handle,
        lane: LaneId,
        bytes: usize,
    ) -> Result<(BufferId, u64, Option<ItemId>), CUresult> {
        // Measured, of `cuMemAlloc`.
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        self.context()?;
        let size = bytes as u64;
        let need = size.checked_next_multiple_of(ALIGNMENT).ok_or(OUT_OF_MEMORY)?;
        let (_, ordered) = self.before(lane)?;
        let device = self.pools.table.get(pool).map_or(0, |pool| pool.device);
        self.has_room(device, size)?;
        self.open_up(pool);
        let (base, fresh, after) = match self.reuse(pool, need, Some((lane, &ordered))) {
            Some(idle) => (idle.base, idle.base + need, None),
            None => match self.place(pool, size) {
                Ok((base, fresh)) => (base, fresh, None),
                Err(error) => {
                    let its = self.pools.table.get(pool).filter(|pool| pool.reuse.internal);
                    let idle = its.is_some().then(|| self.reuse(pool, need, None)).flatten();
                    let idle = idle.ok_or(error)?;
                    (idle.base, idle.base + need, Some(idle.item))
                }
            },
        };
        let reserved = self.space.reserved(pool);
        let its = self.pools.table.get_mut(pool).ok_or(INVALID_VALUE)?;
        its.live += 1;
        its.used += need;
        its.used_high = its.used_high.max(its.used);
        its.reserved_high = its.reserved_high.max(reserved);
        let device = its.device;
        let memory = self.admit(call, MemoryKind::Pool, device, base, size)?;
        self.pools.of.insert(memory, pool);
        self.fill_with_junk(base, size, fresh);
        Ok((memory, base, after))
    }

    /// Finds room in what a pool has, or lets it grow; the device's unused pool memory is given up
    /// for that.
    fn place(&mut self, pool: Handle, size: u64) -> Result<(u64, u64), CUresult> {
        let its = self.pools.table.get(pool).ok_or(INVALID_VALUE)?;
        let (device, most) = (its.device, its.most);
        let purpose = Purpose::Pool(pool);
        // With no bytes left it finds room in what is there, or none.
        let there = self.space.allocate(device, purpose, size, 0);
        if there.is_ok() {
            return there;
        }
        let grown = size.checked_next_multiple_of(POOL_GROWTH).ok_or(OUT_OF_MEMORY)?;
        // Measured: a pool may hold one piece, however few bytes it is to hold at most.
        let most = most.next_multiple_of(POOL_GROWTH);
        let after = self.space.reserved(pool).saturating_add(grown);
        if most != 0 && after > most {
            self.space.trim(pool, 0);
            if self.space.reserved(pool).saturating_add(grown) > most {
                return Err(OUT_OF_MEMORY);
            }
        }
        let limit = self.config.memory;
        self.space.allocate(device, purpose, size, limit).or_else(|_| {
            self.release_idle_pools();
            self.space.allocate(device, purpose, size, limit)
        })
    }

    /// Takes the smallest idle memory of a pool that is large enough, and that the next work of a
    /// lane may have; without one, any.
    fn reuse(&mut self, pool: Handle, need: u64, by: Option<(LaneId, &Clock)>) -> Option<Idle> {
        let its = self.pools.table.get_mut(pool)?;
        let follows = its.reuse.follow_events;
        let may_have = |idle: &Idle| match by {
            Some((lane, ordered)) => {
                idle.lane == lane || follows && ordered.covers(idle.lane, idle.count)
            }
            None => true,
        };
        let fitting = its.idle.iter().enumerate();
        let fitting = fitting.filter(|(_, idle)| idle.size >= need && may_have(idle));
        let (position, _) = fitting.min_by_key(|(_, idle)| idle.size)?;
        let idle = its.idle.remove(position);
        if idle.size > need {
            its.idle.push(Idle { base: idle.base + need, size: idle.size - need, ..idle });
            self.space.split(idle.base, need);
        }
        Some(idle)
    }

    /// Sets the memory of a pool aside that is being freed: until `by`, the work that frees it, its
    /// count and its lane, or at once.
    pub(crate) fn set_aside(
        &mut self,
        memory: BufferId,
        base: u64,
        size: u64,
        by: Option<(ItemId, u64, LaneId)>,
    ) {
        let Some(handle) = self.pools.of.remove(&memory) else { return };
        let Some(pool) = self.pools.table.get_mut(handle) else { return };
        let size = size.next_multiple_of(ALIGNMENT);
        pool.live = pool.live.saturating_sub(1);
        pool.used = pool.used.saturating_sub(size);
        if let Some(imported) = &mut pool.imported {
            imported.close(base);
        }
        let (item, count, lane) = by.unwrap_or_default();
        pool.idle.push(Idle { base, size, lane, count, item });
        self.pools.unsettled = true;
    }

    /// Gives every stream the idle memory of a pool that every stream may have.
    fn open_up(&mut self, pool: Handle) {
        let Some(its) = self.pools.table.get_mut(pool) else { return };
        let (queue, known) = (&self.queue, &self.host_clock);
        let is_free = |idle: &Idle| {
            !queue.is_pending(idle.item)
                && (its.reuse.opportunistic || known.covers(idle.lane, idle.count))
        };
        let (free, idle) = its.idle.iter().partition(|idle| is_free(idle));
        its.idle = idle;
        let free: Vec<Idle> = free;
        for idle in free {
            match its.imported.as_mut() {
                Some(imported) => {
                    if imported.forget(idle.base) {
                        self.space.unmap_import(idle.base);
                    }
                }
                None => self.space.free(idle.base),
            }
        }
    }

    /// Gives the system what pools hold beyond their thresholds, as calls that wait do (manual), and
    /// ends pools that were destroyed.
    pub(crate) fn settle_pools(&mut self) {
        if !self.pools.unsettled {
            return;
        }
        let handles: Vec<_> = self.pools.table.values().map(|pool| pool.handle).collect();
        let mut unsettled = false;
        for handle in handles {
            self.open_up(handle);
            let Some(pool) = self.pools.table.get(handle) else { continue };
            let threshold = pool.threshold;
            unsettled |= !pool.idle.is_empty();
            self.space.trim(handle, threshold);
            self.end_pool(handle);
        }
        self.pools.unsettled = unsettled;
    }

    /// Gives the system what pools don't use, as when memory runs out.
    pub(crate) fn release_idle_pools(&mut self) {
        let handles: Vec<_> = self.pools.table.values().map(|pool| pool.handle).collect();
        for handle in handles {
            self.trim_pool(handle, 0);
        }
    }

    /// Gives the system what a pool doesn't use, down to `keep` bytes.
    pub(crate) fn trim_pool(&mut self, pool: Handle, keep: u64) {
        self.open_up(pool);
        self.space.trim(pool, keep);
    }

    /// Ends a pool that was destroyed, if nothing of it is left.
    pub(crate) fn end_pool(&mut self, handle: Handle) {
        let over = self.pools.table.get(handle).filter(|pool| pool.is_over());
        if let Some(by) = over.and_then(|pool| pool.destroyed_by.clone()) {
            self.space.trim(handle, 0);
            self.space.pool_files.remove(&handle);
            self.pools.table.remove_by(handle, by);
        }
    }
}

const OUT_OF_MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
