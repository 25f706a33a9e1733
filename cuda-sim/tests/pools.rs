//! Memory pools: who gets which memory, what they keep, and what is refused.

mod common;
mod stream_memory;

use common::*;
use cuda_sim::{Config, Feature, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;
use std::ptr;
use stream_memory::*;

use CUmemPool_attribute as A;

const RESERVED: A = A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
const USED: A = A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
const THRESHOLD: A = A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;

fn lazy() -> Config {
    Config::new().scheduler(Scheduler::Lazy)
}

#[test]
fn what_a_pool_says_of_itself() {
    on_every_scheduler!(Config::new(), || {
        start();
        let pool = create(0, 0);
        for flag in [
            A::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
            A::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
        ] {
            assert_eq!(number(pool, flag), 1);
            set(pool, flag, 0);
            assert_eq!(number(pool, flag), 0);
        }
        assert_eq!([THRESHOLD, USED, RESERVED].map(|which| number(pool, which)), [0; 3]);
        set(pool, THRESHOLD, 1 << 40);
        assert_eq!(number(pool, THRESHOLD), 1 << 40);
        let stream = stream(1);
        let memory = alloc_from(pool, 4096, stream);
        ok!(cuStreamSynchronize(stream));
        assert!(number(pool, USED) >= 4096 && number(pool, RESERVED) >= number(pool, USED));
        free_on(memory, stream);
        ok!(cuStreamSynchronize(stream));
        assert_eq!(number(pool, USED), 0);
        // What the threshold keeps, trimming gives back.
        assert!(number(pool, RESERVED) > 0);
        ok!(cuMemPoolTrimTo(pool, 0));
        assert_eq!(number(pool, RESERVED), 0);
        let high = [A::CU_MEMPOOL_ATTR_USED_MEM_HIGH, A::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH];
        for which in high {
            assert!(number(pool, which) >= 4096);
            set(pool, which, 0);
            assert_eq!(number(pool, which), 0);
        }
        ok!(cuMemPoolDestroy(pool));
        ok!(cuStreamDestroy_v2(stream));
        end();
    });
}

#[test]
fn the_current_pool_gives_the_memory() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (mut default, mut current) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuDeviceGetDefaultMemPool(&mut default, CUdevice(0)));
        ok!(cuDeviceGetMemPool(&mut current, CUdevice(0)));
        assert_eq!(default, current);
        let pool = create(0, 0);
        ok!(cuDeviceSetMemPool(CUdevice(0), pool));
        ok!(cuDeviceGetMemPool(&mut current, CUdevice(0)));
        assert_eq!(current, pool);
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 4096, LEGACY));
        assert_eq!(pool_of(memory), pool);
        let own = alloc_from(default, 4096, LEGACY);
        assert_eq!(pool_of(own), default);
        free_on(own, LEGACY);
        free_on(memory, LEGACY);
        // Destroying it makes the default one current.
        ok!(cuMemPoolDestroy(pool));
        ok!(cuDeviceGetMemPool(&mut current, CUdevice(0)));
        assert_eq!(current, default);
        end();
    });
}

#[test]
fn pools_by_location() {
    isolated!(Config::new(), || {
        start();
        let (mut pool, mut default) = (ptr::null_mut(), ptr::null_mut());
        let mut here = CUmemLocation::device(0);
        let pinned = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        ok!(cuDeviceGetDefaultMemPool(&mut default, CUdevice(0)));
        ok!(cuMemGetDefaultMemPool(&mut pool, &mut here, pinned));
        assert_eq!(pool, default);
        let own = create(0, 0);
        ok!(cuMemSetMemPool(&mut here, pinned, own));
        ok!(cuMemGetMemPool(&mut pool, &mut here, pinned));
        assert_eq!(pool, own);
        ok!(cuMemPoolDestroy(own));
        end();
    });
}

#[test]
fn a_stream_gets_back_what_it_freed_at_once() {
    isolated!(lazy()).unchecked().run(|| {
        start();
        let (pool, stream) = (create(0, 0), stream(1));
        let memory = alloc_from(pool, 4096, stream);
        ok!(cuMemsetD8Async(memory, 7, 4096, stream));
        free_on(memory, stream);
        let half = alloc_from(pool, 2048, stream);
        let other = alloc_from(pool, 2048, stream);
        assert_eq!([half, other], [memory, at(memory, 2048)]);
        // The free before it doesn't take the new memory along.
        ok!(cuMemsetD8Async(other, 8, 2048, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!((read(half, 2048), read(other, 2048)), (vec![7; 2048], vec![8; 2048]));
        free_on(half, stream);
        free_on(other, stream);
        ok!(cuMemPoolDestroy(pool));
        ok!(cuStreamDestroy_v2(stream));
        end();
        let report = cuda_sim::finish();
        assert!(report.findings.is_empty(), "{report}");
    });
}

#[test]
fn another_stream_gets_what_an_event_orders() {
    isolated!(lazy()).unchecked().run(|| {
        start();
        let pool = create(0, 0);
        let (left, right, done) = (stream(1), stream(1), event());
        let first = alloc_from(pool, 4096, left);
        free_on(first, left);
        assert_ne!(alloc_from(pool, 4096, right), first);
        ok!(cuEventRecord(done, left));
        ok!(cuStreamWaitEvent(right, done, 0));
        assert_eq!(alloc_from(pool, 4096, right), first);
        free_on(first, right);
        set(pool, A::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, 0);
        ok!(cuEventRecord(done, right));
        ok!(cuStreamWaitEvent(left, done, 0));
        assert_ne!(alloc_from(pool, 4096, left), first);
        assert!(cuda_sim::report().findings.is_empty());
    });
}

#[test]
fn another_stream_gets_what_happens_to_be_done() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let pool = create(0, 0);
        set(pool, A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0);
        let (left, right) = (stream(1), stream(1));
        let first = alloc_from(pool, 4096, left);
        // It has run, but nobody knows.
        free_on(first, left);
        assert_ne!(alloc_from(pool, 4096, right), first);
        set(pool, A::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 1);
        assert_eq!(alloc_from(pool, 4096, right), first);
        assert!(cuda_sim::report().findings.is_empty());
    });
}

#[test]
fn the_last_memory_is_waited_for() {
    isolated!(lazy().memory(2 << 20)).unchecked().run(|| {
        start();
        let pool = create(0, 0);
        let (left, right) = (stream(1), stream(1));
        let first = alloc_from(pool, 2 << 20, left);
        ok!(cuMemsetD8Async(first, 1, 2 << 20, left));
        free_on(first, left);
        let mut address = CUdeviceptr(0);
        let internal = A::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
        set(pool, internal, 0);
        assert_eq!(code!(cuMemAllocFromPoolAsync(&mut address, 2 << 20, pool, right)), 2);
        set(pool, internal, 1);
        let second = alloc_from(pool, 2 << 20, right);
        assert_eq!(second, first);
        // The other stream's fill comes before, whatever this one waits for.
        ok!(cuMemsetD8Async(second, 2, 2 << 20, right));
        ok!(cuStreamSynchronize(right));
        ok!(cuStreamSynchronize(left));
        assert_eq!(read(second, 64), [2; 64]);
        assert!(cuda_sim::report().findings.is_empty(), "{}", cuda_sim::report());
    });
}

#[test]
fn what_is_freed_is_given_back_when_a_call_waits() {
    on_every_scheduler!(Config::new().memory(64 << 20), || {
        start();
        let pool = create(0, 0);
        let memory = alloc_from(pool, 5 << 20, LEGACY);
        free_on(memory, LEGACY);
        ok!(cuCtxSynchronize());
        assert_eq!(number(pool, RESERVED), 0);
        set(pool, THRESHOLD, u64::MAX);
        let memory = alloc_from(pool, 48 << 20, LEGACY);
        ok!(cuMemFree_v2(memory));
        assert_eq!(number(pool, RESERVED), 64 << 20);
        // What the pool keeps, others get when nothing else is left.
        free(alloc(60 << 20));
        assert_eq!(number(pool, RESERVED), 0);
        ok!(cuMemPoolDestroy(pool));
        end();
    });
}

#[test]
fn a_pool_has_only_so_much() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        // It holds pieces of 32 MiB (measured), one at least.
        let pool = create(0, 4 << 20);
        assert_eq!(number(pool, A::CU_MEMPOOL_ATTR_MAX_POOL_SIZE), 4 << 20);
        let memory = alloc_from(pool, 30 << 20, LEGACY);
        let mut more = CUdeviceptr(0);
        assert_eq!(code!(cuMemAllocFromPoolAsync(&mut more, 3 << 20, pool, LEGACY)), 2);
        let rest = alloc_from(pool, 2 << 20, LEGACY);
        free_on(rest, LEGACY);
        free_on(memory, LEGACY);
        free_on(alloc_from(pool, 32 << 20, LEGACY), LEGACY);
        ok!(cuMemPoolDestroy(pool));
        end();
        assert!(cuda_sim::finish().findings.is_empty());
    });
}

#[test]
fn a_destroyed_pool_ends_with_its_last_allocation() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (pool, stream) = (create(0, 0), stream(1));
        let memory = alloc_from(pool, 4096, stream);
        ok!(cuMemPoolDestroy(pool));
        ok!(cuMemsetD8Async(memory, 3, 4096, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(memory, 4096), [3; 4096]);
        free_on(memory, stream);
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        let (mut left, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut left, &mut total));
        assert!(cuda_sim::is_on_device() || left == total);
        end();
    });
}

#[test]
fn a_pool_survives_the_context() {
    on_every_scheduler!(Config::new(), || {
        start();
        let pool = create(0, 0);
        let memory = alloc_from(pool, 4096, LEGACY);
        write(memory, &[5; 4096]);
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(0)));
        let mut address = CUdeviceptr(0);
        assert_eq!(code!(cuMemAllocFromPoolAsync(&mut address, 4096, pool, LEGACY)), 709);
        let mut context = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
        assert_eq!(read(memory, 4096), [5; 4096]);
        let other = alloc_from(pool, 4096, LEGACY);
        ok!(cuMemsetD8_v2(other, 1, 4096));
        free_on(other, LEGACY);
        free_on(memory, LEGACY);
        ok!(cuDevicePrimaryCtxReset_v2(CUdevice(0)));
        // Without a context it can still be destroyed.
        ok!(cuMemPoolDestroy(pool));
        ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
        end();
    });
}

#[test]
fn what_is_refused() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (mut pool, mut default) = (ptr::null_mut(), ptr::null_mut());
        let good = wanted(0, 0);
        assert_eq!(code!(cuMemPoolCreate(ptr::null_mut(), &good)), 1);
        assert_eq!(code!(cuMemPoolCreate(&mut pool, ptr::null())), 1);
        let mut bad = good;
        bad.allocType = CUmemAllocationType(0);
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &bad)), 1);
        let bad = CUmemPoolProps { location: CUmemLocation::device(7), ..good };
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &bad)), 1);
        let bad = CUmemPoolProps { location: CUmemLocation::host(), ..good };
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &bad)), 801);
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &wanted(8, 0))), 800);
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &wanted(2, 0))), 1);
        ok!(cuDeviceGetDefaultMemPool(&mut default, CUdevice(0)));
        assert_eq!(code!(cuMemPoolDestroy(default)), 1);
        assert_eq!(code!(cuMemPoolDestroy(ptr::null_mut())), 1);
        let mut address = CUdeviceptr(1);
        // No bytes are at null, and free for nothing.
        ok!(cuMemAllocFromPoolAsync(&mut address, 0, default, LEGACY));
        assert_eq!(address, CUdeviceptr(0));
        ok!(cuMemAllocAsync(&mut address, 0, LEGACY));
        ok!(cuMemFreeAsync(address, LEGACY));
        assert_eq!(code!(cuMemAllocAsync(&mut address, 1 << 50, LEGACY)), 2);
        let mut value = 1_u64;
        let place: *mut u64 = &mut value;
        for which in [USED, RESERVED, A(99), A::CU_MEMPOOL_ATTR_USED_MEM_HIGH] {
            assert_eq!(code!(cuMemPoolSetAttribute(default, which, place.cast())), 1);
        }
        assert_eq!(code!(cuMemPoolGetAttribute(default, A(99), place.cast())), 1);
        // The pool's own device keeps its access.
        let mut flags = CUmemAccess_flags(9);
        let mut here = CUmemLocation::device(0);
        ok!(cuMemPoolGetAccess(&mut flags, default, &mut here));
        assert_eq!(flags.0, 3);
        let none = CUmemAccessDesc { location: here, flags: CUmemAccess_flags(0) };
        assert_eq!(code!(cuMemPoolSetAccess(default, &none, 1)), 101);
        assert!(cuda_sim::report().findings.is_empty());
        // A destroyed one is told.
        let own = create(0, 0);
        ok!(cuMemPoolDestroy(own));
        assert_eq!(code!(cuMemPoolDestroy(own)), 1);
        assert_eq!(code!(cuMemAllocFromPoolAsync(&mut address, 64, own, LEGACY)), 1);
        assert_eq!(cuda_sim::report().count(FindingKind::StaleHandle), 2);
    });
}

#[test]
fn access_of_other_devices() {
    isolated!(Config::new().devices(3).no_peer(2, 0)).unchecked().run(|| {
        start();
        let pool = create(0, 0);
        let access = |device| {
            let (mut flags, mut at) = (CUmemAccess_flags(9), CUmemLocation::device(device));
            ok!(cuMemPoolGetAccess(&mut flags, pool, &mut at));
            flags.0
        };
        let grant = |device, flags| {
            let flags = CUmemAccess_flags(flags);
            let said = CUmemAccessDesc { location: CUmemLocation::device(device), flags };
            code!(cuMemPoolSetAccess(pool, &said, 1))
        };
        assert_eq!([0, 1, 2].map(access), [3, 0, 0]);
        assert_eq!([grant(1, 3), grant(2, 3), grant(1, 2), grant(5, 3)], [0, 101, 1, 101]);
        assert_eq!([0, 1, 2].map(access), [3, 3, 0]);
        assert_eq!((grant(1, 0), access(1)), (0, 0));
    });
}

#[test]
fn devices_without_pools() {
    isolated!(Config::new().without(Feature::MemoryPools), || {
        start();
        let (mut pool, mut address) = (ptr::null_mut(), CUdeviceptr(0));
        assert_eq!(code!(cuMemPoolCreate(&mut pool, &wanted(0, 0))), 801);
        assert_eq!(code!(cuDeviceGetDefaultMemPool(&mut pool, CUdevice(0))), 801);
        assert_eq!(code!(cuMemAllocAsync(&mut address, 64, LEGACY)), 801);
        let mut value = 9;
        let which = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES;
        ok!(cuDeviceGetAttribute(&mut value, which, CUdevice(0)));
        assert_eq!(value, 0);
        end();
    });
}

#[test]
fn types_of_handles_as_measured() {
    isolated!(Config::new(), || {
        start();
        let mut value = 0;
        let which = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES;
        ok!(cuDeviceGetAttribute(&mut value, which, CUdevice(0)));
        assert_eq!(value, 9);
        end();
    });
}
