//! Every allocation: where it is, whose it is, and who touched it last.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::binary::VariableSpace;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::handle::Handle;
use crate::engine::work::ItemId;
use crate::report::Side;

/// Is an allocation's identity, as `CU_POINTER_ATTRIBUTE_BUFFER_ID` tells it.
pub(crate) type BufferId = u64;

/// Is how memory came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    Device,
    Pool,
    Imported,
    /// Physical memory at addresses where it is mapped.
    Virtual,
    /// Physical memory, whatever its addresses.
    Physical,
    Host,
    Registered,
    Managed,
    /// An array's, which has no address.
    Array,
    /// A variable of a module.
    Variable(VariableSpace),
}

impl MemoryKind {
    /// Tells whether it lies on one device.
    pub(crate) const fn is_device(self) -> bool {
        !self.is_host() && !self.is_managed()
    }

    /// Tells whether the host may touch it too, by the same address.
    pub(crate) const fn is_managed(self) -> bool {
        matches!(self, Self::Managed | Self::Variable(VariableSpace::Managed))
    }

    pub(crate) const fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::Registered)
    }
}

/// Is a past access that later ones are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) item: ItemId,
    pub(crate) lane: LaneId,
    pub(crate) count: u64,
    pub(crate) kind: AccessKind,
    pub(crate) area: AccessBox,
    /// Whether it comes behind a wait for a value.
    pub(crate) may_be_ordered: bool,
    pub(crate) side: Side,
}

/// Is an allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) id: BufferId,
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) kind: MemoryKind,
    pub(crate) device: usize,
    pub(crate) context: Handle,
    /// The flags of `cuMemHostAlloc` or `cuMemHostRegister`.
    pub(crate) flags: u32,
    /// The call that made it.
    pub(crate) made_by: Side,
    pub(crate) history: Vec<Past>,
}

/// Up to so many accesses are remembered whether or not they are done.
const LEAST_WORTH: usize = 16;

/// How many accesses of an allocation are remembered. The races of older ones are missed.
const MOST_REMEMBERED: usize = 2048;

impl Allocation {
    /// Returns the address behind the last byte.
    pub(crate) const fn end(&self) -> u64 {
        self.base + self.size
    }

    /// Returns how many bytes there are from an address in it to its end.
    pub(crate) const fn rest(&self, address: u64) -> u64 {
        self.end().saturating_sub(address)
    }

    /// Remembers an access, in the place of those that it stands for: a later one that is not in
    /// order with one of them isn't with this one either.
    pub(crate) fn remember(&mut self, new: Past, clock: &Clock, known: &Clock) {
        self.history.retain(|past| {
            let comes_before = past.lane == new.lane || clock.covers(past.lane, past.count);
            let stands_for = new.kind == AccessKind::Write || new.kind == past.kind;
            !(comes_before && stands_for && new.area.covers(&past.area))
        });
        // What is known to be done is looked for each time that the history would grow.
        let full = self.history.capacity();
        if self.history.len() == full && full >= LEAST_WORTH {
            self.forget(known);
            if self.history.len() > MOST_REMEMBERED {
                self.history.drain(..MOST_REMEMBERED / 2);
            } else if self.history.len() > full / 2 {
                self.history.reserve(full);
            }
        }
        self.history.push(new);
    }

    /// Forgets the accesses that the host knows to be done.
    pub(crate) fn forget(&mut self, known: &Clock) {
        self.history.retain(|past| !known.covers(past.lane, past.count));
    }
}

/// Is memory that was freed.
#[derive(Clone, Debug)]
pub(crate) struct Grave {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) freed_by: Side,
}

/// How many graves are remembered.
const GRAVES: usize = 1024;

/// Holds every allocation.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    by_id: HashMap<BufferId, Allocation>,
    /// What calls may name, by its first address.
    live: BTreeMap<u64, BufferId>,
    /// What nodes of graphs may name and calls may not, by its first address.
    hidden: BTreeMap<u64, BufferId>,
    /// Whether the call that is being answered is about nodes of graphs.
    pub(crate) sees_hidden: bool,
    graves: VecDeque<Grave>,
    /// Other addresses of host memory, by the first: how many, and whose.
    aliases: BTreeMap<u64, (u64, BufferId)>,
    /// The memory whose operations without a stream are waited for.
    synchronous: HashSet<BufferId>,
    last_id: BufferId,
}

impl Registry {
    /// Adds an allocation; its id is set here.
    pub(crate) fn add(&mut self, mut allocation: Allocation) -> BufferId {
        self.last_id += 1;
        allocation.id = self.last_id;
        self.graves.retain(|grave| {
            grave.base >= allocation.end() || allocation.base >= grave.base + grave.size
        });
        // An array's bytes have no address that a call could name.
        if allocation.kind != MemoryKind::Array {
            self.live.insert(allocation.base, allocation.id);
        }
        self.by_id.insert(allocation.id, allocation);
        self.last_id
    }

    /// Adds memory that no address means; its id is set here.
    pub(crate) fn add_hidden(&mut self, mut allocation: Allocation) -> BufferId {
        self.last_id += 1;
        allocation.id = self.last_id;
        self.by_id.insert(allocation.id, allocation);
        self.last_id
    }

    pub(crate) fn get(&self, id: BufferId) -> Option<&Allocation> {
        self.by_id.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: BufferId) -> Option<&mut Allocation> {
        self.by_id.get_mut(&id)
    }

    /// Returns the allocation that an address lies in.
    pub(crate) fn find(&self, address: u64) -> Option<&Allocation> {
        let among = |ids: &BTreeMap<u64, BufferId>| {
            let (_, id) = ids.range(..=address).next_back()?;
            self.by_id.get(id).filter(|allocation| address < allocation.end())
        };
        among(&self.live).or_else(|| among(&self.hidden).filter(|_| self.sees_hidden))
    }

    /// Takes an allocation from calls' reach that isn't freed, and may come back.
    pub(crate) fn hide(&mut self, id: BufferId) {
        let Some(allocation) = self.by_id.get(&id) else { return };
        self.live.remove(&allocation.base);
        self.hidden.insert(allocation.base, id);
    }

    /// Brings what was hidden, or freed and not removed, into calls' reach.
    pub(crate) fn show(&mut self, id: BufferId) {
        let Some(allocation) = self.by_id.get(&id) else { return };
        let (base, end) = (allocation.base, allocation.end());
        self.graves.retain(|grave| grave.base >= end || base >= grave.base + grave.size);
        self.live.insert(base, id);
    }

    /// Tells whether calls may name an allocation.
    pub(crate) fn is_live(&self, id: BufferId) -> bool {
        self.by_id.get(&id).is_some_and(|found| self.live.get(&found.base) == Some(&id))
    }

    /// Returns the allocation that queued work finds at an address: it may be out of calls' reach.
    pub(crate) fn resident(&self, address: u64) -> Option<&Allocation> {
        self.find(address).or_else(|| {
            let mut all = self.by_id.values();
            all.find(|memory| {
                !matches!(memory.kind, MemoryKind::Array | MemoryKind::Physical)
                    && (memory.base..memory.end()).contains(&address)
            })
        })
    }

    /// Returns the allocation that begins at an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Allocation> {
        self.live.get(&address).and_then(|id| self.by_id.get(id))
    }

    /// Tells whether a range has a byte of an allocation.
    pub(crate) fn overlaps(&self, base: u64, size: u64) -> bool {
        let end = base.saturating_add(size);
        let last = self.live.range(..end).next_back();
        last.and_then(|(_, id)| self.by_id.get(id)).is_some_and(|found| base < found.end())
    }

    /// Takes an allocation from calls' reach; queued work still has it.
    pub(crate) fn retire(&mut self, id: BufferId, freed_by: Side) {
        let Some(allocation) = self.by_id.get(&id) else { return };
        let (base, size) = (allocation.base, allocation.size);
        self.live.remove(&base);
        if self.graves.len() == GRAVES {
            self.graves.pop_front();
        }
        self.graves.push_back(Grave { base, size, freed_by });
    }

    /// Takes an allocation from everybody's reach.
    pub(crate) fn remove(&mut self, id: BufferId) -> Option<Allocation> {
        let allocation = self.by_id.remove(&id)?;
        self.synchronous.remove(&id);
        if self.live.get(&allocation.base) == Some(&id) {
            self.live.remove(&allocation.base);
        }
        if self.hidden.get(&allocation.base) == Some(&id) {
            self.hidden.remove(&allocation.base);
        }
        Some(allocation)
    }

    /// Gives memory another address, for the device.
    pub(crate) fn add_alias(&mut self, memory: BufferId, base: u64, size: u64) {
        self.aliases.insert(base, (size, memory));
    }

    /// Takes the other address of memory away, and returns where and how long it was.
    pub(crate) fn remove_alias(&mut self, memory: BufferId) -> Option<(u64, u64)> {
        let base = self.alias(memory)?;
        self.aliases.remove(&base).map(|(size, _)| (base, size))
    }

    /// Returns the other address of memory.
    pub(crate) fn alias(&self, memory: BufferId) -> Option<u64> {
        let mut aliases = self.aliases.iter();
        aliases.find(|(_, (_, owner))| *owner == memory).map(|(&base, _)| base)
    }

    /// Returns the host's address of a byte that has another.
    pub(crate) fn canonical(&self, address: u64) -> u64 {
        let found = self.aliases.range(..=address).next_back();
        let host = found.and_then(|(base, (size, owner))| {
            let offset = address - base;
            let memory = self.by_id.get(owner).filter(|_| offset < *size)?;
            Some(memory.base + offset)
        });
        host.unwrap_or(address)
    }

    /// Says whether operations on memory without a stream are waited for.
    pub(crate) fn set_synchronous(&mut self, memory: BufferId, synchronous: bool) {
        if synchronous {
            self.synchronous.insert(memory);
        } else {
            self.synchronous.remove(&memory);
        }
    }

    /// Tells whether operations on memory without a stream are waited for.
    pub(crate) fn is_synchronous(&self, memory: BufferId) -> bool {
        self.synchronous.contains(&memory)
    }

    /// Returns the freed memory that an address lay in.
    pub(crate) fn grave(&self, address: u64) -> Option<&Grave> {
        self.graves
            .iter()
            .rev()
            .find(|grave| (grave.base..grave.base + grave.size).contains(&address))
    }

    /// Forgets freed memory, as when its context is gone.
    pub(crate) fn clear_graves(&mut self) {
        self.graves.clear();
    }

    /// Returns how many bytes the allocations have that are still there.
    pub(crate) fn bytes(&self, is_counted: impl Fn(&Allocation) -> bool) -> u64 {
        let counted = self.by_id.values().filter(|memory| is_counted(memory));
        counted.map(|memory| memory.size).sum()
    }

    /// Returns what calls may name, by address.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Allocation> {
        self.live.values().filter_map(|id| self.by_id.get(id))
    }

    /// Forgets the accesses that the host knows to be done, and those of lanes that are gone.
    pub(crate) fn forget(&mut self, known: &Clock, is_gone: impl Fn(LaneId) -> bool) {
        for allocation in self.by_id.values_mut() {
            allocation
                .history
                .retain(|past| !known.covers(past.lane, past.count) && !is_gone(past.lane));
        }
    }
}
