//! Memory that is allocated and freed in the order of streams, and filled there.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "common/logged.rs"]
mod logged;

use cuda_safe::shim::attribute::ReuseAllowOpportunistic;
use cuda_safe::{
    Device, DeviceBuffer, Element, MemoryPool, PerThreadStream, PinnedBuffer, PoolProperties, Rule,
    Stream, call,
};
use cuda_sim::{Config, Feature, for_each_failure, isolated, on_every_scheduler};
use cuda_sys::{CUresult, Version};
use logged::{context, expect_calls, lazy};

fn read<T: Element>(buffer: &DeviceBuffer<T>, stream: &Stream) -> Vec<T> {
    let mut pinned = PinnedBuffer::<T>::zeroed(stream.context(), buffer.len()).unwrap();
    call::memcpy_dtoh_async(&mut pinned, buffer, stream).unwrap();
    pinned.as_slice().unwrap().to_vec()
}

#[test]
fn the_allocation_is_the_first_write_and_the_free_the_last() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        for round in 0..20_u8 {
            let buffer = DeviceBuffer::filled(&first, 1000, round).unwrap();
            assert!(buffer.is_stream_ordered());
            assert_eq!(read(&buffer, &second), [round; 1000]);
            let untouched = DeviceBuffer::<u8>::uninitialized(&first, 1000).unwrap();
            let mut copied = DeviceBuffer::<u8>::uninitialized(&second, 1000).unwrap();
            call::memcpy_dtod_async(&mut copied, &buffer, &second).unwrap();
            drop((buffer, untouched));
            assert_eq!(read(&copied, &first), [round; 1000]);
        }
        assert_eq!(context.uncollected(), 0);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn a_drop_waits_on_the_stream_and_not_on_the_host() {
    isolated!(lazy(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let mut buffer = DeviceBuffer::<u32>::zeroed(&first, 64).unwrap();
        expect_calls("cuStreamWaitEvent", 0);
        buffer.fill(7, &second).unwrap();
        expect_calls("cuStreamWaitEvent", 1);
        drop(buffer);
        expect_calls("cuStreamWaitEvent", 2);
        expect_calls("cuEventSynchronize", 0);
        expect_calls("cuMemFreeAsync", 0);
        context.collect();
        expect_calls("cuMemFreeAsync", 1);
        expect_calls("cuStreamWaitEvent", 2);
        expect_calls("cuEventSynchronize", 0);
        assert_eq!(context.uncollected(), 0);
    });
}

#[test]
fn a_buffer_outlives_its_stream() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        let other = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        drop(stream);
        let second = Stream::new(&context).unwrap();
        buffer.fill(3, &second).unwrap();
        assert_eq!(read(&buffer, &second), [3; 64]);
        drop((buffer, other));
        // One stream of the context's frees both.
        expect_calls("cuMemFreeAsync", 2);
        expect_calls("cuStreamCreate", 3);
        assert_eq!(context.uncollected(), 0);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn a_threads_own_stream_allocates_and_the_contexts_frees() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let own = PerThreadStream::new(&context);
        let buffer = DeviceBuffer::filled(&own, 64, 5_u32).unwrap();
        let other = DeviceBuffer::<u32>::uninitialized(&own, 64).unwrap();
        // Another thread reads it behind the fill, and drops it.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(read(&buffer, &stream), [5; 64]);
                drop((buffer, other));
            });
        });
        context.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn a_buffer_may_be_dropped_in_a_callback() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        let pool = MemoryPool::new(&context, &PoolProperties::new()).unwrap();
        call::launch_host_func(&stream, move || drop((buffer, pool))).unwrap();
        stream.synchronize().unwrap();
        context.synchronize().unwrap();
        assert_eq!(context.uncollected(), 0);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn where_there_are_no_pools_the_memory_is_plain() {
    isolated!(Config::new().without(Feature::MemoryPools), || {
        let (context, stream) = context();
        let buffer = DeviceBuffer::filled(&stream, 100, 9_u16).unwrap();
        assert!(!buffer.is_stream_ordered());
        assert_eq!(read(&buffer, &stream), [9; 100]);
        assert!(MemoryPool::default_of(&context).unwrap_err().is_unsupported());
    });
}

#[test]
fn memory_that_is_being_freed_is_waited_for_before_there_is_none() {
    isolated!(lazy().memory(8 << 20), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        for round in 0..8 {
            // Two of them don't fit.
            let stream = if round % 2 == 0 { &first } else { &second };
            let mut buffer = DeviceBuffer::<u8>::zeroed(stream, 5 << 20).unwrap();
            buffer.fill(1, stream).unwrap();
        }
        let _plain = DeviceBuffer::<u8>::allocate(&context, 5 << 20).unwrap();
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn pools_are_set_asked_and_trimmed() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let pool = MemoryPool::new(&context, &PoolProperties::new()).unwrap();
        pool.set_release_threshold(u64::MAX).unwrap();
        assert_eq!(pool.release_threshold(), Ok(u64::MAX));
        pool.set_reuse(true, false, true).unwrap();
        assert_eq!(pool.attribute::<ReuseAllowOpportunistic>(), Ok(0));
        let buffer = pool.allocate::<u8>(&stream, 1 << 20).unwrap();
        assert!(pool.used().unwrap() >= 1 << 20);
        drop(buffer);
        stream.synchronize().unwrap();
        assert_eq!(pool.used(), Ok(0));
        assert!(pool.reserved().unwrap() >= 1 << 20);
        pool.trim_to(0).unwrap();
        assert_eq!(pool.reserved(), Ok(0));
        assert!(pool.used_high().unwrap() >= 1 << 20 && pool.reserved_high().unwrap() >= 1 << 20);
        pool.reset_high().unwrap();
        assert_eq!((pool.used_high(), pool.reserved_high()), (Ok(0), Ok(0)));
        // The pool may go before its memory.
        let buffer = pool.allocate::<u64>(&stream, 10).unwrap();
        drop(pool);
        drop(buffer);
        assert!(MemoryPool::default_of(&context).unwrap().release_threshold().is_ok());
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn a_pool_has_its_limit() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let limit = PoolProperties::new().max_size(64 << 20);
        let pool = MemoryPool::new(&context, &limit).unwrap();
        let refused = pool.allocate::<u8>(&stream, 256 << 20).unwrap_err();
        assert_eq!(refused.code(), Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    });
}

#[test]
fn an_old_driver_knows_no_limit() {
    isolated!(Config::new().version(Version::new(12, 1)), || {
        let (context, _stream) = context();
        let refused = MemoryPool::new(&context, &PoolProperties::new().max_size(1)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "MemoryPool::new: `max_size` breaks Driver: needs 12020, has 12010"
        );
    });
}

fn fills<T: Element + PartialEq + std::fmt::Debug>(stream: &Stream, value: T) {
    for len in [0, 1, 7, 100] {
        let buffer = DeviceBuffer::filled(stream, len, value).unwrap();
        assert_eq!(read(&buffer, stream), vec![value; len]);
    }
    let mut rows = DeviceBuffer::<T>::allocate_pitched(stream.context(), 5, 3).unwrap();
    if rows.pitch().is_multiple_of(size_of::<T>()) {
        rows.fill(value, stream).unwrap();
        let mut bytes = vec![0_u8; rows.pitch() * 3];
        call::memcpy_dtoh(&mut bytes, &rows).unwrap();
        let expected = [value; 5];
        let expected: &[u8] = bytemuck::cast_slice(&expected);
        for row in bytes.chunks(rows.pitch()) {
            assert!(row.starts_with(expected));
        }
    } else {
        let refused = rows.fill(value, stream).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Quotient));
    }
}

#[test]
fn elements_of_all_sizes_are_filled() {
    on_every_scheduler!(Config::new(), || {
        let (_context, stream) = context();
        fills(&stream, 0xa5_u8);
        fills(&stream, 0x1234_i16);
        fills(&stream, 1.5_f32);
        fills(&stream, 0x0123_4567_89ab_cdef_u64);
        fills(&stream, u128::MAX / 7);
        fills(&stream, [1_u8, 2, 3]);
        fills(&stream, [1_u16, 2, 3]);
        fills(&stream, [1_u32, 2, 3]);
        fills(&stream, 0_f64);
    });
}

#[test]
fn a_fill_of_equal_words_is_one_call() {
    isolated!(lazy(), || {
        let (_context, stream) = context();
        let _zeros = DeviceBuffer::filled(&stream, 10, 0_u64).unwrap();
        expect_calls("cuMemsetD8Async", 1);
        let _ones = DeviceBuffer::filled(&stream, 10, [1_u32; 4]).unwrap();
        expect_calls("cuMemsetD32Async", 1);
        let _pairs = DeviceBuffer::filled(&stream, 10, [1_u32, 2]).unwrap();
        expect_calls("cuMemsetD2D32Async", 2);
    });
}

#[test]
fn memory_is_cast_and_handed_over() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let words = DeviceBuffer::filled(&stream, 6, 0x0102_0304_u32).unwrap();
        let bytes = words.cast::<u8>().unwrap();
        assert_eq!(bytes.len(), 24);
        let address = bytes.into_raw().unwrap();
        // SAFETY: it was a buffer's of so many bytes, and the stream's work is done.
        let longs = unsafe { DeviceBuffer::<u64>::from_raw_ordered(&stream, address, 3) }.unwrap();
        assert_eq!(read(&longs, &stream), [0x0102_0304_0102_0304; 3]);
        let refused = longs.cast::<[u8; 5]>().unwrap_err();
        assert_eq!(
            refused.to_string(),
            "DeviceBuffer::cast: `len` breaks Quotient: needs 20, has 24"
        );
        let plain = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let address = plain.into_raw().unwrap();
        // SAFETY: it was a plain buffer's of so many bytes.
        drop(unsafe { DeviceBuffer::<u8>::from_raw(&context, address, 64) }.unwrap());
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn every_call_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
        let pool = MemoryPool::new(&context, &PoolProperties::new().max_size(64 << 20))?;
        pool.set_release_threshold(1 << 20)?;
        let mut buffer = pool.allocate::<u64>(&first, 64)?;
        let mut other = DeviceBuffer::<u64>::zeroed(&second, 64)?;
        buffer.fill(5, &first)?;
        call::memcpy_dtod_async(&mut other, &buffer, &second)?;
        drop(buffer);
        let mut target = PinnedBuffer::<u64>::zeroed(&context, 64)?;
        call::memcpy_dtoh_async(&mut target, &other, &first)?;
        drop(second);
        drop(other);
        assert_eq!(target.as_slice()?, [5; 64]);
        pool.trim_to(0)?;
        first.synchronize()
    });
}

/// Returns the next number of a sequence.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap()
}

#[test]
fn buffers_come_and_go_on_many_streams() {
    on_every_scheduler!(Config::new(), || {
        for seed in 0..50 {
            let mut state = seed;
            let (context, first) = context();
            let mut streams = [first, Stream::new(&context).unwrap()];
            let mut buffers: Vec<(DeviceBuffer<u16>, u16)> = Vec::new();
            for step in 0..40_u16 {
                let at = next(&mut state) % streams.len();
                match next(&mut state) % 6 {
                    0 | 1 => {
                        let buffer = DeviceBuffer::filled(&streams[at], 300, step).unwrap();
                        buffers.push((buffer, step));
                    }
                    2 if !buffers.is_empty() => {
                        let index = next(&mut state) % buffers.len();
                        drop(buffers.swap_remove(index));
                    }
                    3 if buffers.len() > 1 => {
                        let (target, rest) = buffers.split_first_mut().unwrap();
                        let source = &rest[next(&mut state) % rest.len()];
                        let stream = &streams[at];
                        call::memcpy_dtod_async(&mut target.0, &source.0, stream).unwrap();
                        target.1 = source.1;
                    }
                    4 => streams[at] = Stream::new(&context).unwrap(),
                    _ => {
                        if let Some((buffer, value)) = buffers.last_mut() {
                            buffer.fill(step, &streams[at]).unwrap();
                            *value = step;
                        }
                    }
                }
            }
            for (buffer, value) in &buffers {
                assert_eq!(read(buffer, &streams[0]), [*value; 300], "seed {seed}");
            }
            assert_eq!(context.reported_errors(), 0);
        }
    });
}
