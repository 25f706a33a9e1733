//! Which memory an address of a call means. Unified addressing decides, not the call's name
//! (measured).

use cuda_sys::CUresult;

use crate::config::Feature;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::image::Region;
use crate::engine::raw::{Extent, Rows};
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::engine::work::{Place, Touch};
use crate::entry::INVALID_VALUE;

/// Is whose memory it is, which decides when a copy is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Device,
    Pinned,
    /// Both the host's and the device's.
    Managed,
    Pageable,
}

/// Is an operand as a call gives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) name: &'static str,
    pub(crate) address: u64,
    /// How far rows are apart.
    pub(crate) pitch: usize,
    /// How far slices are apart.
    pub(crate) slice: usize,
    /// Whether the call says that it is a device's: then pageable memory is refused (measured).
    pub(crate) device: bool,
}

/// Is one end of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    Memory(Operand),
    Region(Region),
}

impl From<Operand> for Target {
    fn from(operand: Operand) -> Self {
        Self::Memory(operand)
    }
}

impl Operand {
    /// Makes an operand of one row.
    pub(crate) const fn linear(
        name: &'static str,
        address: u64,
        bytes: usize,
        device: bool,
    ) -> Self {
        Self { name, address, pitch: bytes, slice: bytes, device }
    }
}

impl State {
    /// Finds the memory of an operand and checks that all of its bytes lie in it; answers are
    /// measured.
    pub(crate) fn resolve(
        &mut self,
        call: &'static str,
        operand: Operand,
        extent: Extent,
    ) -> Result<(Space, Place), CUresult> {
        let Operand { name, pitch, slice, device, .. } = operand;
        let address = self.host_alias(operand)?;
        let span = extent.span(pitch, slice).ok_or(INVALID_VALUE)? as u64;
        address.checked_add(span).ok_or(INVALID_VALUE)?;
        let (space, raw, memory) = if self.space.contains(address) {
            let found = self.registry.find(address);
            let found = found.filter(|memory| self.holds(memory, address, span));
            let Some(memory) = found.map(|memory| memory.id) else {
                self.blame(call, name, address, false);
                return Err(INVALID_VALUE);
            };
            (Space::Device, self.space.reservation.shadow(address), Some(memory))
        } else {
            let raw = usize::try_from(address).map_err(|_| INVALID_VALUE)?;
            match self.registry.find(address) {
                Some(memory) if span <= memory.rest(address) => {
                    let is_managed = memory.kind.is_managed();
                    let space = if is_managed { Space::Managed } else { Space::Pinned };
                    (space, self.protection.second(address).unwrap_or(raw), Some(memory.id))
                }
                None if !device && address != 0 && !self.registry.overlaps(address, span) => {
                    (Space::Pageable, raw, None)
                }
                _ => {
                    self.blame(call, name, address, false);
                    return Err(INVALID_VALUE);
                }
            }
        };
        let rows = Rows { base: raw, pitch, slice };
        let area = area(address, pitch, slice, extent);
        Ok((space, Place { rows, memory, expected: None, operand: name, area }))
    }

    /// Returns the address of an operand's bytes as the host knows them. Refuses a host's address
    /// where a device's is asked for and the two differ, and the reverse (*manual*).
    fn host_alias(&self, operand: Operand) -> Result<u64, CUresult> {
        let address = self.registry.canonical(operand.address);
        let is_host_address = address == operand.address;
        if operand.device {
            let memory = self.registry.find(address).filter(|_| is_host_address);
            if memory.is_some_and(|memory| self.registry.alias(memory.id).is_some()) {
                return Err(INVALID_VALUE);
            }
        } else if !self.has_unified_addresses()?
            && (self.space.contains(address) || !is_host_address)
        {
            return Err(INVALID_VALUE);
        }
        Ok(address)
    }

    /// Tells whether an address tells whose it is, on the current device.
    pub(crate) fn has_unified_addresses(&self) -> Result<bool, CUresult> {
        let device = self.context()?.device;
        Ok(self.has(device, Feature::UnifiedAddressing))
    }

    /// Finds the memory of either end of a copy.
    pub(crate) fn resolve_target(
        &mut self,
        call: &'static str,
        target: Target,
        extent: Extent,
    ) -> Result<(Space, Place), CUresult> {
        match target {
            Target::Memory(operand) => self.resolve(call, operand, extent),
            Target::Region(region) => self.resolve_region(region, extent),
        }
    }

    /// Tells whether queued work touches these bytes in a way that ends what the host sees now.
    pub(crate) fn is_in_use(&self, memory: BufferId, area: &AccessBox, by_readers: bool) -> bool {
        self.registry.get(memory).is_some_and(|memory| {
            memory.history.iter().any(|past| {
                (by_readers || past.kind != AccessKind::Read)
                    && past.area.overlaps(area)
                    && self.queue.is_pending(past.item)
            })
        })
    }
}

impl Place {
    /// Returns the access to the memory that the place is in, if the driver knows it.
    pub(crate) fn touch(&self, kind: AccessKind) -> Option<Touch> {
        let memory = self.memory?;
        Some(Touch { memory, kind, area: self.area, operand: self.operand })
    }
}

/// Returns the box of rows that an extent covers. Slices that don't continue each other's rows are
/// covered by rows as long as a slice's extent.
pub(crate) fn area(base: u64, pitch: usize, slice: usize, extent: Extent) -> AccessBox {
    let Extent { width, height, depth } = extent;
    if depth <= 1 || slice == pitch.saturating_mul(height) {
        let rows = height.saturating_mul(depth.max(1));
        return AccessBox::rows(base, pitch as u64, width as u64, rows as u64);
    }
    let row = Extent { depth: 1, ..extent }.span(pitch, slice).unwrap_or(0);
    AccessBox::rows(base, slice as u64, row as u64, depth as u64)
}
