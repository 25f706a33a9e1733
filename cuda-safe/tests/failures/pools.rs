//! Memory pools.

use cuda_safe::shim::attribute::{ReleaseThreshold, UsedNow};
use cuda_safe::sys::CUmemAllocationHandleType;
use cuda_safe::{MemoryPool, PoolProperties, Stream, call};

#[test]
fn a_pool_of_ones_own() {
    each_call_fails!([MemoryPool::new, MemoryPool::allocate], |given| {
        let (context, stream) = given.stream()?;
        let pool = MemoryPool::new(&context, &PoolProperties::new().max_size(8 << 20))?;
        let mut buffer = pool.allocate::<u8>(&stream, 64)?;
        buffer.fill(1, &stream)?;
        let other = Stream::new(&context)?;
        call::memset_d8_async(&mut buffer, 2, &other)?;
        // The pool goes before its memory.
        drop(pool);
        drop(buffer);
        stream.synchronize()?;
        other.synchronize()
    });
}

#[test]
fn what_a_pool_tells_and_is_told() {
    each_call_fails!(
        [
            MemoryPool::default_of,
            MemoryPool::attribute,
            MemoryPool::set_attribute,
            MemoryPool::used,
            MemoryPool::used_high,
            MemoryPool::reserved,
            MemoryPool::reserved_high,
            MemoryPool::reset_high,
            MemoryPool::release_threshold,
            MemoryPool::set_release_threshold,
            MemoryPool::set_reuse,
            MemoryPool::trim_to,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let pool = MemoryPool::default_of(&context)?;
            let buffer = pool.allocate::<u8>(&stream, 64)?;
            let used = pool.used()?;
            assert!(used >= 64 && pool.attribute::<UsedNow>()? == used);
            assert!(pool.used_high()? >= used && pool.reserved_high()? >= pool.reserved()?);
            pool.set_release_threshold(1 << 20)?;
            assert_eq!(pool.release_threshold()?, 1 << 20);
            pool.set_attribute::<ReleaseThreshold>(0)?;
            pool.set_reuse(true, false, true)?;
            drop(buffer);
            stream.synchronize()?;
            pool.trim_to(0)?;
            pool.reset_high()
        }
    );
}

#[test]
fn what_pools_know_without_asking() {
    asks_no_driver!(
        [
            MemoryPool::is_shared,
            MemoryPool::context,
            PoolProperties::new,
            PoolProperties::max_size,
            PoolProperties::handle_types,
        ],
        |given| MemoryPool::default_of(&given.context()?),
        |pool| {
            assert!(!pool.is_shared() && pool.context().is_primary());
            let files = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            let properties = PoolProperties::new().max_size(1 << 20).handle_types(files);
            assert_ne!(properties, PoolProperties::new());
            Ok(pool)
        }
    );
}
