//! Pools without ceremony.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::ptr;

use cuda_sys::*;

use crate::common::*;

/// Returns the properties of a pool of device 0.
pub(crate) fn wanted(handle_types: u32, most: usize) -> CUmemPoolProps {
    let mut wanted = CUmemPoolProps::zeroed();
    wanted.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = CUmemLocation::device(0);
    wanted.handleTypes = CUmemAllocationHandleType(handle_types);
    wanted.maxSize = most;
    wanted
}

/// Makes a pool of device 0.
pub(crate) fn create(handle_types: u32, most: usize) -> CUmemoryPool {
    let mut pool = ptr::null_mut();
    ok!(cuMemPoolCreate(&mut pool, &wanted(handle_types, most)));
    pool
}

pub(crate) fn alloc_from(pool: CUmemoryPool, bytes: usize, stream: CUstream) -> CUdeviceptr {
    let mut address = CUdeviceptr(0);
    ok!(cuMemAllocFromPoolAsync(&mut address, bytes, pool, stream));
    address
}

pub(crate) fn free_on(address: CUdeviceptr, stream: CUstream) {
    ok!(cuMemFreeAsync(address, stream));
}

/// Reads an attribute, whatever its type: all are little-endian and start as zero.
pub(crate) fn number(pool: CUmemoryPool, which: CUmemPool_attribute) -> u64 {
    let mut value = 0_u64;
    let out: *mut u64 = &mut value;
    ok!(cuMemPoolGetAttribute(pool, which, out.cast()));
    value
}

pub(crate) fn set(pool: CUmemoryPool, which: CUmemPool_attribute, mut value: u64) {
    let place: *mut u64 = &mut value;
    ok!(cuMemPoolSetAttribute(pool, which, place.cast()));
}

/// Returns the pool of an address.
pub(crate) fn pool_of(address: CUdeviceptr) -> CUmemoryPool {
    let mut pool: CUmemoryPool = ptr::null_mut();
    let out: *mut CUmemoryPool = &mut pool;
    let which = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    ok!(cuPointerGetAttribute(out.cast(), which, address));
    pool
}
