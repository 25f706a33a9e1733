//! What of physical memory is mapped where, and which device may touch it there.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};

use cuda_sys::{CUmemGenericAllocationHandle, CUresult};

use super::GRANULARITY;
use super::physical::Bytes;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::work::Touch;
use crate::entry::INVALID_VALUE;
use crate::report::{Finding, FindingKind, Side};

/// Is a range of addresses with physical memory behind it.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    base: u64,
    size: u64,
    pub(crate) physical: BufferId,
    /// What devices may do with it; none may anything at first.
    access: BTreeMap<usize, u32>,
    /// What calls that name an address in it mean.
    memory: BufferId,
}

impl Mapping {
    const fn end(&self) -> u64 {
        self.base + self.size
    }
}

/// Tells whether a size or an address is a multiple of what all are.
fn is_granular(bytes: u64) -> bool {
    bytes.checked_rem(GRANULARITY) == Some(0)
}

/// What a device needs for a kind of access.
const fn needed(kind: AccessKind) -> u32 {
    match kind {
        AccessKind::Read => 1,
        AccessKind::Write | AccessKind::Atomic => 3,
    }
}

impl State {
    /// Returns the mapping that an address lies in.
    pub(crate) fn mapping_at(&self, address: u64) -> Option<&Mapping> {
        let (_, mapping) = self.virtual_memory.mappings.range(..=address).next_back()?;
        (address < mapping.end()).then_some(mapping)
    }

    /// Returns the mappings that cover a range without a gap, if they do.
    fn covering(&self, base: u64, end: u64) -> Option<Vec<&Mapping>> {
        let mut reached = base;
        let mut found = Vec::new();
        while reached < end {
            let mapping = self.mapping_at(reached)?;
            found.push(mapping);
            reached = mapping.end();
        }
        Some(found)
    }

    /// Returns the mappings that a range is made of, if it is made of whole ones.
    fn whole(&self, base: u64, size: u64) -> Result<Vec<Mapping>, CUresult> {
        let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
        let found = self.covering(base, end).ok_or(INVALID_VALUE)?;
        match (found.first(), found.last()) {
            (Some(first), Some(last)) if first.base == base && last.end() == end => {
                Ok(found.into_iter().cloned().collect())
            }
            _ => Err(INVALID_VALUE),
        }
    }

    /// Maps physical memory at reserved addresses where nothing is mapped.
    pub(crate) fn map_physical(
        &mut self,
        call: &'static str,
        handle: CUmemGenericAllocationHandle,
        [base, size, offset]: [u64; 3],
    ) -> Result<(), CUresult> {
        let id = self.physical_of(handle)?;
        // Measured: memory is mapped from its beginning.
        if offset != 0 {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
        if size == 0 || ![base, size].into_iter().all(is_granular) {
            return Err(INVALID_VALUE);
        }
        let reserved = self.virtual_memory.reserved.range(..=base).next_back();
        let is_reserved = reserved.is_some_and(|(start, its)| end <= start + its.size);
        let before = self.virtual_memory.mappings.range(..end).next_back();
        if !is_reserved || before.is_some_and(|(_, mapping)| mapping.end() > base) {
            return Err(INVALID_VALUE);
        }
        let physical = self.virtual_memory.physical.get(&id).ok_or(INVALID_VALUE)?;
        if size > physical.size {
            return Err(INVALID_VALUE);
        }
        let device = physical.device;
        let (file, start) = match &physical.bytes {
            Bytes::Common(at) => (self.space.common.as_fd(), *at),
            Bytes::Own(file) => (file.as_fd(), 0),
        };
        self.space.map_at(base, size, file, start)?;
        let memory = self.registry.add(Allocation {
            id: 0,
            base,
            size,
            kind: MemoryKind::Virtual,
            device,
            // Manual, where nothing is said: it is no context's.
            context: 0,
            flags: 0,
            made_by: Side::new(call, ""),
            history: Vec::new(),
        });
        let access = BTreeMap::new();
        let mapping = Mapping { base, size, physical: id, access, memory };
        self.virtual_memory.mappings.insert(base, mapping);
        if let Some(physical) = self.virtual_memory.physical.get_mut(&id) {
            physical.mappings += 1;
        }
        Ok(())
    }

    /// Maps what is mapped of physical memory from another file with the same bytes.
    pub(super) fn map_again(&self, id: BufferId, file: BorrowedFd<'_>) -> Result<(), CUresult> {
        for mapping in self.virtual_memory.mappings.values().filter(|its| its.physical == id) {
            self.space.map_at(mapping.base, mapping.size, file, 0)?;
        }
        Ok(())
    }

    /// Returns the whole mappings of a range inside of a reservation, of which parts may have none.
    fn whole_of_reserved(&self, base: u64, size: u64) -> Result<Vec<Mapping>, CUresult> {
        let end = base.checked_add(size).ok_or(INVALID_VALUE)?;
        let reserved = self.virtual_memory.reserved.range(..=base).next_back();
        let is_reserved = reserved.is_some_and(|(start, its)| end <= start + its.size);
        let cuts = |address: u64| self.mapping_at(address).is_some_and(|its| its.base != address);
        if size == 0 || ![base, size].into_iter().all(is_granular) || !is_reserved {
            return Err(INVALID_VALUE);
        }
        if cuts(base) || cuts(end) {
            return Err(INVALID_VALUE);
        }
        Ok(self.virtual_memory.mappings.range(base..end).map(|(_, its)| its.clone()).collect())
    }

    /// Unmaps whole mappings, at once: no work is waited for (measured), so that work which is not
    /// known to be done is reported. That nothing is mapped is no error (measured).
    pub(crate) fn unmap(
        &mut self,
        call: &'static str,
        base: u64,
        size: u64,
    ) -> Result<(), CUresult> {
        for mapping in self.whole_of_reserved(base, size)? {
            self.report_pending(call, &mapping);
            self.lose_waits(mapping.memory);
            self.registry.retire(mapping.memory, Side::new(call, "ptr"));
            self.registry.remove(mapping.memory);
            self.virtual_memory.mappings.remove(&mapping.base);
            self.space.unmap_at(mapping.base, mapping.size);
            if let Some(physical) = self.virtual_memory.physical.get_mut(&mapping.physical) {
                physical.mappings -= 1;
            }
            self.end_physical(mapping.physical);
        }
        Ok(())
    }

    /// Reports work at a mapping's addresses that is not known to be done.
    fn report_pending(&mut self, call: &'static str, mapping: &Mapping) {
        let known = &self.host_clock;
        let Some(physical) = self.registry.get_mut(mapping.physical) else { return };
        physical.forget(known);
        let range = AccessBox::linear(mapping.base, mapping.size);
        let is_here = |side: &Side| side.access.is_some_and(|(_, area)| area.overlaps(&range));
        let Some(past) = physical.history.iter().rfind(|past| is_here(&past.side)) else { return };
        self.findings.add(Finding {
            kind: FindingKind::UseAfterFree,
            earlier: Some(past.side.clone()),
            later: Side::new(call, "ptr"),
            subject: "nothing tells that the work is done, and the call does not wait".to_owned(),
        });
    }

    /// Sets what devices may do with whole mappings.
    pub(crate) fn set_access(
        &mut self,
        base: u64,
        size: u64,
        grants: &[(usize, u32)],
    ) -> Result<(), CUresult> {
        for found in self.whole(base, size)? {
            if let Some(mapping) = self.virtual_memory.mappings.get_mut(&found.base) {
                mapping.access.extend(grants.iter().copied());
            }
        }
        Ok(())
    }

    /// Returns what a device may do at an address.
    pub(crate) fn access_at(&self, device: usize, address: u64) -> Result<u32, CUresult> {
        let mapping = self.mapping_at(address).ok_or(INVALID_VALUE)?;
        Ok(mapping.access.get(&device).copied().unwrap_or(0))
    }

    /// Refuses work on mapped memory that the current context's device may not do (*manual*, where
    /// nothing is said of copies).
    pub(crate) fn check_access(&self, touches: &[Touch]) -> Result<(), CUresult> {
        for touch in touches {
            let memory = self.registry.get(touch.memory);
            if memory.is_none_or(|memory| memory.kind != MemoryKind::Virtual) {
                continue;
            }
            let device = self.context()?.device;
            let found = self.covering(touch.area.base, touch.area.end()).ok_or(INVALID_VALUE)?;
            let may = |mapping: &&Mapping| {
                mapping.access.get(&device).is_some_and(|&flags| flags >= needed(touch.kind))
            };
            if !found.iter().all(may) {
                return Err(INVALID_VALUE);
            }
        }
        Ok(())
    }

    /// Tells whether a span of addresses from one in `memory` on lies in memory: mapped memory goes
    /// on where the next mapping begins.
    pub(crate) fn holds(&self, memory: &Allocation, address: u64, span: u64) -> bool {
        let end = address.saturating_add(span);
        end <= memory.end()
            || memory.kind == MemoryKind::Virtual && self.covering(address, end).is_some()
    }

    /// Returns what an access touches of each mapping that it goes over; of other memory, all of it.
    pub(crate) fn parts(&self, memory: BufferId, area: &AccessBox) -> Vec<(BufferId, AccessBox)> {
        let is_mapped =
            self.registry.get(memory).is_some_and(|its| its.kind == MemoryKind::Virtual);
        if !is_mapped {
            return vec![(memory, *area)];
        }
        let first = self.mapping_at(area.base).map_or(area.base, |its| its.base);
        let mappings = self.virtual_memory.mappings.range(first..area.end());
        let parts = mappings.flat_map(|(_, its)| {
            area.within(its.base, its.end()).into_iter().map(move |part| (its.memory, part))
        });
        parts.collect()
    }

    /// Returns what of physical memory an access to a mapping touches.
    pub(crate) fn physical_touches(&self, touch: &Touch) -> Vec<Touch> {
        let end = touch.area.end();
        let mappings = self.virtual_memory.mappings.range(..end);
        let first = self.mapping_at(touch.area.base).map_or(touch.area.base, |its| its.base);
        let mut found = Vec::new();
        for (_, mapping) in mappings.skip_while(|&(&base, _)| base < first) {
            for mut area in touch.area.within(mapping.base, mapping.end()) {
                area.base -= mapping.base;
                found.push(Touch { memory: mapping.physical, area, ..touch.clone() });
            }
        }
        found
    }
}
