//! Reserved addresses and physical memory: growth, order, access of devices, and ends.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "common/logged.rs"]
mod logged;

use cuda_safe::shim::Kind;
use cuda_safe::shim::Memory as _;
use cuda_safe::sys::CUdeviceptr;
use cuda_safe::{
    AddressRange, Cause, Context, Device, DeviceAccess, External, PhysicalMemory, PinnedBuffer,
    Rule, Stream, call, copy, inout, input,
};
use cuda_sim::{Config, Feature, is_on_device, isolated, on_every_scheduler};
use cuda_sys::Version;

mod kernels;
use kernels::{kernel, row};
use logged::{context, expect_calls, lazy};

/// Elements of 4 bytes in 2 MiB.
const PAGE: usize = 1 << 19;

/// Returns elements of a range, read on `stream`.
fn read(range: &AddressRange<u32>, from: usize, len: usize, stream: &Stream) -> Vec<u32> {
    let mut answer = PinnedBuffer::<u32>::zeroed(stream.context(), len).unwrap();
    let part = range.slice(from..from + len).unwrap();
    call::memcpy_dtoh_async(&mut answer, &part, stream).unwrap();
    answer.as_slice().unwrap().to_vec()
}

/// Waits until nothing is left that a drop put off.
fn expect_nothing_left(context: &Context) {
    context.synchronize().unwrap();
    assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
}

#[test]
fn a_range_grows_where_it_is() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let step = PhysicalMemory::granularity(&context).unwrap();
        let mut range = AddressRange::<u32>::reserve(&context, 3 * PAGE + 1).unwrap();
        assert!(range.is_empty() && range.capacity() > 3 * PAGE);
        assert!(range.capacity().is_multiple_of(step / 4));
        range.fill(1, &first).unwrap();
        range.grow(10).unwrap();
        let len = range.len();
        assert!(len >= 10 && len.is_multiple_of(step / 4));
        range.fill(5, &first).unwrap();
        // SAFETY: the address is only compared.
        let before = unsafe { range.as_device_ptr() };
        // What the first stream does goes on meanwhile.
        range.grow(len + 1).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { range.as_device_ptr() }, before);
        range.grow(1).unwrap();
        assert_eq!(range.len(), 2 * len, "it never shrinks");
        range.slice_mut(len - 2..len + 2).unwrap().fill(6, &second).unwrap();
        assert_eq!(read(&range, len - 4, 8, &second)[..6], [5, 5, 6, 6, 6, 6]);
        assert_eq!(range.region().kind(), Kind::Virtual);
        let refused = range.grow(usize::MAX / 8).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Reach));
        let refused = range.map(PhysicalMemory::new(&context, 8 * 4 * PAGE).unwrap());
        assert_eq!(refused.unwrap_err().rule(), Some(Rule::Reach));
        drop(range);
        expect_nothing_left(&context);
    });
}

#[test]
fn what_is_empty_asks_for_nothing() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut nothing = AddressRange::<u32>::reserve(&context, 0).unwrap();
        nothing.grow(0).unwrap();
        nothing.map(PhysicalMemory::new(&context, 0).unwrap()).unwrap();
        nothing.fill(7, &stream).unwrap();
        assert!(nothing.unmap_last().unwrap().is_none());
        assert_eq!(nothing.view().unwrap().layout().shape(), [0]);
        let mut unmapped = AddressRange::<()>::reserve(&context, 100).unwrap();
        unmapped.grow(100).unwrap();
        assert_eq!((unmapped.len(), unmapped.capacity()), (0, 0));
        drop((nothing, unmapped));
        for call in ["cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemAddressFree"] {
            expect_calls(call, 0);
        }
    });
}

#[test]
fn kernels_copies_and_views_use_it_in_order() {
    on_every_scheduler!(Config::new(), || {
        let (context, add) = kernel(c"add");
        let [first, second] = [(); 2].map(|()| Stream::new(&context).unwrap());
        let mut ones = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        let mut sums = AddressRange::<u32>::reserve(&context, 2 * PAGE).unwrap();
        ones.grow(1).unwrap();
        // Its elements are in two pieces of memory.
        sums.grow(1).unwrap();
        let seam = sums.len();
        sums.grow(seam + 1).unwrap();
        ones.fill(1, &first).unwrap();
        sums.fill(10, &second).unwrap();
        let mut part = sums.slice_mut(seam - 4..seam + 4).unwrap();
        let arguments = (input(&ones), inout(&mut part), 4_u32, 8_u32);
        // SAFETY: the kernel touches eight elements of each.
        unsafe { add.launch(row(8), &first, arguments) }.unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 10).unwrap();
        let from = i64::try_from(seam).unwrap() - 5;
        let view = sums.view().unwrap().slice(&cuda_safe::layout::s![from..from + 10]).unwrap();
        copy(&view, &mut answer.view_mut().unwrap(), &second).unwrap();
        assert_eq!(answer.as_slice().unwrap(), [10, 11, 11, 11, 11, 11, 11, 11, 11, 10]);
        drop((ones, sums));
        expect_nothing_left(&context);
    });
}

#[test]
fn memory_goes_from_one_range_to_another() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut from = AddressRange::<u32>::reserve(&context, 2 * PAGE).unwrap();
        let mut to = AddressRange::<u32>::reserve(&context, 2 * PAGE).unwrap();
        from.grow(1).unwrap();
        let len = from.len();
        from.grow(len + 1).unwrap();
        from.slice_mut(len..).unwrap().fill(77, &stream).unwrap();
        // Waits for the fill.
        let memory = from.unmap_last().unwrap().unwrap();
        assert_eq!((memory.len(), from.len()), (4 * len, len));
        assert_eq!(memory.device(), context.device());
        to.map(memory).unwrap();
        assert_eq!(read(&to, 0, 4, &stream), [77; 4]);
        assert!(from.unmap_last().unwrap().is_some());
        assert!(from.unmap_last().unwrap().is_none());
        from.grow(1).unwrap();
        from.fill(3, &stream).unwrap();
        assert_eq!(read(&from, len - 1, 1, &stream), [3]);
        drop((from, to));
        expect_nothing_left(&context);
    });
}

#[test]
fn a_drop_waits_for_the_uses_and_for_nothing_else() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut range = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        range.grow(1).unwrap();
        range.fill(1, &stream).unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 8).unwrap();
        call::memcpy_dtoh_async(&mut answer, &range.slice(..8).unwrap(), &stream).unwrap();
        drop(range);
        if !is_on_device() {
            assert_eq!(context.uncollected(), 1);
            expect_calls("cuMemUnmap", 0);
        }
        assert_eq!(answer.as_slice().unwrap(), [1; 8]);
        context.collect();
        expect_nothing_left(&context);
        expect_calls("cuMemUnmap", 1);
        expect_calls("cuMemRelease", 1);
        expect_calls("cuMemAddressFree", 1);
    });
}

#[test]
fn it_may_be_dropped_in_a_callback_and_with_its_context() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let mut range = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        range.grow(1).unwrap();
        range.fill(1, &stream).unwrap();
        let memory = PhysicalMemory::new(&context, 1).unwrap();
        stream.call(move || drop((range, memory))).unwrap();
        stream.synchronize().unwrap();
        expect_nothing_left(&context);

        let mut range = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        range.grow(1).unwrap();
        range.fill(1, &stream).unwrap();
        // The range in use is the last that the context has.
        drop((stream, context, range));
    });
}

#[test]
fn row_103_what_it_takes_is_given_back_round_by_round() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        // The driver's own part is taken once.
        let mut range = AddressRange::<u32>::reserve(&context, 32 * PAGE).unwrap();
        range.grow(32 * PAGE).unwrap();
        drop(range);
        let (before, _) = context.memory_info().unwrap();
        for round in 0..64 {
            let mut range = AddressRange::<u32>::reserve(&context, 32 * PAGE).unwrap();
            range.grow(16 * PAGE).unwrap();
            range.grow(32 * PAGE).unwrap();
            range.fill(round, &stream).unwrap();
            stream.synchronize().unwrap();
        }
        let (after, _) = context.memory_info().unwrap();
        assert_eq!(before, after);
        expect_nothing_left(&context);
    });
}

#[test]
fn memory_that_is_in_use_is_waited_for_before_there_is_none() {
    isolated!(lazy().memory(8 << 20), || {
        let (context, stream) = context();
        for value in 0..4 {
            let mut range = AddressRange::<u32>::reserve(&context, 3 * PAGE).unwrap();
            // Two of them don't fit.
            range.grow(3 * PAGE).unwrap();
            range.fill(value, &stream).unwrap();
        }
        expect_nothing_left(&context);
    });
}

#[test]
fn whoever_refers_to_it_shares_its_record() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut range = AddressRange::<u32>::reserve(&context, 2 * PAGE).unwrap();
        range.grow(1).unwrap();
        let len = range.len();
        range.grow(len + 1).unwrap();
        // SAFETY: the address is only made an operand of calls of this crate.
        let base = unsafe { range.as_device_ptr() };
        let second = CUdeviceptr(base.0 + 4 * len as u64);
        // SAFETY: the range outlives it, and all go through the calls of this crate.
        let alias = unsafe { External::new(&context, second, 64, ()) }.unwrap();
        assert_eq!(alias.allocation().id(), range.allocation().id());
        let other = Stream::new(&context).unwrap();
        range.slice_mut(len..).unwrap().fill(9, &other).unwrap();
        let part = alias.on_device::<u32>(&context).unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&context, 16).unwrap();
        call::memcpy_dtoh_async(&mut answer, &part, &stream).unwrap();
        assert_eq!(answer.as_slice().unwrap(), [9; 16]);
        let mut same = range.slice_mut(len + 8..len + 24).unwrap();
        let refused = call::memcpy_dtod_async(&mut same, &part, &stream).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Disjoint));
    });
}

#[test]
fn devices_use_it_once_they_have_access() {
    isolated!(Config::new().devices(3).no_peer(2, 0), || {
        let (context, stream) = context();
        let there = Device::get(1).unwrap().context().unwrap();
        let (far, stranger) = (Stream::new(&there).unwrap(), Device::get(2).unwrap());
        let mut range = AddressRange::<u32>::reserve(&context, 2 * PAGE).unwrap();
        range.grow(1).unwrap();
        range.fill(4, &stream).unwrap();
        let refused = range.in_context(&there).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "AddressRange::in_context: `context` breaks Access: needs reading, has no access"
        );
        range.set_access(there.device(), DeviceAccess::Read).unwrap();
        assert_eq!(range.access(there.device()), DeviceAccess::Read);
        let refused = range.in_context_mut(&there).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Access));
        // What is mapped later is for the same devices.
        let len = range.len();
        range.grow(len + 1).unwrap();
        range.fill(5, &stream).unwrap();
        let mut answer = PinnedBuffer::<u32>::zeroed(&there, 4).unwrap();
        let part = range.in_context(&there).unwrap().slice(len - 2..len + 2).unwrap();
        call::memcpy_dtoh_async(&mut answer, &part, &far).unwrap();
        assert_eq!(answer.as_slice().unwrap(), [5; 4]);
        range.set_access(there.device(), DeviceAccess::ReadWrite).unwrap();
        range.in_context_mut(&there).unwrap().fill(6, &far).unwrap();
        assert_eq!(read(&range, len, 2, &stream), [6; 2]);

        // Memory of the other device, at addresses of this one.
        let mut mixed = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        mixed.map(PhysicalMemory::new(&there, 1).unwrap()).unwrap();
        mixed.fill(8, &stream).unwrap();
        assert_eq!(read(&mixed, 0, 1, &stream), [8]);
        drop(mixed);

        // The driver would grant it, and the first use would fail.
        let refused = range.set_access(stranger, DeviceAccess::Read).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Able));
        let refused = range.set_access(context.device(), DeviceAccess::Denied).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Access));
        range.set_access(there.device(), DeviceAccess::Denied).unwrap();
        assert_eq!(range.in_context(&there).unwrap_err().rule(), Some(Rule::Access));
        range.set_access(there.device(), DeviceAccess::ReadWrite).unwrap();
        // Another context's stream uses it still when its own context ends.
        range.in_context_mut(&there).unwrap().fill(7, &far).unwrap();
        drop((range, stream, context));
        there.synchronize().unwrap();
        assert_eq!(there.reported_errors(), 0);
    });
}

#[test]
fn access_is_changed_when_nothing_uses_the_memory() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut range = AddressRange::<u32>::reserve(&context, PAGE).unwrap();
        range.set_access(context.device(), DeviceAccess::ReadWrite).unwrap();
        expect_calls("cuMemSetAccess", 0);
        range.grow(1).unwrap();
        range.fill(4, &stream).unwrap();
        expect_calls("cuEventSynchronize", 0);
        range.set_access(context.device(), DeviceAccess::ReadWrite).unwrap();
        expect_calls("cuEventSynchronize", 1);
        assert_eq!(stream.is_done(), Ok(true));
    });
}

#[test]
fn a_device_without_virtual_memory_is_refused() {
    isolated!(Config::new().without(Feature::VirtualMemory), || {
        let (context, _stream) = context();
        let refused = AddressRange::<u32>::reserve(&context, 1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "AddressRange::reserve: `context` breaks Able: needs virtual memory management, has none"
        );
        let refused = PhysicalMemory::new(&context, 1).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Able));
    });
}

#[test]
fn an_old_driver_has_no_such_calls() {
    isolated!(Config::new().version(Version::new(10, 1))).unchecked().run(|| {
        let (context, _stream) = context();
        for refused in [
            AddressRange::<u32>::reserve(&context, 1).map(drop).unwrap_err(),
            PhysicalMemory::new(&context, 1).map(drop).unwrap_err(),
        ] {
            let Cause::Missing(missing) = &refused.cause else { panic!("{refused}") };
            assert!(missing.to_string().contains("cuMemGetAllocationGranularity"), "{missing}");
        }
    });
}
