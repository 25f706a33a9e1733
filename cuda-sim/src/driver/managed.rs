//! Managed memory: allocated, attached to streams, prefetched, discarded. All answers are manual
//! but those of pointer attributes.
//!
//! What is advised of it and told again is in `managed_advice`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sys::{
    CUdevice, CUdeviceptr, CUmemAttach_flags, CUmemLocation, CUmemLocationType, CUresult, CUstream,
};

use crate::config::Feature;
use crate::driver::unions::location_id;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::execute;
use crate::engine::managed::{Attachment, Location};
use crate::engine::mapping;
use crate::engine::operand::Operand;
use crate::engine::raw::Extent;
use crate::engine::registry::{Allocation, BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::work::{Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, Opaque, Out, Session, simulate};
use crate::report::Side;

const GLOBAL: u32 = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
const HOST: u32 = CUmemAttach_flags::CU_MEM_ATTACH_HOST.0;
const SINGLE: u32 = CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;

/// Fresh memory up to this size gets junk in it.
const MOST_JUNK: usize = 8 << 20;

/// Is a range of managed memory: its allocation, and offsets in it.
pub(crate) struct Range {
    pub(crate) memory: BufferId,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl State {
    /// Finds the managed memory of a range; anything else is refused.
    pub(crate) fn managed_range(
        &mut self,
        call: &'static str,
        operand: &'static str,
        address: CUdeviceptr,
        bytes: usize,
    ) -> Result<Range, CUresult> {
        let bytes = bytes as u64;
        let found = self.registry.find(address.0).filter(|memory| {
            memory.kind.is_managed() && bytes != 0 && bytes <= memory.rest(address.0)
        });
        let Some(found) = found else {
            self.blame(call, operand, address.0, false);
            return Err(INVALID_VALUE);
        };
        let start = address.0 - found.base;
        Ok(Range { memory: found.id, start, end: start + bytes })
    }

    /// Reads a location; managed memory goes to no device that cannot share it with the host.
    pub(crate) fn location(&self, location: &CUmemLocation) -> Result<Location, CUresult> {
        use CUmemLocationType as T;
        match (location.type_, location_id(location)) {
            (T::CU_MEM_LOCATION_TYPE_DEVICE, device) => self.location_of(CUdevice(device)),
            (T::CU_MEM_LOCATION_TYPE_HOST, _) => Ok(Location::Host),
            // The simulated machine has one node.
            (T::CU_MEM_LOCATION_TYPE_HOST_NUMA, 0) => Ok(Location::HostNode(0)),
            (T::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, _) => Ok(Location::HostNodeOfCaller),
            _ => Err(INVALID_VALUE),
        }
    }

    /// Reads a location as older calls have it: −1 is the host.
    pub(crate) fn location_of(&self, device: CUdevice) -> Result<Location, CUresult> {
        if device == cuda_sys::CU_DEVICE_CPU {
            return Ok(Location::Host);
        }
        let index = self.device(device)?;
        if !self.has(index, Feature::ConcurrentManagedAccess) {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        Ok(Location::Device(device.0))
    }
}

fn allocate(mut session: Session, out: &Out<CUdeviceptr>, bytes: usize, flags: c_uint) -> Answer {
    out.required()?;
    let context = session.context()?;
    let (device, context) = (context.device, context.handle);
    let is_lacking = |feature| !session.has(device, feature);
    if is_lacking(Feature::ManagedMemory) || is_lacking(Feature::UnifiedAddressing) {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let attachment = match flags {
        GLOBAL => Attachment::Global,
        HOST => Attachment::Host,
        _ => return Err(INVALID_VALUE),
    };
    if bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let base = mapping::map_host(bytes).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    if session.config.junk && bytes <= MOST_JUNK {
        execute::junk(base, bytes);
    }
    let call = session.call();
    let memory = session.registry.add(Allocation {
        id: 0,
        base: base as u64,
        size: bytes as u64,
        kind: MemoryKind::Managed,
        device,
        context,
        flags,
        made_by: Side::new(call, ""),
        history: Vec::new(),
    });
    session.managed.add(memory, attachment);
    out.write(CUdeviceptr(base as u64));
    Ok(())
}

/// Queues that a range goes to a location, which changes no byte of it.
fn prefetch(
    session: &mut Session,
    address: CUdeviceptr,
    bytes: usize,
    location: Location,
    stream: CUstream,
) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let device = session.context()?.device;
    if !session.has(device, Feature::ConcurrentManagedAccess) {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    let call = session.call();
    let range = session.managed_range(call, "devPtr", address, bytes)?;
    session.managed.advise(range.memory, range.start, range.end, |advice| {
        advice.prefetched = Some(location);
    });
    session.submit(lane, &[], Work::Nothing)?;
    Ok(())
}

/// Queues that the bytes of a range are nobody's any more: what they are then isn't said.
fn discard(session: &mut Session, address: CUdeviceptr, bytes: usize, stream: CUstream) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let call = session.call();
    let range = session.managed_range(call, "dptrs", address, bytes)?;
    let extent = Extent { width: bytes, height: 1, depth: 1 };
    let operand = Operand::linear("dptrs", address.0, bytes, true);
    let (_, to) = session.resolve(call, operand, extent)?;
    let area = AccessBox::linear(address.0, bytes as u64);
    let touch = Touch { memory: range.memory, kind: AccessKind::Write, area, operand: "dptrs" };
    let pattern = vec![execute::JUNK];
    session.submit(lane, &[touch], Work::Fill { to, extent, pattern })?;
    Ok(())
}

/// Is where each range of a batch goes: locations, and the range from which on each holds.
struct Locations<'a> {
    locations: &'a Out<CUmemLocation>,
    starts: &'a Out<usize>,
    count: usize,
}

impl Locations<'_> {
    /// Reads the location of each of `count` ranges.
    fn read(&self, session: &Session, count: usize) -> Result<Vec<Location>, CUresult> {
        if self.count == 0 || self.count > count || self.starts.read_at(0)? != 0 {
            return Err(INVALID_VALUE);
        }
        let mut all = Vec::new();
        for index in 0..self.count {
            let location = session.location(&self.locations.read_at(index)?)?;
            let end = if index + 1 < self.count { self.starts.read_at(index + 1)? } else { count };
            // Each begins behind the one before.
            if end <= all.len() || end > count {
                return Err(INVALID_VALUE);
            }
            all.resize(end, location);
        }
        Ok(all)
    }
}

/// Reads the ranges of a batch.
fn ranges(
    session: &mut Session,
    addresses: &Out<CUdeviceptr>,
    sizes: &Out<usize>,
    count: usize,
    flags: c_ulonglong,
) -> Result<Vec<(CUdeviceptr, usize)>, CUresult> {
    if count == 0 || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let call = session.call();
    let mut all = Vec::new();
    for index in 0..count {
        let (address, bytes) = (addresses.read_at(index)?, sizes.read_at(index)?);
        session.managed_range(call, "dptrs", address, bytes)?;
        all.push((address, bytes));
    }
    Ok(all)
}

fn attach(
    mut session: Session,
    stream: CUstream,
    address: CUdeviceptr,
    bytes: usize,
    flags: c_uint,
) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let found = session.registry.at(address.0).filter(|memory| {
        memory.kind == MemoryKind::Managed && (bytes == 0 || bytes as u64 == memory.size)
    });
    let memory = found.map(|memory| memory.id).ok_or(INVALID_VALUE)?;
    let attachment = match flags {
        GLOBAL => Attachment::Global,
        HOST => Attachment::Host,
        // The legacy stream is all streams.
        SINGLE if session.default_lane()? != lane => Attachment::Single(lane),
        _ => return Err(INVALID_VALUE),
    };
    session.submit(lane, &[], Work::Nothing)?;
    session.managed.attach(memory, attachment);
    Ok(())
}

simulate! {
    /// Allocates memory that the host and the device reach by one address. It takes none of the
    /// device's memory: it is where it is used.
    fn cuMemAllocManaged(address: out CUdeviceptr, bytes: val usize, flags: val c_uint) |session| {
        allocate(session, &address, bytes, flags)
    }

    /// Attaches managed memory to a stream, to all, or to the host, in the order of the stream.
    fn cuStreamAttachMemAsync(
        stream: val CUstream, address: val CUdeviceptr, bytes: val usize, flags: val c_uint,
    ) with cuStreamAttachMemAsync_ptsz |session| {
        attach(session, stream, address, bytes, flags)
    }

    /// Queues that a range goes to a device, or to the host.
    fn cuMemPrefetchAsync(
        address: val CUdeviceptr, bytes: val usize, device: val CUdevice, stream: val CUstream,
    ) with cuMemPrefetchAsync_ptsz |mut session| {
        let location = session.location_of(device)?;
        prefetch(&mut session, address, bytes, location, stream)
    }

    /// Queues that a range goes to a location.
    fn cuMemPrefetchAsync_v2(
        address: val CUdeviceptr, bytes: val usize, location: opaque CUmemLocation,
        flags: val c_uint, stream: val CUstream,
    ) with cuMemPrefetchAsync_v2_ptsz |mut session| {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let Opaque(location) = location;
        let location = session.location(&location)?;
        prefetch(&mut session, address, bytes, location, stream)
    }

    /// Queues that ranges go to locations.
    fn cuMemPrefetchBatchAsync(
        addresses: out CUdeviceptr, sizes: out usize, count: val usize,
        locations: out CUmemLocation, starts: out usize, location_count: val usize,
        flags: val c_ulonglong, stream: val CUstream,
    ) with cuMemPrefetchBatchAsync_ptsz |mut session| {
        let ranges = ranges(&mut session, &addresses, &sizes, count, flags)?;
        let locations = Locations { locations: &locations, starts: &starts, count: location_count };
        let locations = locations.read(&session, count)?;
        for ((address, bytes), location) in ranges.into_iter().zip(locations) {
            prefetch(&mut session, address, bytes, location, stream)?;
        }
        Ok(())
    }

    /// Queues that the bytes of ranges are lost.
    fn cuMemDiscardBatchAsync(
        addresses: out CUdeviceptr, sizes: out usize, count: val usize, flags: val c_ulonglong,
        stream: val CUstream,
    ) with cuMemDiscardBatchAsync_ptsz |mut session| {
        for (address, bytes) in ranges(&mut session, &addresses, &sizes, count, flags)? {
            discard(&mut session, address, bytes, stream)?;
        }
        Ok(())
    }

    /// Queues that the bytes of ranges are lost, and that the ranges go to locations.
    fn cuMemDiscardAndPrefetchBatchAsync(
        addresses: out CUdeviceptr, sizes: out usize, count: val usize,
        locations: out CUmemLocation, starts: out usize, location_count: val usize,
        flags: val c_ulonglong, stream: val CUstream,
    ) with cuMemDiscardAndPrefetchBatchAsync_ptsz |mut session| {
        let ranges = ranges(&mut session, &addresses, &sizes, count, flags)?;
        let locations = Locations { locations: &locations, starts: &starts, count: location_count };
        let locations = locations.read(&session, count)?;
        for ((address, bytes), location) in ranges.into_iter().zip(locations) {
            discard(&mut session, address, bytes, stream)?;
            prefetch(&mut session, address, bytes, location, stream)?;
        }
        Ok(())
    }
}

/// Returns a location as older calls tell it.
pub(crate) const fn device_of(location: Location) -> c_int {
    match location {
        Location::Device(device) => device,
        Location::Host | Location::HostNode(_) | Location::HostNodeOfCaller => {
            cuda_sys::CU_DEVICE_CPU.0
        }
    }
}
