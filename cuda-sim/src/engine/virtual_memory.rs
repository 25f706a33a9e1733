//! Virtual memory: physical memory, reserved addresses, and what is mapped where.
//!
//! Physical memory lives as long as a handle or a mapping of it. Accesses are compared by their place
//! in physical memory: two addresses can mean one byte. Where the bytes are is in `physical`, what is
//! mapped in `mapping`.

pub(crate) mod mapping;
pub(crate) mod physical;

use std::collections::{BTreeMap, HashMap};

use cuda_sys::{CUmemGenericAllocationHandle, CUresult};

use crate::engine::handle::{Handle, Kind, Table};
use crate::engine::mapping::BLOCK;
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;
use crate::report::Side;
use mapping::Mapping;
use physical::Physical;

/// All sizes and addresses are multiples of this (measured).
pub(crate) const GRANULARITY: u64 = BLOCK as u64;

/// Is a handle of physical memory.
#[derive(Debug)]
pub(crate) struct MemoryHandle {
    pub(crate) physical: BufferId,
    /// How often it must be released.
    references: u32,
    pub(crate) made_by: Side,
}

/// Is a range of addresses that nothing else gets.
#[derive(Debug)]
pub(crate) struct Reserved {
    pub(crate) size: u64,
    pub(crate) made_by: Side,
}

/// Holds all of it.
#[derive(Debug)]
pub(crate) struct VirtualMemory {
    pub(crate) handles: Table<MemoryHandle>,
    /// By the identity of what happened to them.
    physical: HashMap<BufferId, Physical>,
    /// By their first address.
    pub(crate) reserved: BTreeMap<u64, Reserved>,
    /// By their first address.
    mappings: BTreeMap<u64, Mapping>,
}

impl Default for VirtualMemory {
    fn default() -> Self {
        Self {
            handles: Table::new(Kind::Memory),
            physical: HashMap::new(),
            reserved: BTreeMap::new(),
            mappings: BTreeMap::new(),
        }
    }
}

impl State {
    /// Returns the physical memory of a handle. A handle that was released is reported.
    pub(crate) fn physical_of(
        &mut self,
        handle: CUmemGenericAllocationHandle,
    ) -> Result<BufferId, CUresult> {
        if let Some(found) = self.virtual_memory.handles.get(handle.0) {
            return Ok(found.physical);
        }
        if let Some(ended) = self.virtual_memory.handles.ended(handle.0) {
            self.stale("handle", "the handle of physical memory was released", ended);
        }
        Err(INVALID_VALUE)
    }

    /// Makes one more handle of physical memory.
    fn add_handle(&mut self, call: &'static str, physical: BufferId) -> Result<Handle, CUresult> {
        let made_by = Side::new(call, "");
        let made = |_| MemoryHandle { physical, references: 1, made_by };
        let no_room = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let handle = self.virtual_memory.handles.insert_with(made).ok_or(no_room)?;
        if let Some(physical) = self.virtual_memory.physical.get_mut(&physical) {
            physical.handles.push(handle);
        }
        Ok(handle)
    }

    /// Returns a handle of the physical memory at an address, to be released once more.
    pub(crate) fn retain_handle(
        &mut self,
        call: &'static str,
        address: u64,
    ) -> Result<Handle, CUresult> {
        let physical = self.mapping_at(address).ok_or(INVALID_VALUE)?.physical;
        let known = self.virtual_memory.physical.get(&physical);
        let known = known.and_then(|physical| physical.handles.first().copied());
        let Some(handle) = known else { return self.add_handle(call, physical) };
        if let Some(found) = self.virtual_memory.handles.get_mut(handle) {
            found.references += 1;
        }
        Ok(handle)
    }

    /// Releases a handle once; the last release of the last handle leaves the memory to its mappings.
    pub(crate) fn release_handle(
        &mut self,
        handle: CUmemGenericAllocationHandle,
    ) -> Result<(), CUresult> {
        let physical = self.physical_of(handle)?;
        let handles = &mut self.virtual_memory.handles;
        let found = handles.get_mut(handle.0).ok_or(INVALID_VALUE)?;
        found.references -= 1;
        if found.references == 0 {
            handles.remove(handle.0);
            if let Some(physical) = self.virtual_memory.physical.get_mut(&physical) {
                physical.handles.retain(|&other| other != handle.0);
            }
            self.end_physical(physical);
        }
        Ok(())
    }

    /// Reserves addresses, at `hint` if they are free there.
    pub(crate) fn reserve(
        &mut self,
        call: &'static str,
        size: u64,
        alignment: u64,
        hint: u64,
    ) -> Result<u64, CUresult> {
        let is_granular = |bytes: u64| bytes.checked_rem(GRANULARITY) == Some(0);
        if size == 0 || !is_granular(size) || alignment != 0 && !alignment.is_power_of_two() {
            return Err(INVALID_VALUE);
        }
        let alignment = alignment.div_ceil(GRANULARITY).max(1);
        let base = self.space.reserve(size, alignment, hint);
        let base = base.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        let reserved = Reserved { size, made_by: Side::new(call, "") };
        self.virtual_memory.reserved.insert(base, reserved);
        Ok(base)
    }

    /// Gives a whole reservation back of which nothing is mapped.
    pub(crate) fn unreserve(&mut self, base: u64, size: u64) -> Result<(), CUresult> {
        let reserved = self.virtual_memory.reserved.get(&base).ok_or(INVALID_VALUE)?;
        let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
        let is_empty = self.virtual_memory.mappings.range(base..end).next().is_none();
        if reserved.size != size || !is_empty {
            return Err(INVALID_VALUE);
        }
        self.virtual_memory.reserved.remove(&base);
        self.space.unreserve(base);
        Ok(())
    }
}
