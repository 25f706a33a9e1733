//! Virtual memory without ceremony.

#![allow(dead_code, reason = "not every test uses all of it")]

use cuda_sys::*;

use crate::common::*;

/// All sizes are multiples of this.
pub(crate) const PAGE: usize = 2 << 20;

/// Returns the properties of memory of device 0.
pub(crate) fn wanted(handle_types: u32) -> CUmemAllocationProp {
    let mut wanted = CUmemAllocationProp::zeroed();
    wanted.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = CUmemLocation::device(0);
    wanted.requestedHandleTypes = CUmemAllocationHandleType(handle_types);
    wanted
}

pub(crate) fn create(size: usize, handle_types: u32) -> CUmemGenericAllocationHandle {
    let mut handle = CUmemGenericAllocationHandle(0);
    ok!(cuMemCreate(&mut handle, size, &wanted(handle_types), 0));
    handle
}

pub(crate) fn reserve(size: usize) -> CUdeviceptr {
    let mut base = CUdeviceptr(0);
    ok!(cuMemAddressReserve(&mut base, size, 0, CUdeviceptr(0), 0));
    base
}

pub(crate) fn map(
    base: CUdeviceptr,
    size: usize,
    offset: usize,
    handle: CUmemGenericAllocationHandle,
) {
    ok!(cuMemMap(base, size, offset, handle, 0));
}

/// Says what device 0 may do.
pub(crate) fn grant(base: CUdeviceptr, size: usize, flags: u32) {
    let flags = CUmemAccess_flags(flags);
    let said = CUmemAccessDesc { location: CUmemLocation::device(0), flags };
    ok!(cuMemSetAccess(base, size, &said, 1));
}
