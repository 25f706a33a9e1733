//! Stream-ordered memory of each device's default pool.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{CUdevice, CUdeviceptr, CUmemoryPool, CUresult, CUstream};

use crate::driver::memory::free_now;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::address_space::Purpose;
use crate::engine::handle::RawHandle;
use crate::engine::registry::MemoryKind;
use crate::engine::work::{Touch, Work};
use crate::entry::{Out, Session, simulate};
use crate::report::Side;

fn default_pool(
    session: &Session,
    out: &Out<CUmemoryPool>,
    device: CUdevice,
) -> Result<(), CUresult> {
    out.required()?;
    let device = session.device(device)?;
    let pool = session.pools.get(device).copied().unwrap_or(0);
    out.write(CUmemoryPool::from_number(pool));
    Ok(())
}

simulate! {
    /// Allocates memory that the stream may use from here on.
    fn cuMemAllocAsync(
        address: out CUdeviceptr, bytes: val usize, stream: val CUstream,
    ) with cuMemAllocAsync_ptsz |mut session| {
        address.required()?;
        let lane = session.lane_for_work(stream)?;
        let call = session.call();
        let (memory, base) = session.allocate(call, bytes, Purpose::Pool)?;
        let area = AccessBox::linear(base, bytes as u64);
        let touch = Touch { memory, kind: AccessKind::Write, area, operand: "dptr" };
        session.submit(lane, &[touch], Work::Nothing)?;
        address.write(CUdeviceptr(base));
        Ok(())
    }

    /// Frees memory when the stream comes to it; that of `cuMemAlloc` too (measured).
    fn cuMemFreeAsync(address: val CUdeviceptr, stream: val CUstream)
    with cuMemFreeAsync_ptsz |mut session| {
        let lane = session.lane_for_work(stream)?;
        let call = session.call();
        let memory = session.find_to_free(call, "dptr", address.0, |kind| {
            matches!(kind, MemoryKind::Device | MemoryKind::Pool)
        })?;
        if session.registry.get(memory).is_some_and(|memory| memory.kind == MemoryKind::Device) {
            return free_now(session, memory, "dptr");
        }
        let size = session.registry.get(memory).map_or(0, |memory| memory.size);
        let area = AccessBox::linear(address.0, size);
        let touch = Touch { memory, kind: AccessKind::Write, area, operand: "dptr" };
        session.registry.retire(memory, Side::new(call, "dptr"));
        session.submit(lane, &[touch], Work::Free(memory))?;
        Ok(())
    }

    /// Returns a device's default pool.
    fn cuDeviceGetDefaultMemPool(pool: out CUmemoryPool, device: val CUdevice) |session| {
        default_pool(&session, &pool, device)
    }

    /// Returns a device's current pool, which is always the default one here.
    fn cuDeviceGetMemPool(pool: out CUmemoryPool, device: val CUdevice) |session| {
        default_pool(&session, &pool, device)
    }
}
