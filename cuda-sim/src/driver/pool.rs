//! Memory pools: made, asked, set, destroyed. Answers are *manual* where not said otherwise.
//!
//! Memory of theirs is allocated in `stream_memory`, and passes between processes in `pool_sharing`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_void};

use cuda_sys::{
    CUdevice, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationType, CUmemLocation,
    CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool, CUresult,
};

use crate::config::Feature;
use crate::engine::handle::RawHandle;
use crate::engine::pool::Pool;
use crate::engine::state::State;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// Returns the default or the current pool of a device.
fn pool_of(
    session: &Session,
    out: &Out<CUmemoryPool>,
    device: usize,
    of: impl Fn(&State) -> &[u64],
) -> Answer {
    session.needs(device, Feature::MemoryPools)?;
    let pool = of(session).get(device).copied().unwrap_or(0);
    out.write(CUmemoryPool::from_number(pool));
    Ok(())
}

/// Makes a pool the current one of a device.
fn set_current(session: &mut Session, device: usize, pool: CUmemoryPool) -> Answer {
    let its = session.pool(pool)?;
    // An imported pool gives no memory.
    if its.device != device || its.is_imported() {
        return Err(INVALID_VALUE);
    }
    let handle = its.handle;
    if let Some(current) = session.pools.current.get_mut(device) {
        *current = handle;
    }
    Ok(())
}

/// Refuses types of memory that the simulator has no pools of.
fn check_type(kind: CUmemAllocationType) -> Answer {
    match kind {
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED => Ok(()),
        CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_MANAGED => {
            Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
        }
        _ => Err(INVALID_VALUE),
    }
}

fn create(mut session: Session, out: &Out<CUmemoryPool>, wanted: &CUmemPoolProps) -> Answer {
    check_type(wanted.allocType)?;
    // Measured: a device that there is not answers 1 here.
    let device = session.located(&wanted.location).map_err(|code| match code {
        CUresult::CUDA_ERROR_INVALID_DEVICE => INVALID_VALUE,
        code => code,
    })?;
    session.needs(device, Feature::MemoryPools)?;
    let handle_types = wanted.handleTypes.0;
    session.check_handle_types(device, handle_types)?;
    let made_by = Side::new(session.call(), "");
    let most = wanted.maxSize as u64;
    let made = session.pools.table.insert_with(|handle| Pool {
        handle_types,
        most,
        ..Pool::new(handle, device, made_by)
    });
    let handle = made.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    if handle_types != 0
        && let Err(error) = session.make_pool_file(handle, device)
    {
        session.pools.table.remove(handle);
        return Err(error);
    }
    out.write(CUmemoryPool::from_number(handle));
    Ok(())
}

/// Is the value of an attribute, of the type that the attribute has in C.
enum Value {
    Int(c_int),
    Size(u64),
}

impl State {
    fn pool_attribute(
        &mut self,
        pool: CUmemoryPool,
        attribute: CUmemPool_attribute,
    ) -> Result<Value, CUresult> {
        use CUmemPool_attribute as A;
        let handle = self.pool(pool)?.handle;
        let reserved = self.space.reserved(handle);
        let its = self.pool(pool)?;
        let int = |value: u32| Value::Int(value.cast_signed());
        Ok(match attribute {
            A::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                Value::Int(c_int::from(its.reuse.follow_events))
            }
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => {
                Value::Int(c_int::from(its.reuse.opportunistic))
            }
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
                Value::Int(c_int::from(its.reuse.internal))
            }
            A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => Value::Size(its.threshold),
            A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT => Value::Size(reserved),
            A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => Value::Size(its.reserved_high),
            A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT => Value::Size(its.used),
            A::CU_MEMPOOL_ATTR_USED_MEM_HIGH => Value::Size(its.used_high),
            A::CU_MEMPOOL_ATTR_ALLOCATION_TYPE => {
                int(CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED.0)
            }
            A::CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES => int(its.handle_types),
            A::CU_MEMPOOL_ATTR_LOCATION_ID => Value::Int(c_int::try_from(its.device).unwrap_or(0)),
            A::CU_MEMPOOL_ATTR_LOCATION_TYPE => {
                int(CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE.0)
            }
            A::CU_MEMPOOL_ATTR_MAX_POOL_SIZE => Value::Size(its.most),
            A::CU_MEMPOOL_ATTR_HW_DECOMPRESS_ENABLED => Value::Int(0),
            _ => return Err(INVALID_VALUE),
        })
    }

    fn set_pool_attribute(
        &mut self,
        pool: CUmemoryPool,
        attribute: CUmemPool_attribute,
        value: *mut c_void,
    ) -> Answer {
        use CUmemPool_attribute as A;
        let handle = self.pool(pool)?.handle;
        let reserved = self.space.reserved(handle);
        let its = self.pool(pool)?;
        let flag = || Out::<c_int>::of_attribute(value).read().map(|value| value != 0);
        let size = || Out::<u64>::of_attribute(value).read();
        // A high mark can only be taken back to what there is now.
        let reset = || if size()? == 0 { Ok(()) } else { Err(INVALID_VALUE) };
        match attribute {
            A::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
                its.reuse.follow_events = flag()?;
            }
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC => its.reuse.opportunistic = flag()?,
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES => its.reuse.internal = flag()?,
            A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD => its.threshold = size()?,
            A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH => {
                reset()?;
                its.reserved_high = reserved;
            }
            A::CU_MEMPOOL_ATTR_USED_MEM_HIGH => {
                reset()?;
                its.used_high = its.used;
            }
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }
}

simulate! {
    /// Returns a device's default pool.
    fn cuDeviceGetDefaultMemPool(pool: out CUmemoryPool, device: val CUdevice) |session| {
        pool.required()?;
        let device = session.device(device)?;
        pool_of(&session, &pool, device, |state| &state.pools.default)
    }

    /// Returns a device's current pool.
    fn cuDeviceGetMemPool(pool: out CUmemoryPool, device: val CUdevice) |session| {
        pool.required()?;
        let device = session.device(device)?;
        pool_of(&session, &pool, device, |state| &state.pools.current)
    }

    /// Makes a pool of a device its current one.
    fn cuDeviceSetMemPool(device: val CUdevice, pool: val CUmemoryPool) |mut session| {
        let device = session.device(device)?;
        set_current(&mut session, device, pool)
    }

    /// Returns the default pool of a location, which must be a device.
    fn cuMemGetDefaultMemPool(
        pool: out CUmemoryPool, location: out CUmemLocation, kind: val CUmemAllocationType,
    ) |session| {
        pool.required()?;
        let device = session.located(&location.read()?)?;
        check_type(kind)?;
        pool_of(&session, &pool, device, |state| &state.pools.default)
    }

    /// Returns the current pool of a location, which must be a device.
    fn cuMemGetMemPool(
        pool: out CUmemoryPool, location: out CUmemLocation, kind: val CUmemAllocationType,
    ) |session| {
        pool.required()?;
        let device = session.located(&location.read()?)?;
        check_type(kind)?;
        pool_of(&session, &pool, device, |state| &state.pools.current)
    }

    /// Makes a pool of a location, which must be a device, its current one.
    fn cuMemSetMemPool(
        location: out CUmemLocation, kind: val CUmemAllocationType, pool: val CUmemoryPool,
    ) |mut session| {
        let device = session.located(&location.read()?)?;
        check_type(kind)?;
        set_current(&mut session, device, pool)
    }

    /// Makes a pool of a device's memory.
    fn cuMemPoolCreate(pool: out CUmemoryPool, wanted: into CUmemPoolProps) |session| {
        pool.required()?;
        create(session, &pool, &wanted.read()?)
    }

    /// Destroys a pool, now or with its last allocation. If it was the current one of its device,
    /// the default one is from now on. Works without a context (measured).
    fn cuMemPoolDestroy(pool: val CUmemoryPool) |mut session| {
        let by = Side::new(session.call(), "");
        let its = session.pool(pool)?;
        if its.is_default {
            return Err(INVALID_VALUE);
        }
        its.destroyed_by = Some(by);
        let (handle, device) = (its.handle, its.device);
        let default = session.pools.default.get(device).copied().unwrap_or(0);
        if let Some(current) = session.pools.current.get_mut(device)
            && *current == handle
        {
            *current = default;
        }
        session.trim_pool(handle, 0);
        session.end_pool(handle);
        Ok(())
    }

    /// Tells an attribute.
    fn cuMemPoolGetAttribute(
        pool: val CUmemoryPool, attribute: val CUmemPool_attribute, value: out c_void,
    ) |mut session| {
        value.required()?;
        match session.pool_attribute(pool, attribute)? {
            Value::Int(number) => Out::of_attribute(value.pointer()).write(number),
            Value::Size(number) => Out::of_attribute(value.pointer()).write(number),
        }
        Ok(())
    }

    /// Sets an attribute; high marks to zero only, and no others that are told.
    fn cuMemPoolSetAttribute(
        pool: val CUmemoryPool, attribute: val CUmemPool_attribute, value: out c_void,
    ) |mut session| {
        value.required()?;
        session.set_pool_attribute(pool, attribute, value.pointer())
    }

    /// Gives the system what a pool doesn't use, down to some bytes.
    fn cuMemPoolTrimTo(pool: val CUmemoryPool, keep: val usize) |mut session| {
        let its = session.pool(pool)?;
        if its.is_imported() {
            return Err(INVALID_VALUE);
        }
        let handle = its.handle;
        session.trim_pool(handle, keep as u64);
        Ok(())
    }

    /// Sets what other devices may do with a pool's memory; the pool's own keeps all access.
    fn cuMemPoolSetAccess(
        pool: val CUmemoryPool, grants: into CUmemAccessDesc, count: val usize,
    ) |mut session| {
        let owner = session.pool(pool)?.device;
        let mut granted = Vec::new();
        for index in 0..count {
            let (device, flags) = session.grant(owner, &grants.read_at(index)?)?;
            let is_all = flags == CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE.0;
            if device == owner && !is_all {
                // Measured of no access at all.
                return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
            }
            granted.push((device, flags));
        }
        session.pool(pool)?.access.extend(granted);
        Ok(())
    }

    /// Tells what a device may do with a pool's memory.
    fn cuMemPoolGetAccess(
        flags: out CUmemAccess_flags, pool: val CUmemoryPool, location: out CUmemLocation,
    ) |mut session| {
        flags.required()?;
        let device = session.located(&location.read()?)?;
        flags.write(CUmemAccess_flags(session.pool(pool)?.access_of(device)));
        Ok(())
    }
}
