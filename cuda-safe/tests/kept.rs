//! Memory that a stream keeps for its next allocation.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "common/logged.rs"]
mod logged;

use cuda_safe::{Context, Device, DeviceBuffer, MemoryPool, PinnedBuffer, Stream, call};
use cuda_sim::{Config, for_each_failure, isolated, on_every_scheduler};
use cuda_sys::CUresult;
use logged::{context, expect_calls, lazy};

const MEBIBYTE: usize = 1 << 20;

fn address(buffer: &DeviceBuffer<impl cuda_safe::Element>) -> u64 {
    #[expect(unsafe_code, reason = "compares addresses")]
    // SAFETY: the address is only compared.
    unsafe { buffer.as_device_ptr() }.0
}

/// Allocates so many bytes and frees them; answers where they were.
fn passing(stream: &Stream, bytes: usize) -> u64 {
    address(&DeviceBuffer::<u8>::uninitialized(stream, bytes).unwrap())
}

fn expect_nothing_left(context: &Context) {
    assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
}

#[test]
fn the_next_of_the_same_size_gets_it_without_a_call() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let first = passing(&stream, 400);
        expect_calls("cuMemAllocAsync", 1);
        // What it is taken for does not matter, how many bytes it has does.
        for _ in 0..10 {
            let buffer = DeviceBuffer::<f32>::zeroed(&stream, 100).unwrap();
            assert_eq!((address(&buffer), buffer.len()), (first, 100));
        }
        expect_calls("cuMemAllocAsync", 1);
        expect_calls("cuMemFreeAsync", 0);
        stream.synchronize().unwrap();
        expect_calls("cuMemFreeAsync", 1);
        expect_nothing_left(&context);
    });
}

#[test]
fn another_size_stream_or_pool_gets_its_own() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let other = Stream::new(&context).unwrap();
        let pool = MemoryPool::default_of(&context).unwrap();
        let kept = DeviceBuffer::<u8>::uninitialized(&stream, 400).unwrap();
        passing(&stream, 400);
        expect_calls("cuMemAllocAsync", 2);
        passing(&stream, 399);
        passing(&other, 400);
        expect_calls("cuMemAllocAsync", 4);
        // Memory of a pool that was named goes back to it.
        drop(pool.allocate::<u8>(&stream, 400).unwrap());
        expect_calls("cuMemAllocFromPoolAsync", 1);
        expect_calls("cuMemFreeAsync", 1);
        drop(kept);
        context.synchronize().unwrap();
        expect_calls("cuMemFreeAsync", 5);
        expect_nothing_left(&context);
    });
}

#[test]
fn the_next_owner_comes_behind_every_use() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let (second, third) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let mut read = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let mut before = None;
        for round in 0..20_u8 {
            let buffer = DeviceBuffer::filled(&first, 64, round).unwrap();
            assert_eq!(*before.get_or_insert(address(&buffer)), address(&buffer));
            let mut copy = DeviceBuffer::<u8>::uninitialized(&second, 64).unwrap();
            call::memcpy_dtod_async(&mut copy, &buffer, &second).unwrap();
            // It is read by the second stream still when the first fills it anew.
            drop(buffer);
            call::memcpy_dtoh_async(&mut read, &copy, &third).unwrap();
            drop(copy);
            assert_eq!(read.as_slice().unwrap(), [round; 64]);
        }
        drop((first, second, third));
        expect_nothing_left(&context);
    });
}

#[test]
fn the_oldest_goes_when_there_is_too_much() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let allocate = |bytes| DeviceBuffer::<u8>::uninitialized(&stream, bytes).unwrap();
        let held: Vec<_> = (1..=17).map(|kilobytes| allocate(kilobytes << 10)).collect();
        drop(held);
        expect_calls("cuMemFreeAsync", 1);
        drop(allocate(2 << 10));
        expect_calls("cuMemAllocAsync", 17);
        drop(allocate(1 << 10));
        expect_calls("cuMemAllocAsync", 18);
        expect_calls("cuMemFreeAsync", 2);
        // 64 MiB are kept, and nothing else then; more never is.
        drop(allocate(64 * MEBIBYTE));
        expect_calls("cuMemFreeAsync", 18);
        drop(allocate(64 * MEBIBYTE + 1));
        expect_calls("cuMemFreeAsync", 19);
        drop(allocate(64 * MEBIBYTE));
        expect_calls("cuMemAllocAsync", 20);
        expect_nothing_left(&context);
    });
}

#[test]
fn it_is_freed_by_waits_by_drops_and_by_need() {
    isolated!(lazy().memory(128 << 20), || {
        let (context, stream) = context();
        let legacy = Stream::legacy(&context);
        let mut freed = 0;
        let mut expect_freed = |more| {
            freed += more;
            expect_calls("cuMemFreeAsync", freed);
        };
        passing(&stream, 64);
        passing(&legacy, 64);
        expect_freed(0);
        context.collect();
        expect_freed(2);
        passing(&stream, 64);
        passing(&legacy, 64);
        context.synchronize().unwrap();
        expect_freed(2);
        passing(&legacy, 64);
        drop(legacy);
        expect_freed(1);
        let buffer = DeviceBuffer::<u8>::uninitialized(&stream, 64).unwrap();
        passing(&stream, 64);
        let other = Stream::new(&context).unwrap();
        passing(&other, 60 * MEBIBYTE);
        // There is no room beside what is kept.
        passing(&stream, 60 * MEBIBYTE);
        expect_freed(2);
        let _plain = DeviceBuffer::<u8>::allocate(&context, 60 * MEBIBYTE).unwrap();
        expect_freed(1);
        passing(&stream, 64);
        drop(stream);
        expect_freed(1);
        // The stream is gone, and keeps nothing any more.
        drop(buffer);
        expect_freed(1);
        expect_nothing_left(&context);
    });
}

#[test]
fn the_end_of_the_context_frees_it() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let buffer = DeviceBuffer::<u8>::filled(&Stream::legacy(&context), 64, 1).unwrap();
        drop((stream, context));
        // The context is the buffer's now; no value stands for the stream.
        drop(buffer);
        expect_calls("cuMemFreeAsync", 0);
        expect_calls("cuMemFree_v2", 1);
    });
}

#[test]
fn threads_share_what_a_stream_keeps() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        std::thread::scope(|scope| {
            for value in 0..4_u8 {
                let (context, stream) = (&context, &stream);
                scope.spawn(move || {
                    let mut read = PinnedBuffer::<u8>::zeroed(context, 64).unwrap();
                    for _ in 0..20 {
                        let buffer = DeviceBuffer::filled(stream, 64, value).unwrap();
                        call::memcpy_dtoh_async(&mut read, &buffer, stream).unwrap();
                        drop(buffer);
                        assert_eq!(read.as_slice().unwrap(), [value; 64]);
                    }
                });
            }
        });
        drop(stream);
        expect_nothing_left(&context);
    });
}

#[test]
fn each_call_that_fails_leaves_nothing() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
        for round in 0..3_u8 {
            let buffer = DeviceBuffer::filled(&first, 64, round)?;
            let mut copy = DeviceBuffer::<u8>::uninitialized(&second, 64)?;
            call::memcpy_dtod_async(&mut copy, &buffer, &second)?;
        }
        first.synchronize()?;
        drop(DeviceBuffer::filled(&first, 64, 1_u8)?);
        context.synchronize()
    });
}
