//! Virtual memory management: physical memory, addresses, mappings, access. Answers are *manual*
//! where not said otherwise.
//!
//! None of these calls needs a context. Nothing here waits for work (measured).
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_ulonglong, c_void};

use cuda_sys::{
    CUdeviceptr, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType,
    CUmemAllocationProp, CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation,
    CUmemRangeHandleType, CUresult,
};

use crate::config::Feature;
use crate::engine::state::State;
use crate::engine::virtual_memory::GRANULARITY;
use crate::entry::{INVALID_VALUE, simulate};

impl State {
    /// Checks what physical memory shall be, and returns of which device.
    fn check_wanted(&self, wanted: &CUmemAllocationProp) -> Result<usize, CUresult> {
        use CUmemAllocationType as T;
        match wanted.type_ {
            T::CU_MEM_ALLOCATION_TYPE_PINNED => {}
            T::CU_MEM_ALLOCATION_TYPE_MANAGED => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
            _ => return Err(INVALID_VALUE),
        }
        let device = self.located(&wanted.location)?;
        self.needs(device, Feature::VirtualMemory)?;
        // Sparse arrays, for which such memory is made, are not simulated.
        if wanted.allocFlags.usage != 0 {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        self.check_handle_types(device, wanted.requestedHandleTypes.0)?;
        Ok(device)
    }
}

/// Refuses flags: there are none.
const fn no_flags(flags: c_ulonglong) -> Result<(), CUresult> {
    if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) }
}

simulate! {
    /// Tells of what all sizes are multiples, however one asks: 2 MiB (measured).
    fn cuMemGetAllocationGranularity(
        granularity: out usize, wanted: into CUmemAllocationProp,
        option: val CUmemAllocationGranularity_flags,
    ) |session| {
        granularity.required()?;
        session.check_wanted(&wanted.read()?)?;
        if option.0 > CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED.0 {
            return Err(INVALID_VALUE);
        }
        granularity.write(usize::try_from(GRANULARITY).unwrap_or(usize::MAX));
        Ok(())
    }

    /// Makes physical memory.
    fn cuMemCreate(
        handle: out CUmemGenericAllocationHandle, size: val usize,
        wanted: into CUmemAllocationProp, flags: val c_ulonglong,
    ) |mut session| {
        handle.required()?;
        no_flags(flags)?;
        let wanted = wanted.read()?;
        let device = session.check_wanted(&wanted)?;
        let size = size as u64;
        if size == 0 || size.checked_rem(GRANULARITY) != Some(0) {
            return Err(INVALID_VALUE);
        }
        let (call, types) = (session.call(), wanted.requestedHandleTypes.0);
        let made = session.create_physical(call, device, size, types)?;
        handle.write(CUmemGenericAllocationHandle(made));
        Ok(())
    }

    /// Releases a handle. What is mapped stays until it is unmapped.
    fn cuMemRelease(handle: val CUmemGenericAllocationHandle) |mut session| {
        session.release_handle(handle)
    }

    /// Returns a handle of the memory that is mapped at an address, to be released too.
    fn cuMemRetainAllocationHandle(
        handle: out CUmemGenericAllocationHandle, address: val *mut c_void,
    ) |mut session| {
        handle.required()?;
        let call = session.call();
        let found = session.retain_handle(call, address.addr() as u64)?;
        handle.write(CUmemGenericAllocationHandle(found));
        Ok(())
    }

    /// Tells what memory was asked for.
    fn cuMemGetAllocationPropertiesFromHandle(
        out: out CUmemAllocationProp, handle: val CUmemGenericAllocationHandle,
    ) |mut session| {
        out.required()?;
        let id = session.physical_of(handle)?;
        let physical = session.physical_memory(id).ok_or(INVALID_VALUE)?;
        let mut found = CUmemAllocationProp::zeroed();
        found.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        found.requestedHandleTypes = CUmemAllocationHandleType(physical.handle_types);
        found.location = CUmemLocation::device(c_int::try_from(physical.device).unwrap_or(0));
        out.write(found);
        Ok(())
    }

    /// Reserves addresses; where, is a wish.
    fn cuMemAddressReserve(
        address: out CUdeviceptr, size: val usize, alignment: val usize, hint: val CUdeviceptr,
        flags: val c_ulonglong,
    ) |mut session| {
        address.required()?;
        no_flags(flags)?;
        session.needs(0, Feature::VirtualMemory)?;
        let call = session.call();
        let base = session.reserve(call, size as u64, alignment as u64, hint.0)?;
        address.write(CUdeviceptr(base));
        Ok(())
    }

    /// Gives a reservation back: all of it, and with nothing mapped there.
    fn cuMemAddressFree(address: val CUdeviceptr, size: val usize) |mut session| {
        session.unreserve(address.0, size as u64)
    }

    /// Maps memory at reserved addresses. No device may touch it there until it is said.
    fn cuMemMap(
        address: val CUdeviceptr, size: val usize, offset: val usize,
        handle: val CUmemGenericAllocationHandle, flags: val c_ulonglong,
    ) |mut session| {
        no_flags(flags)?;
        let call = session.call();
        session.map_physical(call, handle, [address.0, size as u64, offset as u64])
    }

    /// Unmaps whole mappings, without waiting for work there (measured).
    fn cuMemUnmap(address: val CUdeviceptr, size: val usize) |mut session| {
        let call = session.call();
        session.unmap(call, address.0, size as u64)
    }

    /// Says what devices may do with whole mappings.
    fn cuMemSetAccess(
        address: val CUdeviceptr, size: val usize, grants: into CUmemAccessDesc, count: val usize,
    ) |mut session| {
        let owner = session.registry.find(address.0).map(|memory| memory.device);
        let owner = owner.ok_or(INVALID_VALUE)?;
        let mut granted = Vec::new();
        for index in 0..count {
            granted.push(session.grant(owner, &grants.read_at(index)?)?);
        }
        session.set_access(address.0, size as u64, &granted)
    }

    /// Tells what a device may do at an address.
    fn cuMemGetAccess(
        flags: out c_ulonglong, location: into CUmemLocation, address: val CUdeviceptr,
    ) |session| {
        flags.required()?;
        let device = session.located(&location.read()?)?;
        flags.write(session.access_at(device, address.0)?.into());
        Ok(())
    }

    /// Refuses: a file descriptor that other devices' drivers share is none of the simulator's.
    fn cuMemGetHandleForAddressRange(
        out: out c_void, address: val CUdeviceptr, size: val usize, kind: val CUmemRangeHandleType,
        flags: val c_ulonglong,
    ) |session| {
        out.required()?;
        let memory = session.registry.find(address.0).ok_or(INVALID_VALUE)?;
        let is_known = kind == CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
        if size == 0 || !session.holds(memory, address.0, size as u64) || !is_known || flags > 1 {
            return Err(INVALID_VALUE);
        }
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
}
