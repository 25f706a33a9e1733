//! Virtual memory: physical memory, reserved addresses, mappings, access.

mod common;
mod mapped;

use common::*;
use cuda_sim::{Config, Feature, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;
use mapped::*;
use std::ptr;

#[test]
fn the_life_cycle() {
    on_every_scheduler!(Config::new(), || {
        start();
        let mut granularity = 0;
        for option in [0, 1] {
            let option = CUmemAllocationGranularity_flags(option);
            ok!(cuMemGetAllocationGranularity(&mut granularity, &wanted(1), option));
            assert_eq!(granularity, PAGE);
        }
        let handle = create(2 * PAGE, 1);
        let mut known = CUmemAllocationProp::zeroed();
        ok!(cuMemGetAllocationPropertiesFromHandle(&mut known, handle));
        assert_eq!((known.type_.0, known.requestedHandleTypes.0), (1, 1));
        assert_eq!(known.location.type_, CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE);
        let base = reserve(4 * PAGE);
        map(at(base, PAGE as u64), 2 * PAGE, 0, handle);
        grant(at(base, PAGE as u64), 2 * PAGE, 3);
        let memory = at(base, PAGE as u64);
        // Released, it lives while it is mapped.
        ok!(cuMemRelease(handle));
        ok!(cuMemsetD8_v2(memory, 7, 2 * PAGE));
        assert_eq!(read(at(memory, 2 * PAGE as u64 - 8), 8), [7; 8]);
        // Past the end is as of any other memory.
        assert_eq!(code!(cuMemsetD8_v2(memory, 7, 2 * PAGE + 1)), 1);
        assert_eq!(code!(cuMemFree_v2(memory)), 1);
        ok!(cuCtxSynchronize());
        ok!(cuMemUnmap(memory, 2 * PAGE));
        ok!(cuMemAddressFree(base, 4 * PAGE));
        end();
    });
}

#[test]
fn what_a_device_has_left() {
    isolated!(Config::new().memory(8 << 20), || {
        start();
        let left = || {
            let (mut left, mut total) = (0, 0);
            ok!(cuMemGetInfo_v2(&mut left, &mut total));
            left
        };
        let handle = create(3 * PAGE, 0);
        assert_eq!(left(), PAGE);
        let mut more = CUmemGenericAllocationHandle(0);
        assert_eq!(code!(cuMemCreate(&mut more, 2 * PAGE, &wanted(0), 0)), 2);
        // A reservation takes none.
        let base = reserve(1 << 30);
        map(base, PAGE, 0, handle);
        ok!(cuMemRelease(handle));
        assert_eq!(left(), PAGE);
        ok!(cuMemUnmap(base, PAGE));
        assert_eq!(left(), 4 * PAGE);
        ok!(cuMemAddressFree(base, 1 << 30));
        end();
    });
}

#[test]
fn one_memory_at_two_addresses() {
    on_every_scheduler!(Config::new(), || {
        start();
        let handle = create(2 * PAGE, 0);
        let base = reserve(3 * PAGE);
        // All of it, and its first half once more.
        map(base, 2 * PAGE, 0, handle);
        let alias = at(base, 2 * PAGE as u64);
        map(alias, PAGE, 0, handle);
        grant(base, 3 * PAGE, 3);
        write(base, &[5; 64]);
        assert_eq!(read(alias, 64), [5; 64]);
        ok!(cuMemsetD8_v2(alias, 6, 64));
        assert_eq!(read(base, 64), [6; 64]);
        ok!(cuCtxSynchronize());
        // Whole mappings go at once.
        ok!(cuMemUnmap(base, 3 * PAGE));
        ok!(cuMemAddressFree(base, 3 * PAGE));
        ok!(cuMemRelease(handle));
        end();
    });
}

#[test]
fn accesses_go_on_in_the_next_mapping() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (base, size) = (reserve(3 * PAGE), PAGE as u64);
        let handles = [0, 1, 2].map(|_| create(PAGE, 0));
        for (index, handle) in (0..).zip(handles) {
            map(at(base, index * size), PAGE, 0, handle);
            ok!(cuMemRelease(handle));
        }
        grant(base, 3 * PAGE, 3);
        // Rows that straddle the mappings.
        ok!(cuMemsetD2D8_v2(at(base, size - 40), 64, 9, 48, 40_000));
        let bytes = read(at(base, size - 40), 128);
        assert_eq!((bytes.get(..48), bytes.get(64..112)), (Some(&[9; 48][..]), Some(&[9; 48][..])));
        assert_eq!(read(at(base, size - 40 + 64 * 39_999), 48), [9; 48]);
        // The range of an address is its mapping's.
        let (mut start, mut length) = (CUdeviceptr(0), 0);
        ok!(cuMemGetAddressRange_v2(&mut start, &mut length, at(base, size + 9)));
        assert_eq!((start, length), (at(base, size), PAGE));
        ok!(cuCtxSynchronize());
        ok!(cuMemUnmap(at(base, size), PAGE));
        assert_eq!(code!(cuMemsetD8_v2(base, 0, 2 * PAGE)), 1);
        ok!(cuMemUnmap(at(base, 2 * size), PAGE));
        ok!(cuMemUnmap(base, PAGE));
        ok!(cuMemAddressFree(base, 3 * PAGE));
        end();
    });
}

#[test]
fn access_is_granted_by_device() {
    isolated!(Config::new().devices(3).no_peer(2, 0)).unchecked().run(|| {
        start();
        let (handle, base) = (create(PAGE, 0), reserve(PAGE));
        map(base, PAGE, 0, handle);
        let access = |device| {
            let (mut flags, at) = (9, CUmemLocation::device(device));
            ok!(cuMemGetAccess(&mut flags, &at, base));
            flags
        };
        let mut byte = 0_u8;
        let host: *mut u8 = &mut byte;
        assert_eq!(access(0), 0);
        assert_eq!(code!(cuMemsetD8_v2(base, 1, 1)), 1);
        assert_eq!(code!(cuMemcpyDtoH_v2(host.cast(), base, 1)), 1);
        grant(base, PAGE, 1);
        assert_eq!(code!(cuMemsetD8_v2(base, 1, 1)), 1);
        assert_eq!(code!(cuMemcpyHtoD_v2(base, host.cast(), 1)), 1);
        ok!(cuMemcpyDtoH_v2(host.cast(), base, 1));
        grant(base, PAGE, 3);
        ok!(cuMemsetD8_v2(base, 1, 1));
        assert_eq!([0, 1, 2].map(access), [3, 0, 0]);
        let set = |device, flags, size| {
            let flags = CUmemAccess_flags(flags);
            let said = CUmemAccessDesc { location: CUmemLocation::device(device), flags };
            code!(cuMemSetAccess(base, size, &said, 1))
        };
        assert_eq!([set(1, 1, PAGE), set(2, 3, PAGE), set(7, 3, PAGE)], [0, 101, 101]);
        assert_eq!([set(1, 2, PAGE), set(1, 3, 2 * PAGE), set(1, 3, 64)], [1, 1, 1]);
        assert_eq!([0, 1, 2].map(access), [3, 1, 0]);
        // Mapped anew, it is nobody's.
        ok!(cuCtxSynchronize());
        ok!(cuMemUnmap(base, PAGE));
        map(base, PAGE, 0, handle);
        assert_eq!(access(0), 0);
    });
}

#[test]
fn addresses_are_reserved_where_one_wishes() {
    isolated!(Config::new(), || {
        start();
        let first = reserve(4 * PAGE);
        ok!(cuMemAddressFree(first, 4 * PAGE));
        let hint = at(first, PAGE as u64);
        let mut second = CUdeviceptr(0);
        ok!(cuMemAddressReserve(&mut second, PAGE, 0, hint, 0));
        assert!(second == hint || cuda_sim::is_on_device());
        // Taken, it is only a wish.
        let mut third = CUdeviceptr(0);
        ok!(cuMemAddressReserve(&mut third, PAGE, 0, second, 0));
        assert_ne!(third, second);
        let mut aligned = CUdeviceptr(0);
        ok!(cuMemAddressReserve(&mut aligned, PAGE, 64 << 20, CUdeviceptr(0), 0));
        assert_eq!(aligned.0 % (64 << 20), 0);
        // Nothing else is allocated there.
        let memory = alloc(3 * PAGE);
        assert!(memory.0 + 3 * PAGE as u64 <= second.0 || memory.0 >= second.0 + PAGE as u64);
        free(memory);
        for base in [second, third, aligned] {
            ok!(cuMemAddressFree(base, PAGE));
        }
        end();
    });
}

#[test]
fn handles_are_retained_by_address() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (handle, base) = (create(PAGE, 0), reserve(PAGE));
        map(base, PAGE, 0, handle);
        let mut again = CUmemGenericAllocationHandle(0);
        ok!(cuMemRetainAllocationHandle(&mut again, as_host(at(base, 100))));
        ok!(cuMemRelease(again));
        ok!(cuMemRelease(handle));
        assert_eq!(cuda_sim::report().findings.len(), 0);
        assert_eq!(code!(cuMemRelease(handle)), 1);
        assert_eq!(cuda_sim::report().count(FindingKind::StaleHandle), 1);
        // Of memory that has no handle left, it is a new one.
        ok!(cuMemRetainAllocationHandle(&mut again, as_host(base)));
        ok!(cuMemUnmap(base, PAGE));
        map(base, PAGE, 0, again);
        ok!(cuMemUnmap(base, PAGE));
        ok!(cuMemRelease(again));
        assert_eq!(code!(cuMemRetainAllocationHandle(&mut again, as_host(base))), 1);
        ok!(cuMemAddressFree(base, PAGE));
        end();
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 0);
    });
}

#[test]
fn what_is_refused() {
    isolated!(Config::new(), || {
        start();
        let mut handle = CUmemGenericAllocationHandle(0);
        let good = wanted(0);
        let mut make = |size, wanted: &CUmemAllocationProp, flags| {
            code!(cuMemCreate(&mut handle, size, wanted, flags))
        };
        assert_eq!([make(0, &good, 0), make(4096, &good, 0), make(PAGE, &good, 1)], [1; 3]);
        // Measured.
        assert_eq!(make(PAGE, &wanted(8), 0), 800);
        let mut bad = good;
        bad.type_ = CUmemAllocationType(0);
        assert_eq!(make(PAGE, &bad, 0), 1);
        bad = good;
        bad.location = CUmemLocation::device(77);
        assert_eq!(make(PAGE, &bad, 0), 101);
        assert_eq!(code!(cuMemCreate(ptr::null_mut(), PAGE, &good, 0)), 1);
        assert_eq!(code!(cuMemRelease(CUmemGenericAllocationHandle(0))), 1);

        let mut base = CUdeviceptr(0);
        for (size, alignment, flags) in [(0, 0, 0), (4096, 0, 0), (PAGE, 3, 0), (PAGE, 0, 1)] {
            let hint = CUdeviceptr(0);
            assert_eq!(code!(cuMemAddressReserve(&mut base, size, alignment, hint, flags)), 1);
        }
        let (handle, base) = (create(2 * PAGE, 0), reserve(4 * PAGE));
        let refused =
            |base, size, offset, flags| code!(cuMemMap(base, size, offset, handle, flags));
        let next = at(base, PAGE as u64);
        assert_eq!(refused(base, PAGE, 0, 1), 1);
        assert_eq!(refused(base, 4096, 0, 0), 1);
        assert_eq!(refused(at(base, 4096), PAGE, 0, 0), 1);
        // Measured: memory is mapped from its beginning.
        assert_eq!(refused(base, PAGE, 4096, 0), 801);
        assert_eq!(refused(base, 3 * PAGE, 0, 0), 1);
        assert_eq!(refused(base, 2 * PAGE, PAGE, 0), 801);
        assert_eq!(refused(at(base, 3 * PAGE as u64), 2 * PAGE, 0, 0), 1);
        assert_eq!(refused(CUdeviceptr(0), PAGE, 0, 0), 1);
        map(base, 2 * PAGE, 0, handle);
        // There is something already.
        assert_eq!(refused(next, PAGE, 0, 0), 1);
        // Not whole mappings.
        assert_eq!(code!(cuMemUnmap(base, PAGE)), 1);
        assert_eq!(code!(cuMemUnmap(next, PAGE)), 1);
        assert_eq!(code!(cuMemUnmap(base, 5 * PAGE)), 1);
        // Not a whole reservation, or one in use.
        assert_eq!(code!(cuMemAddressFree(base, 4 * PAGE)), 1);
        // With what has none behind it, and nothing at all (measured).
        ok!(cuMemUnmap(base, 3 * PAGE));
        ok!(cuMemUnmap(base, 2 * PAGE));
        assert_eq!(code!(cuMemAddressFree(base, 2 * PAGE)), 1);
        assert_eq!(code!(cuMemAddressFree(next, 3 * PAGE)), 1);
        ok!(cuMemAddressFree(base, 4 * PAGE));
        assert_eq!(code!(cuMemAddressFree(base, 4 * PAGE)), 1);
        // Memory that was not made to be shared.
        let mut file = -1;
        let out: *mut i32 = &mut file;
        let kind = CUmemAllocationHandleType(1);
        assert_eq!(code!(cuMemExportToShareableHandle(out.cast(), handle, kind, 0)), 1);
        ok!(cuMemRelease(handle));
        end();
    });
}

#[test]
fn devices_without_virtual_memory() {
    isolated!(Config::new().without(Feature::VirtualMemory), || {
        start();
        let (mut handle, mut base) = (CUmemGenericAllocationHandle(0), CUdeviceptr(0));
        assert_eq!(code!(cuMemCreate(&mut handle, PAGE, &wanted(0), 0)), 801);
        assert_eq!(code!(cuMemAddressReserve(&mut base, PAGE, 0, CUdeviceptr(0), 0)), 801);
        end();
    });
}

/// Makes the body of a test: what is found must be of that kind, or nothing.
fn found(kind: Option<FindingKind>, body: fn()) -> impl FnOnce() {
    move || {
        start();
        body();
        ok!(cuCtxSynchronize());
        let report = cuda_sim::report();
        let expected = kind.map_or(0, |kind| report.count(kind));
        assert_eq!(expected, report.findings.len(), "{report}");
        assert_eq!(kind.is_some(), expected > 0, "{report}");
    }
}

macro_rules! under_each_scheduler {
    ($($name:ident: $kind:expr, $body:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated!(Config::new()).unchecked().run_on_every_scheduler(3, found($kind, $body));
        }
    )*};
}

/// Maps new memory, and maps its first half once more behind it.
fn aliased() -> (CUdeviceptr, CUdeviceptr) {
    let (handle, base) = (create(2 * PAGE, 0), reserve(3 * PAGE));
    let alias = at(base, 2 * PAGE as u64);
    map(base, 2 * PAGE, 0, handle);
    map(alias, PAGE, 0, handle);
    grant(base, 3 * PAGE, 3);
    (base, alias)
}

under_each_scheduler! {
    a_race_through_two_addresses: Some(FindingKind::Race), || {
        let (base, alias) = aliased();
        ok!(cuMemsetD8Async(at(base, 100), 1, 64, stream(1)));
        ok!(cuMemsetD8Async(at(alias, 163), 2, 64, stream(1)));
    };
    two_addresses_of_other_bytes: None, || {
        let (base, alias) = aliased();
        ok!(cuMemsetD8Async(at(base, 100), 1, 64, stream(1)));
        ok!(cuMemsetD8Async(at(alias, 164), 2, 64, stream(1)));
        ok!(cuMemsetD8Async(at(base, PAGE as u64 + 100), 2, 64, stream(1)));
    };
    rows_over_the_seam: Some(FindingKind::Race), || {
        let (base, alias) = aliased();
        ok!(cuMemsetD2D8Async(at(base, PAGE as u64 - 64), 128, 1, 64, 3, stream(1)));
        ok!(cuMemsetD8Async(at(alias, PAGE as u64 - 64), 2, 1, stream(1)));
    };
    rows_beside_it: None, || {
        let (base, alias) = aliased();
        ok!(cuMemsetD2D8Async(at(base, PAGE as u64 - 64), 128, 1, 64, 3, stream(1)));
        ok!(cuMemsetD8Async(at(alias, PAGE as u64 - 128), 2, 64, stream(1)));
    };
    unmapped_under_work: Some(FindingKind::UseAfterFree), || {
        let (base, _) = aliased();
        ok!(cuMemsetD8Async(base, 1, 64, stream(1)));
        ok!(cuMemUnmap(base, 2 * PAGE));
    };
    unmapped_after_work: None, || {
        let ((base, alias), other) = (aliased(), stream(1));
        ok!(cuMemsetD8Async(base, 1, 64, other));
        ok!(cuStreamSynchronize(other));
        // Work through the other address goes on.
        ok!(cuMemsetD8Async(alias, 1, 64, other));
        ok!(cuMemUnmap(base, 2 * PAGE));
    };
    used_after_it_was_unmapped: Some(FindingKind::UseAfterFree), || {
        let (base, _) = aliased();
        ok!(cuMemUnmap(base, 2 * PAGE));
        assert_eq!(code!(cuMemsetD8Async(base, 1, 64, LEGACY)), 1);
    };
}

#[test]
fn what_is_left_is_told() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        start();
        let (handle, base) = (create(PAGE, 0), reserve(2 * PAGE));
        map(base, PAGE, 0, handle);
        end();
        // The handle, the mapping, the addresses.
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 3);
        ok!(cuMemRelease(handle));
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 2);
        ok!(cuMemUnmap(base, PAGE));
        assert_eq!(cuda_sim::finish().count(FindingKind::Leak), 1);
        ok!(cuMemAddressFree(base, 2 * PAGE));
        assert!(cuda_sim::finish().findings.is_empty());
    });
}
