//! Parts of buffers, page-locked memory and its device's address, registered and managed memory.
#![cfg(feature = "driver")]

#[path = "common/logged.rs"]
mod logged;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_safe::shim::{Kind, Memory};
use cuda_safe::{
    Advice, Device, DeviceBuffer, Location, ManagedBuffer, PinnedBuffer, RegisteredHost, Rule,
    Stream, WriteCombinedBuffer, call, registered, registered_read_only,
};
use cuda_sim::{Config, Feature, for_each_failure, isolated, on_every_scheduler};
use cuda_sys::{CUresult, Version};
use logged::{context, expect_calls, lazy};

#[test]
fn halves_are_used_apart() {
    isolated!(lazy(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let mut buffer = DeviceBuffer::<u16>::allocate(&context, 100).unwrap();
        let mut pinned = PinnedBuffer::filled(&context, 100, 1_u16).unwrap();
        let (mut left, mut right) = buffer.split_at_mut(40).unwrap();
        left.fill(5, &first).unwrap();
        right.fill(6, &second).unwrap();
        expect_calls("cuStreamWaitEvent", 0);
        let (mut low, mut high) = pinned.split_at_mut(40).unwrap();
        call::memcpy_dtoh_async(&mut low, &left, &first).unwrap();
        // The CPU has the other half meanwhile.
        high.as_mut_slice().unwrap().fill(9);
        expect_calls("cuEventSynchronize", 0);
        assert_eq!(low.as_slice().unwrap(), [5; 40]);
        expect_calls("cuEventSynchronize", 1);
        assert_eq!(pinned.slice(40..).unwrap().as_slice().unwrap(), [9; 60]);
    });
}

#[test]
fn parts_lie_in_their_buffer() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::filled(&stream, 10, 1_u32).unwrap();
        buffer.slice_mut(2..=4).unwrap().fill(2, &stream).unwrap();
        buffer.slice_mut(9..).unwrap().fill(3, &stream).unwrap();
        assert!(buffer.slice(10..).unwrap().is_empty());
        for (range, text) in [(11..11, "needs 11, has 10"), (4..12, "needs 12, has 10")] {
            let refused = buffer.slice(range).unwrap_err().to_string();
            assert!(
                refused.contains("`range` breaks Reach") && refused.contains(text),
                "{refused}"
            );
        }
        #[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
        let refused = buffer.slice(3..2).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Reach));
        assert_eq!(buffer.split_at_mut(11).unwrap_err().rule(), Some(Rule::Reach));
        let mut back = PinnedBuffer::<u32>::uninitialized(&context, 10).unwrap();
        call::memcpy_dtoh_async(&mut back, &buffer, &stream).unwrap();
        assert_eq!(back.as_slice().unwrap(), [1, 1, 2, 2, 2, 1, 1, 1, 1, 3]);

        let bytes = back.slice(1..3).unwrap().cast::<u8>().unwrap();
        assert_eq!(bytes.len(), 8);
        assert_eq!(bytes.slice(1..5).unwrap().cast::<u32>().unwrap_err().rule(), Some(Rule::Align));
        assert_eq!(
            bytes.slice(..3).unwrap().cast::<u16>().unwrap_err().rule(),
            Some(Rule::Quotient)
        );

        let mut rows = DeviceBuffer::<u8>::allocate_pitched(&context, 5, 3).unwrap();
        assert_eq!(rows.as_part().unwrap_err().rule(), Some(Rule::Rows));
        assert_eq!(rows.row(3).unwrap_err().rule(), Some(Rule::Reach));
        rows.fill(7, &stream).unwrap();
        rows.row_mut(1).unwrap().fill(8, &stream).unwrap();
        let mut line = PinnedBuffer::<u8>::zeroed(&context, 5).unwrap();
        for (row, expected) in [7, 8, 7].into_iter().enumerate() {
            call::memcpy_dtoh_async(&mut line, &rows.row(row).unwrap(), &stream).unwrap();
            assert_eq!(line.as_slice().unwrap(), [expected; 5]);
        }
    });
}

#[test]
fn pinned_memory_is_reached_by_a_devices_address() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut pinned = PinnedBuffer::filled(&context, 64, 1_u8).unwrap();
        let mut part = pinned.slice_mut(16..48).unwrap().on_device(&context).unwrap();
        assert_eq!(part.region().kind(), Kind::Mapped);
        part.fill(4, &stream).unwrap();
        // One record for both addresses: the CPU waits for what came by the other.
        assert_eq!(pinned.as_slice().unwrap()[15..49], [[1].as_slice(), &[4; 32], &[1]].concat());
        let mut buffer = DeviceBuffer::<u8>::uninitialized(&stream, 64).unwrap();
        let mapped = pinned.as_part().on_device(&context).unwrap();
        call::memcpy_dtod_async(&mut buffer, &mapped, &stream).unwrap();
        pinned.as_mut_slice().unwrap().fill(0);
        call::memcpy_dtoh_async(&mut pinned, &buffer, &stream).unwrap();
        assert_eq!(pinned.as_slice().unwrap()[16..48], [4; 32]);
        let empty = PinnedBuffer::<u8>::zeroed(&context, 0).unwrap();
        assert!(empty.as_part().on_device(&context).unwrap().is_empty());
    });
}

#[test]
fn pinned_memory_is_cast_and_handed_over() {
    isolated!(Config::new(), || {
        let (context, _stream) = context();
        let bytes = PinnedBuffer::filled(&context, 12, 1_u8).unwrap();
        let words = bytes.cast::<u32>().unwrap();
        assert_eq!(words.as_slice().unwrap(), [0x0101_0101; 3]);
        let data = words.into_raw().unwrap();
        // SAFETY: it was such a buffer's of so many elements.
        let words = unsafe { PinnedBuffer::from_raw(&context, data, 3) }.unwrap();
        assert_eq!(words.cast::<u64>().unwrap_err().rule(), Some(Rule::Quotient));
    });
}

#[test]
fn write_combined_memory_is_only_written() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut source = WriteCombinedBuffer::from_slice(&context, &[1_u16; 8]).unwrap();
        let mut buffer = DeviceBuffer::<u16>::uninitialized(&stream, 8).unwrap();
        call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
        // Waits for the copy.
        source.write(6, &[2, 3]).unwrap();
        let refused = source.write(7, &[2, 3]).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Reach));
        let mut back = PinnedBuffer::<u16>::zeroed(&context, 8).unwrap();
        call::memcpy_dtoh_async(&mut back, &buffer, &stream).unwrap();
        assert_eq!(back.as_slice().unwrap(), [1; 8]);
        call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
        call::memcpy_dtoh_async(&mut back, &buffer, &stream).unwrap();
        assert_eq!(back.as_slice().unwrap(), [1, 1, 1, 1, 1, 1, 2, 3]);
    });
}

#[test]
fn registered_memory_is_copied_asynchronously() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::filled(&stream, 1000, 3_u32).unwrap();
        let mut owned = RegisteredHost::new(&context, vec![1_u32; 1000]).unwrap();
        call::memcpy_dtoh_async(&mut owned, &buffer, &stream).unwrap();
        assert_eq!(owned.slice(1..3).unwrap().as_slice().unwrap(), [3, 3]);
        owned.as_mut_slice().unwrap().fill(4);
        call::memcpy_htod_async(&mut buffer, &owned, &stream).unwrap();
        assert_eq!(*owned.into_inner().unwrap(), [4; 1000]);
        // One that is in use when it is dropped.
        let owned = RegisteredHost::new(&context, vec![5_u32; 1000]).unwrap();
        call::memcpy_htod_async(&mut buffer, &owned, &stream).unwrap();
        drop(owned);
        stream.synchronize().unwrap();
        assert_eq!(context.uncollected(), 0);

        let mut borrowed = [0_u32; 1000];
        let copied = registered(&context, &mut borrowed, |borrowed| {
            call::memcpy_dtoh_async(borrowed, &buffer, &stream)
        });
        copied.unwrap().unwrap();
        assert_eq!(borrowed, [5; 1000]);
        let copied = registered_read_only(&context, &[6_u32; 1000], |borrowed| {
            let part = borrowed.slice(..10)?;
            call::memcpy_htod_async(&mut buffer.slice_mut(..10)?, &part, &stream)
        });
        copied.unwrap().unwrap();
        registered(&context, &mut borrowed[..0], |nothing| assert!(nothing.is_empty())).unwrap();
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn a_panic_ends_a_registration() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let buffer = DeviceBuffer::filled(&stream, 1000, 3_u32).unwrap();
        let mut borrowed = [0_u32; 1000];
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            registered(&context, &mut borrowed, |borrowed| {
                call::memcpy_dtoh_async(borrowed, &buffer, &stream).unwrap();
                std::panic::resume_unwind(Box::new("enough"));
            })
        }));
        assert!(unwound.is_err());
        assert_eq!(borrowed, [3; 1000]);
        expect_calls("cuMemHostUnregister", 1);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn managed_memory_is_used_by_both() {
    on_every_scheduler!(Config::new(), || {
        let device = Device::get(0).unwrap();
        let (context, stream) = context();
        let mut managed = ManagedBuffer::filled(&stream, 100, 1_u64 << 40).unwrap();
        assert_eq!(managed.as_slice().unwrap(), [1 << 40; 100]);
        managed.advise(Advice::Preferred(Some(Location::Device(device)))).unwrap();
        managed.advise(Advice::Preferred(None)).unwrap();
        managed.advise(Advice::ReadMostly(true)).unwrap();
        managed.advise(Advice::AccessedBy(Location::Host, true)).unwrap();
        managed.prefetch(Location::Device(device), &stream).unwrap();
        managed.slice_mut(50..).unwrap().fill(2, &stream).unwrap();
        managed.slice(..50).unwrap().prefetch(Location::Host, &stream).unwrap();
        managed.as_mut_slice().unwrap()[0] = 3;
        assert_eq!(managed.as_slice().unwrap()[49..51], [1 << 40, 2]);
        let mut buffer = DeviceBuffer::<u64>::uninitialized(&stream, 100).unwrap();
        call::memcpy_dtod_async(&mut buffer, &managed, &stream).unwrap();
        drop(managed);
        let zeros = ManagedBuffer::<u8>::zeroed(&stream, 3).unwrap();
        assert_eq!(zeros.as_slice().unwrap(), [0; 3]);
        stream.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn an_old_driver_moves_managed_memory_by_device_number() {
    isolated!(Config::new().version(Version::new(11, 8)), || {
        let (context, stream) = context();
        let managed = ManagedBuffer::from_slice(&context, &[1_u8; 64]).unwrap();
        managed.advise(Advice::ReadMostly(true)).unwrap();
        managed.prefetch(Location::Device(context.device()), &stream).unwrap();
        managed.prefetch(Location::Host, &stream).unwrap();
        assert_eq!(managed.as_slice().unwrap(), [1; 64]);
    });
}

#[test]
fn managed_memory_needs_concurrent_access() {
    isolated!(Config::new().without(Feature::ConcurrentManagedAccess), || {
        let (context, _stream) = context();
        let refused = ManagedBuffer::<u8>::uninitialized(&context, 64).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "ManagedBuffer::uninitialized: `context` breaks Able: needs concurrent managed access, \
             has none"
        );
    });
}

#[test]
fn every_call_of_page_locked_memory_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        let mut pinned = PinnedBuffer::filled(&context, 64, 1_u8)?;
        pinned.slice_mut(..32)?.on_device(&context)?.fill(2, &stream)?;
        assert_eq!(pinned.as_slice()?[31..33], [2, 1]);
        let mut combined = WriteCombinedBuffer::<u8>::zeroed(&context, 64)?;
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        call::memcpy_htod_async(&mut buffer, &combined, &stream)?;
        combined.write(0, &[1])?;
        let data = pinned.into_raw()?;
        // SAFETY: it was such a buffer's of so many elements.
        drop(unsafe { PinnedBuffer::from_raw(&context, data, 64) }?);
        stream.synchronize()
    });
}

#[test]
fn every_call_of_registered_memory_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        let buffer = DeviceBuffer::filled(&stream, 64, 7_u8)?;
        let mut owned = RegisteredHost::new(&context, vec![0_u8; 64])?;
        call::memcpy_dtoh_async(&mut owned, &buffer, &stream)?;
        let dropped = RegisteredHost::new(&context, vec![0_u8; 64])?;
        drop(dropped);
        assert_eq!(*owned.into_inner()?, [7; 64]);
        let mut borrowed = [0_u8; 64];
        registered(&context, &mut borrowed, |borrowed| {
            call::memcpy_dtoh_async(borrowed, &buffer, &stream)
        })??;
        assert_eq!(borrowed, [7; 64]);
        stream.synchronize()
    });
}

#[test]
fn every_call_of_managed_memory_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        let mut managed = ManagedBuffer::filled(&stream, 64, 7_u8)?;
        managed.advise(Advice::ReadMostly(true))?;
        managed.prefetch(Location::Host, &stream)?;
        managed.as_mut_slice()?.fill(1);
        managed.fill(2, &stream)?;
        drop(managed);
        stream.synchronize()
    });
}
