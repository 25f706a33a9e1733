//! Memory pools, and memory that is freed in the order of streams.

use cuda_safe::sys::{
    CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemLocation,
};
use cuda_safe::{Device, DeviceBuffer, MemoryPool, PinnedBuffer, PoolProperties, Stream, call};
use cuda_sim::{Config, Feature, isolated};

use crate::common::{calls, context, hold_up, lazy, read};

#[test]
fn row_99_memory_is_freed_behind_uses_on_other_streams() {
    isolated!(lazy(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let mut home = PinnedBuffer::<u8>::zeroed(&context, 1 << 20).unwrap();
        let mut buffer = DeviceBuffer::<u8>::uninitialized(&first, 1 << 20).unwrap();
        let held = hold_up(&second);
        buffer.fill(1, &second).unwrap();
        call::memcpy_dtoh_async(&mut home, &buffer, &second).unwrap();
        drop(buffer);
        // It may be the same memory, behind the use.
        let other = DeviceBuffer::filled(&first, 1 << 20, 2_u8).unwrap();
        drop(held);
        assert!(home.as_slice().unwrap().iter().all(|byte| *byte == 1));
        assert!(read(&other, &first).iter().all(|byte| *byte == 2));
    });
}

#[test]
fn row_100_where_there_are_no_pools_memory_is_plain() {
    isolated!(lazy().without(Feature::MemoryPools), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        assert_eq!(Device::get(0).unwrap().has_memory_pools(), Ok(Some(false)));
        let mut buffer = DeviceBuffer::<u8>::uninitialized(&first, 64).unwrap();
        assert!(!buffer.is_stream_ordered());
        let held = hold_up(&second);
        buffer.fill(1, &second).unwrap();
        drop(buffer);
        assert_eq!(calls("cuMemFree_v2").len(), 0, "it is still written");
        drop(held);
        second.synchronize().unwrap();
        assert_eq!(calls("cuMemFree_v2").len(), 1);
        let unsupported = MemoryPool::new(&context, &PoolProperties::new()).unwrap_err();
        assert!(unsupported.is_unsupported());
    });
}

/// Says that a device may do so much with a pool's memory.
fn access(device: i32, flags: CUmemAccess_flags) -> CUmemAccessDesc {
    let mut access = CUmemAccessDesc::zeroed();
    access.location = CUmemLocation::device(device);
    access.flags = flags;
    access
}

#[test]
fn row_101_access_to_a_pool_is_answered_where_it_is_asked_for() {
    let config = Config::new().devices(3).no_peer(2, 0);
    isolated!(config, || {
        let (context, stream) = context();
        let pool = MemoryPool::new(&context, &PoolProperties::new()).unwrap();
        let both = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        // A device that can't reach it is refused by the call, not by a later copy.
        let error = call::mem_pool_set_access(&pool, &[access(2, both)]).unwrap_err();
        assert_eq!(error.call, "cuMemPoolSetAccess");
        assert!(error.code().is_some());
        let none = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        let error = call::mem_pool_set_access(&pool, &[access(0, none)]).unwrap_err();
        assert_eq!(error.call, "cuMemPoolSetAccess");
        // One that can has it, and copies across are right.
        call::mem_pool_set_access(&pool, &[access(1, both)]).unwrap();
        let mut here = pool.allocate::<u8>(&stream, 64).unwrap();
        here.fill(5, &stream).unwrap();
        stream.synchronize().unwrap();
        let there = Device::get(1).unwrap().context().unwrap();
        let elsewhere = Stream::new(&there).unwrap();
        let mut copied = DeviceBuffer::<u8>::zeroed(&elsewhere, 64).unwrap();
        call::memcpy_peer_async(&mut copied, &here, &elsewhere).unwrap();
        assert_eq!(read(&copied, &elsewhere), [5; 64]);
        let shared = PoolProperties::new()
            .handle_types(CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        assert!(MemoryPool::new(&context, &shared).unwrap().is_shared());
    });
}
