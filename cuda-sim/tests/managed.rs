//! Managed memory: its attributes, what is advised of it, and when the host may touch it.

mod common;

use std::ptr;

use common::*;
use cuda_sim::{Config, Feature, FindingKind, Scheduler, isolated, on_every_scheduler};
use cuda_sys::*;

const GLOBAL: u32 = CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL.0;
const HOST: u32 = CUmemAttach_flags::CU_MEM_ATTACH_HOST.0;
const SINGLE: u32 = CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;

fn managed(bytes: usize) -> CUdeviceptr {
    let mut address = CUdeviceptr(0);
    ok!(cuMemAllocManaged(&mut address, bytes, GLOBAL));
    address
}

/// Returns the host's view of managed memory, of which no device work is queued.
fn host(address: CUdeviceptr, bytes: usize) -> &'static mut [u8] {
    // SAFETY: the tests name allocations that are alive, and touch them when the device does not.
    unsafe { std::slice::from_raw_parts_mut(as_host(address).cast(), bytes) }
}

fn attribute(address: CUdeviceptr, bytes: usize, attribute: CUmem_range_attribute) -> i32 {
    let mut value = 77_i32;
    ok!(cuMemRangeGetAttribute((&raw mut value).cast(), 4, attribute, address, bytes));
    value
}

#[test]
fn host_and_device_share_it() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (memory, other, stream) = (managed(4096), alloc(4096), stream(1));
        host(memory, 4096).fill(7);
        ok!(cuMemcpyDtoDAsync_v2(other, memory, 4096, stream));
        ok!(cuMemsetD8Async(memory, 9, 16, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(host(memory, 17), [&[9_u8; 16][..], &[7]].concat());
        assert_eq!(read(other, 4096), [7; 4096]);
        // A call without a stream is done on return.
        ok!(cuMemcpyHtoD_v2(memory, [5_u8; 8].as_ptr().cast(), 8));
        assert_eq!(host(memory, 8), [5; 8]);
        ok!(cuMemsetD8_v2(memory, 6, 8));
        assert_eq!(host(memory, 8), [6; 8]);
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        free(other);
        end();
    });
}

#[test]
fn attributes_are_those_of_managed_memory() {
    isolated!(Config::new(), || {
        start();
        let memory = managed(100);
        let (mut kind, mut is_managed, mut legacy, mut ordinal, mut host_address) =
            (0_u32, 9_u8, 9_u8, 9_i32, 0_u64);
        use CUpointer_attribute as A;
        let mut attributes = [
            A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            A::CU_POINTER_ATTRIBUTE_IS_MANAGED,
            A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
            A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            A::CU_POINTER_ATTRIBUTE_HOST_POINTER,
        ];
        let mut places = [
            (&raw mut kind).cast(),
            (&raw mut is_managed).cast(),
            (&raw mut legacy).cast(),
            (&raw mut ordinal).cast(),
            (&raw mut host_address).cast(),
        ];
        ok!(cuPointerGetAttributes(5, attributes.as_mut_ptr(), places.as_mut_ptr(), memory));
        assert_eq!((kind, is_managed, legacy, ordinal), (2, 1, 0, 0));
        assert_eq!(host_address, memory.0);
        assert_eq!(code!(cuIpcGetMemHandle(&mut CUipcMemHandle::zeroed(), memory)), 1);
        assert_eq!(code!(cuMemAllocManaged(&mut CUdeviceptr(0), 0, GLOBAL)), 1);
        for flags in [0, SINGLE, GLOBAL | HOST, 8] {
            assert_eq!(code!(cuMemAllocManaged(&mut CUdeviceptr(0), 64, flags)), 1);
        }
        free(memory);
        end();
    });
}

#[test]
fn advice_is_told_again() {
    isolated!(Config::new(), || {
        use CUmem_advise as S;
        use CUmem_range_attribute as A;
        start();
        let memory = managed(64 << 10);
        let second = at(memory, 8192);
        ok!(cuMemAdvise(memory, 8192, S::CU_MEM_ADVISE_SET_READ_MOSTLY, CUdevice(0)));
        assert_eq!(attribute(memory, 8192, A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
        assert_eq!(attribute(memory, 8193, A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
        assert_eq!(attribute(second, 4096, A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
        ok!(cuMemAdvise(memory, 8192, S::CU_MEM_ADVISE_UNSET_READ_MOSTLY, CUdevice(0)));
        assert_eq!(attribute(memory, 1, A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
        let preferred = A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
        let prefetched = A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        assert_eq!((attribute(memory, 1, preferred), attribute(memory, 1, prefetched)), (-2, -2));
        ok!(cuMemAdvise(memory, 64 << 10, S::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CUdevice(-1)));
        ok!(cuMemAdvise(second, 4096, S::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CUdevice(0)));
        assert_eq!(attribute(memory, 4096, preferred), -1);
        assert_eq!(attribute(second, 4096, preferred), 0);
        assert_eq!(attribute(memory, 64 << 10, preferred), -2);
        let stream = stream(1);
        ok!(cuMemPrefetchAsync(memory, 64 << 10, CUdevice(0), stream));
        assert_eq!(attribute(memory, 64 << 10, prefetched), 0);
        let mut host = CUmemLocation::zeroed();
        host.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;
        ok!(cuMemPrefetchAsync_v2(memory, 64 << 10, host, 0, stream));
        assert_eq!(attribute(memory, 64 << 10, prefetched), -1);
        ok!(cuMemAdvise(memory, 1, S::CU_MEM_ADVISE_SET_ACCESSED_BY, CUdevice(0)));
        let mut devices = [5_i32; 3];
        ok!(cuMemRangeGetAttribute(
            devices.as_mut_ptr().cast(),
            12,
            A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
            memory,
            4096
        ));
        assert_eq!(devices, [0, -2, -2]);
        // Refused: no managed memory, too much of it, no room, no such device.
        let plain = alloc(64);
        let mut value = 0_i32;
        let out: *mut std::ffi::c_void = (&raw mut value).cast();
        assert_eq!(code!(cuMemRangeGetAttribute(out, 4, preferred, plain, 64)), 1);
        assert_eq!(code!(cuMemRangeGetAttribute(out, 8, preferred, memory, 64)), 1);
        assert_eq!(code!(cuMemRangeGetAttribute(out, 4, preferred, memory, (64 << 10) + 1)), 1);
        assert_eq!(code!(cuMemPrefetchAsync(plain, 64, CUdevice(0), stream)), 1);
        assert_eq!(code!(cuMemPrefetchAsync(memory, 64, CUdevice(7), stream)), 101);
        assert_eq!(code!(cuMemPrefetchAsync(memory, 0, CUdevice(0), stream)), 1);
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(plain);
        free(memory);
        end();
    });
}

#[test]
fn batches_of_prefetches_and_discards() {
    isolated!(Config::new(), || {
        start();
        let (first, second, stream) = (managed(8192), managed(8192), stream(1));
        let mut device = CUmemLocation::zeroed();
        device.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        let mut host = CUmemLocation::zeroed();
        host.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;
        let (mut addresses, mut sizes) = ([first, second], [8192_usize, 4096]);
        let (mut locations, mut starts) = ([device, host], [0_usize, 1]);
        let mut batch = |count: usize, starts: &mut [usize; 2]| {
            code!(cuMemPrefetchBatchAsync(
                addresses.as_mut_ptr(),
                sizes.as_mut_ptr(),
                2,
                locations.as_mut_ptr(),
                starts.as_mut_ptr(),
                count,
                0,
                stream
            ))
        };
        assert_eq!(batch(2, &mut starts), 0);
        let prefetched = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        assert_eq!(attribute(first, 8192, prefetched), 0);
        assert_eq!(attribute(second, 4096, prefetched), -1);
        assert_eq!(attribute(at(second, 4096), 4096, prefetched), -2);
        assert_eq!([batch(0, &mut [0, 1]), batch(2, &mut [0, 0]), batch(2, &mut [1, 1])], [1; 3]);
        ok!(cuMemsetD8Async(first, 1, 8192, stream));
        ok!(cuMemDiscardBatchAsync(addresses.as_mut_ptr(), sizes.as_mut_ptr(), 1, 0, stream));
        ok!(cuMemsetD8Async(first, 2, 8192, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(first, 8192), [2; 8192]);
        ok!(cuStreamDestroy_v2(stream));
        free(first);
        free(second);
        end();
    });
}

#[test]
fn a_device_without_it_refuses() {
    isolated!(Config::new().without(Feature::ManagedMemory), || {
        start();
        assert_eq!(code!(cuMemAllocManaged(&mut CUdeviceptr(0), 64, GLOBAL)), 801);
        let mut value = 9;
        let asked = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
        ok!(cuDeviceGetAttribute(&mut value, asked, CUdevice(0)));
        assert_eq!(value, 0);
        end();
    });
}

/// Is a device whose managed memory host and device touch in turns.
fn in_turns(scheduler: Scheduler) -> Config {
    Config::new().without(Feature::ConcurrentManagedAccess).scheduler(scheduler)
}

/// Runs a body whose managed memory is touched in turns; the scheduler changes no finding.
macro_rules! in_turns {
    ($body:expr) => {
        isolated!(in_turns(Scheduler::Eager)).unchecked().run_on_every_scheduler(2, $body)
    };
}

#[test]
fn the_host_touches_memory_while_the_device_has_work() {
    in_turns!(|| {
        start();
        let (memory, other, stream) = (managed(64), alloc(64), stream(1));
        host(memory, 64).fill(1);
        ok!(cuMemsetD8Async(other, 1, 64, stream));
        // Not even the memory of the work: all of it belongs to the device.
        host(memory, 64).fill(2);
        ok!(cuStreamSynchronize(stream));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::ManagedAccess), 1, "{report}");
        assert!(report.to_string().contains("cuMemsetD8Async"), "{report}");
    });
}

#[test]
fn the_host_touches_memory_in_its_turn() {
    on_every_scheduler!(in_turns(Scheduler::Eager), || {
        start();
        let (memory, stream) = (managed(64), stream(1));
        for turn in 0..3 {
            host(memory, 64).fill(turn);
            ok!(cuMemsetD8Async(memory, turn + 1, 32, stream));
            ok!(cuStreamSynchronize(stream));
        }
        assert_eq!((host(memory, 64)[0], host(memory, 64)[63]), (3, 2));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
        end();
    });
}

#[test]
fn memory_attached_to_one_stream_is_no_other_s() {
    in_turns!(|| {
        start();
        let (memory, mine, theirs) = (managed(64), stream(1), stream(1));
        ok!(cuStreamAttachMemAsync(mine, memory, 0, SINGLE));
        ok!(cuStreamSynchronize(mine));
        // Work of another stream lets the host be.
        let other = alloc(64);
        ok!(cuMemsetD8Async(other, 1, 64, theirs));
        host(memory, 64).fill(2);
        ok!(cuStreamSynchronize(theirs));
        assert!(cuda_sim::report().is_clean(), "{}", cuda_sim::report());
        ok!(cuMemsetD8Async(memory, 1, 64, theirs));
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::ManagedAccess), 1, "{report}");
        assert!(report.to_string().contains("another stream"), "{report}");
    });
}

#[test]
fn what_cannot_be_attached_or_prefetched_is_refused() {
    isolated!(in_turns(Scheduler::Eager), || {
        start();
        let (memory, stream, plain) = (managed(8192), stream(1), alloc(64));
        assert_eq!(code!(cuMemPrefetchAsync(memory, 64, CUdevice(0), stream)), 101);
        assert_eq!(code!(cuStreamAttachMemAsync(stream, at(memory, 4096), 0, GLOBAL)), 1);
        assert_eq!(code!(cuStreamAttachMemAsync(stream, memory, 4096, GLOBAL)), 1);
        assert_eq!(code!(cuStreamAttachMemAsync(stream, memory, 0, 3)), 1);
        assert_eq!(code!(cuStreamAttachMemAsync(stream, plain, 0, GLOBAL)), 1);
        assert_eq!(code!(cuStreamAttachMemAsync(LEGACY, memory, 0, SINGLE)), 1);
        ok!(cuStreamAttachMemAsync(LEGACY, memory, 8192, HOST));
        ok!(cuCtxSynchronize());
        ok!(cuStreamDestroy_v2(stream));
        free(plain);
        free(memory);
        end();
    });
}

#[test]
fn a_forgotten_allocation_is_a_leak() {
    isolated!(Config::new()).unchecked().run(|| {
        let mut context = ptr::null_mut();
        ok!(cuInit(0));
        ok!(cuCtxCreate_v2(&mut context, 0, CUdevice(0)));
        let memory = managed(4096);
        let report = cuda_sim::finish();
        assert!(report.to_string().contains("cuMemAllocManaged"), "{report}");
        // Its context takes it along.
        ok!(cuCtxDestroy_v2(context));
        assert!(cuda_sim::finish().is_clean());
        let mut value = 0_u32;
        assert_eq!(
            code!(cuPointerGetAttribute(
                (&raw mut value).cast(),
                CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                memory
            )),
            1
        );
    });
}
