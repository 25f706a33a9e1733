//! Stream-ordered memory: allocated from pools, and freed, when a stream comes to it.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{CUdeviceptr, CUmemoryPool, CUresult, CUstream};

use crate::config::Feature;
use crate::driver::memory::free_now;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::clock::Clock;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::registry::MemoryKind;
use crate::engine::scheduler::Other;
use crate::engine::work::{Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// Allocates memory of a pool; without one, of the current pool of the stream's device.
fn allocate(
    mut session: Session,
    out: &Out<CUdeviceptr>,
    bytes: usize,
    pool: Option<Handle>,
    stream: CUstream,
) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let device = session.context()?.device;
    session.needs(device, Feature::MemoryPools)?;
    if let Some(capture) = session.capturing(lane)? {
        let base = session.capture_allocation(capture, lane, bytes)?;
        out.write(CUdeviceptr(base));
        return Ok(());
    }
    session.refuse_unsafe()?;
    let current = session.pools.current.get(device).copied().unwrap_or(0);
    // Measured: no bytes are at null.
    if bytes == 0 {
        out.write(CUdeviceptr(0));
        return Ok(());
    }
    let call = session.call();
    let pool = pool.unwrap_or(current);
    let (memory, base, after) = session.allocate_from_pool(call, pool, lane, bytes)?;
    let area = AccessBox::linear(base, bytes as u64);
    let touch = Touch { memory, kind: AccessKind::Write, area, operand: "dptr" };
    // The order that the driver makes by waiting is none that a program may count on.
    let unknown = Clock::default();
    let other = Other { item: after.map(|item| (item, &unknown)), mark: None };
    session.enqueue_after(lane, call, &[touch], Work::Nothing, other)?;
    out.write(CUdeviceptr(base));
    Ok(())
}

simulate! {
    /// Allocates memory of the current pool that the stream may use from here on.
    fn cuMemAllocAsync(
        address: out CUdeviceptr, bytes: val usize, stream: val CUstream,
    ) with cuMemAllocAsync_ptsz |session| {
        address.required()?;
        allocate(session, &address, bytes, None, stream)
    }

    /// Allocates memory of a pool that the stream may use from here on. A pool of another process
    /// gives none.
    fn cuMemAllocFromPoolAsync(
        address: out CUdeviceptr, bytes: val usize, pool: val CUmemoryPool, stream: val CUstream,
    ) with cuMemAllocFromPoolAsync_ptsz |mut session| {
        address.required()?;
        session.context()?;
        if session.pool(pool)?.is_imported() {
            return Err(INVALID_VALUE);
        }
        allocate(session, &address, bytes, Some(pool.number()), stream)
    }

    /// Frees memory when the stream comes to it; that of `cuMemAlloc` too. Null is nothing, and managed
    /// memory answers 801 (all measured).
    fn cuMemFreeAsync(address: val CUdeviceptr, stream: val CUstream)
    with cuMemFreeAsync_ptsz |mut session| {
        let lane = session.lane_for_work(stream)?;
        if let Some(capture) = session.capturing(lane)? {
            return session.capture_free(capture, lane, address.0);
        }
        session.refuse_unsafe()?;
        if address.0 == 0 {
            return Ok(());
        }
        let call = session.call();
        let memory = session.find_to_free(call, "dptr", address.0, |kind| {
            matches!(kind, MemoryKind::Device | MemoryKind::Pool | MemoryKind::Managed)
        })?;
        if session.registry.get(memory).is_some_and(|memory| memory.kind == MemoryKind::Managed) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        if session.registry.get(memory).is_some_and(|memory| memory.kind == MemoryKind::Device) {
            return free_now(session, memory, "dptr");
        }
        session.report_holder(memory, call, "dptr");
        let size = session.registry.get(memory).map_or(0, |memory| memory.size);
        let area = AccessBox::linear(address.0, size);
        let touch = Touch { memory, kind: AccessKind::Write, area, operand: "dptr" };
        session.registry.retire(memory, Side::new(call, "dptr"));
        let item = session.submit(lane, &[touch], Work::Free(memory))?;
        let count = session.lanes.get(lane).map_or(0, |lane| lane.count);
        session.set_aside(memory, address.0, size, Some((item, count, lane)));
        Ok(())
    }
}
