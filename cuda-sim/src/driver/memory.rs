//! Device memory: allocated, pitched, freed, found again.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;

use cuda_sys::{CUdeviceptr, CUresult};

use crate::engine::address_space::Purpose;
use crate::engine::execute;
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, Session, simulate};
use crate::report::{Finding, FindingKind, Side};

/// Rows of `cuMemAllocPitch` begin at multiples of this (measured: 2304 gives 2560).
const PITCH: usize = 512;

/// Allocations up to this size get junk in them.
pub(crate) const MOST_JUNK: u64 = 8 << 20;

impl State {
    /// Allocates device memory in the current context.
    pub(crate) fn allocate(
        &mut self,
        call: &'static str,
        bytes: usize,
        purpose: Purpose,
    ) -> Result<(BufferId, u64), CUresult> {
        let device = self.context()?.device;
        // Measured.
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        let (size, limit) = (bytes as u64, self.config.memory);
        self.has_room(device, size)?;
        let found = match self.space.allocate(device, purpose, size, limit) {
            Err(_) => {
                self.release_idle_pools();
                self.space.allocate(device, purpose, size, limit)?
            }
            Ok(found) => found,
        };
        let (base, fresh) = found;
        let kind = match purpose {
            Purpose::Array => MemoryKind::Array,
            Purpose::Pool(_) => MemoryKind::Pool,
            Purpose::Plain | Purpose::Variable | Purpose::Imported => MemoryKind::Device,
        };
        let id = self.admit(call, kind, device, base, size)?;
        self.fill_with_junk(base, size, fresh);
        Ok((id, base))
    }

    /// Adds memory that a call has made in the current context.
    pub(crate) fn admit(
        &mut self,
        call: &'static str,
        kind: MemoryKind,
        device: usize,
        base: u64,
        size: u64,
    ) -> Result<BufferId, CUresult> {
        let context = self.context()?.handle;
        Ok(self.registry.add(Allocation {
            id: 0,
            base,
            size,
            kind,
            device,
            context,
            flags: 0,
            made_by: Side::new(call, ""),
            history: Vec::new(),
        }))
    }

    /// Fills what of an allocation was never handed out before. An address that is handed out again
    /// keeps its bytes (measured).
    pub(crate) fn fill_with_junk(&self, base: u64, size: u64, fresh: u64) {
        if self.config.junk && size <= MOST_JUNK && fresh < base + size {
            let from = fresh.max(base);
            let bytes = usize::try_from(base + size - from).unwrap_or(0);
            execute::junk(self.space.reservation.shadow(from), bytes);
        }
    }

    /// Reports if memory is freed that another process has mapped.
    pub(crate) fn report_holder(
        &mut self,
        memory: BufferId,
        call: &'static str,
        operand: &'static str,
    ) {
        let Some(memory) = self.registry.get(memory) else { return };
        let Some(holder) = self.space.holder(memory.base, memory.size) else { return };
        self.findings.add(Finding {
            kind: FindingKind::FreedWhileShared,
            earlier: Some(memory.made_by.clone()),
            later: Side::new(call, operand),
            subject: format!("process {holder} has {:#x} mapped", memory.base),
        });
    }

    /// Says whose fault it is that an address is none, if it once was one.
    pub(crate) fn blame(
        &mut self,
        call: &'static str,
        operand: &'static str,
        address: u64,
        freeing: bool,
    ) {
        let Some(grave) = self.registry.grave(address) else { return };
        let double = freeing && grave.base == address;
        let finding = Finding {
            kind: if double { FindingKind::DoubleFree } else { FindingKind::UseAfterFree },
            earlier: Some(grave.freed_by.clone()),
            later: Side::new(call, operand),
            subject: format!("{address:#x} was freed"),
        };
        self.findings.add(finding);
    }

    /// Advises if memory is freed while work on it is not known to be done.
    pub(crate) fn advise(&mut self, memory: BufferId, call: &'static str, operand: &'static str) {
        let known = &self.host_clock;
        let Some(allocation) = self.registry.get(memory) else { return };
        // What is queued in a context with an error is dropped.
        if self.sticky(allocation.context).is_some() {
            return;
        }
        let mut past = allocation.history.iter().rev();
        let Some(past) = past.find(|past| !known.covers(past.lane, past.count)) else { return };
        self.findings.add(Finding {
            kind: FindingKind::FreedWhilePending,
            earlier: Some(past.side.clone()),
            later: Side::new(call, operand),
            subject: "the call waits for the work, though its manual does not promise it"
                .to_owned(),
        });
    }

    /// Finds the memory that a call frees by its first address.
    pub(crate) fn find_to_free(
        &mut self,
        call: &'static str,
        operand: &'static str,
        address: u64,
        may_be: impl Fn(MemoryKind) -> bool,
    ) -> Result<BufferId, CUresult> {
        match self.registry.at(address) {
            Some(memory) if may_be(memory.kind) => Ok(memory.id),
            Some(_) => Err(INVALID_VALUE),
            None => {
                self.blame(call, operand, address, true);
                Err(INVALID_VALUE)
            }
        }
    }
}

/// Waits for all work of the context, as freeing does (measured), and frees.
pub(crate) fn free_now(
    mut session: Session,
    memory: BufferId,
    operand: &'static str,
) -> Result<(), CUresult> {
    let call = session.call();
    session.advise(memory, call, operand);
    let context = session.context()?.handle;
    let owner = session.registry.get(memory).map_or(context, |memory| memory.context);
    let session = session.drain_context(context)?;
    let mut session = session.drain_context(owner)?;
    session.report_holder(memory, call, operand);
    if let Some(found) = session.registry.get(memory) {
        let (base, size) = (found.base, found.size);
        session.set_aside(memory, base, size, None);
    }
    session.registry.retire(memory, Side::new(call, operand));
    session.release(memory);
    Ok(())
}

simulate! {
    /// Allocates device memory.
    fn cuMemAlloc_v2(address: out CUdeviceptr, bytes: val usize) |mut session| {
        address.required()?;
        let call = session.call();
        let (_, base) = session.allocate(call, bytes, Purpose::Plain)?;
        address.write(CUdeviceptr(base));
        Ok(())
    }

    /// Allocates rows, each at a multiple of 512 bytes (measured).
    fn cuMemAllocPitch_v2(
        address: out CUdeviceptr, pitch: out usize, width: val usize, height: val usize,
        element: val c_uint,
    ) |mut session| {
        address.required()?;
        pitch.required()?;
        // Manual.
        if ![4, 8, 16].contains(&element) || width == 0 || height == 0 {
            return Err(INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(PITCH).ok_or(INVALID_VALUE)?;
        let bytes = row.checked_mul(height).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        let call = session.call();
        let (_, base) = session.allocate(call, bytes, Purpose::Plain)?;
        address.write(CUdeviceptr(base));
        pitch.write(row);
        Ok(())
    }

    /// Frees device memory when all work of the context is done (measured). Zero is nothing.
    fn cuMemFree_v2(address: val CUdeviceptr) |mut session| {
        session.context()?;
        if address.0 == 0 {
            return Ok(());
        }
        let call = session.call();
        let memory = session.find_to_free(call, "dptr", address.0, |kind| {
            matches!(kind, MemoryKind::Device | MemoryKind::Pool | MemoryKind::Managed)
        })?;
        free_now(session, memory, "dptr")
    }

    /// Tells how much of the current device's memory is free.
    fn cuMemGetInfo_v2(free: out usize, total: out usize) |session| {
        free.required()?;
        total.required()?;
        let all = session.config.memory;
        let left = all.saturating_sub(session.space.used(session.context()?.device));
        free.write(usize::try_from(left).unwrap_or(usize::MAX));
        total.write(usize::try_from(all).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Finds the allocation that an address lies in; 500 if there is none (measured).
    fn cuMemGetAddressRange_v2(
        base: out CUdeviceptr, size: out usize, address: val CUdeviceptr,
    ) |session| {
        session.context()?;
        let memory = session.registry.find(address.0).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        base.write(CUdeviceptr(memory.base));
        size.write(usize::try_from(memory.size).unwrap_or(usize::MAX));
        Ok(())
    }
}
