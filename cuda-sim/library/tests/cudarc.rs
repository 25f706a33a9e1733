//! A program that is not ours: cudarc, which finds the driver by itself. What its own tests of
//! memory, copies, streams and events look at is looked at here through its public interface.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ffi::c_void;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};
use cudarc::driver::{CudaContext, CudaSlice, DevicePtr as _, DriverError, result};
use support::on_library;

#[test]
fn a_device_tells_of_itself() {
    on_library!(|| {
        assert_eq!(CudaContext::device_count(), Ok(1));
        let context = CudaContext::new(0).unwrap();
        assert!(context.is_primary());
        assert!(context.has_async_alloc());
        assert_eq!(context.ordinal(), 0);
        assert!(!context.name().unwrap().is_empty());
        assert_ne!(context.uuid().unwrap().bytes, [0; 16]);
        assert!(context.compute_capability().unwrap() >= (5, 0));
        let warp = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE);
        assert_eq!(warp, Ok(32));
        let (free, total) = context.mem_get_info().unwrap();
        assert!(free <= total);
        assert_eq!(context.total_mem(), Ok(total));
        let absent = CudaContext::new(1).unwrap_err();
        assert_eq!(absent, DriverError(CUresult::CUDA_ERROR_INVALID_DEVICE));
        let text = absent.to_string();
        assert!(text.contains("CUDA_ERROR_INVALID_DEVICE"), "{text}");
    });
}

#[test]
fn bytes_go_there_and_back() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        for stream in [context.default_stream(), context.new_stream().unwrap()] {
            let source: Vec<u32> = (0..1000).map(|number| number * 3).collect();
            let there = stream.clone_htod(&source).unwrap();
            assert_eq!((there.len(), there.num_bytes()), (1000, 4000));
            let mut other = stream.alloc_zeros::<u32>(1000).unwrap();
            assert_eq!(stream.clone_dtoh(&other).unwrap(), vec![0; 1000]);
            stream.memcpy_dtod(&there, &mut other).unwrap();
            let mut back = vec![0; 1000];
            stream.memcpy_dtoh(&other, &mut back).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(back, source);
            stream.memcpy_htod(&[7; 1000], &mut other).unwrap();
            assert_eq!(stream.clone_dtoh(&other).unwrap(), [7; 1000]);
            stream.memset_zeros(&mut other).unwrap();
            assert_eq!(stream.clone_dtoh(&other).unwrap(), [0; 1000]);
            assert_eq!(stream.clone_dtoh(&there.try_clone().unwrap()).unwrap(), source);
        }
    });
}

#[test]
fn parts_are_copied_for_themselves() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let mut whole = stream.alloc_zeros::<f64>(12).unwrap();
        for part in 0..4 {
            let piece = stream.clone_htod(&[f64::from(part); 3]).unwrap();
            let at = usize::try_from(part).unwrap() * 3;
            stream.memcpy_dtod(&piece, &mut whole.slice_mut(at..at + 3)).unwrap();
        }
        let last = stream.clone_dtoh(&whole.slice(9..)).unwrap();
        assert_eq!(last, [3.0; 3]);
        {
            let (mut left, right) = whole.split_at_mut(6);
            stream.memset_zeros(&mut left).unwrap();
            assert_eq!(stream.clone_dtoh(&right.as_view()).unwrap(), [2., 2., 2., 3., 3., 3.]);
        }
        let all = stream.clone_dtoh(&whole).unwrap();
        assert_eq!(all, [0., 0., 0., 0., 0., 0., 2., 2., 2., 3., 3., 3.]);
        assert!(whole.try_slice(10..13).is_none());
    });
}

#[test]
fn pinned_memory_is_a_source() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        for flags in [0, sys::CU_MEMHOSTALLOC_WRITECOMBINED] {
            // SAFETY: it is written before it is read.
            let mut pinned = unsafe { context.alloc_pinned_with_flags::<u16>(500, flags) }.unwrap();
            pinned.as_mut_slice().unwrap().fill(0x1234);
            let there = stream.clone_htod(&pinned).unwrap();
            assert_eq!(stream.clone_dtoh(&there).unwrap(), [0x1234; 500]);
            assert_eq!(pinned.as_slice().unwrap().len(), 500);
        }
    });
}

/// Waits until it is released, or its time is over.
unsafe extern "C" fn wait(held: *mut c_void) {
    // SAFETY: the test that queues it hands it this.
    let held = unsafe { Box::from_raw(held.cast::<Receiver<()>>()) };
    // Either way it returns.
    let _ = held.recv_timeout(Duration::from_secs(30));
}

#[test]
fn an_event_is_complete_when_what_came_before_it_is() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let event = context.new_event(None).unwrap();
        assert_eq!(event.try_is_complete(), Ok(true));
        let (release, held) = channel::<()>();
        let held = Box::into_raw(Box::new(held));
        // SAFETY: the function takes what it is given, and makes no driver call.
        unsafe { result::stream::launch_host_function(stream.cu_stream(), wait, held.cast()) }
            .unwrap();
        event.record(&stream).unwrap();
        assert_eq!(event.try_is_complete(), Ok(false));
        assert!(!event.is_complete());
        release.send(()).unwrap();
        event.synchronize().unwrap();
        assert!(event.is_complete());
    });
}

#[test]
fn streams_wait_for_each_other() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let (one, two) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let timed = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let begin = one.record_event(timed).unwrap();
        let mut data = one.clone_htod(&[1_u8; 100]).unwrap();
        let end = one.record_event(timed).unwrap();
        two.wait(&end).unwrap();
        two.memset_zeros(&mut data).unwrap();
        one.join(&two).unwrap();
        assert_eq!(one.clone_dtoh(&data).unwrap(), [0; 100]);
        assert!(begin.elapsed_ms(&end).unwrap() >= 0.0);
        let forked = one.fork().unwrap();
        assert_eq!(forked.clone_dtoh(&data).unwrap(), [0; 100]);
        let urgent = context.new_stream_with_priority(-1).unwrap();
        urgent.join(&forked).unwrap();
        urgent.memset_zeros(&mut data).unwrap();
        urgent.synchronize().unwrap();
        context.synchronize().unwrap();
    });
}

#[test]
fn memory_outlives_what_it_came_from() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let data = stream.clone_htod(&[1_i32, 2, 3, 4]).unwrap();
        let pointer = data.leak();
        // SAFETY: the pointer is of memory of that length that nothing else owns any more.
        let data: CudaSlice<i32> = unsafe { stream.upgrade_device_ptr(pointer, 4) };
        assert_eq!(stream.clone_dtoh(&data).unwrap(), [1, 2, 3, 4]);
        drop(stream);
        drop(context);
        let again = CudaContext::new(0).unwrap();
        again.bind_to_thread().unwrap();
        drop(data);
    });
}

#[test]
fn threads_share_a_context() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let threads = [1_u8, 2, 3].map(|value| {
            let context = context.clone();
            thread::spawn(move || {
                context.bind_to_thread()?;
                let stream = context.new_stream()?;
                let data = stream.clone_htod(&[value; 300])?;
                stream.clone_dtoh(&data)
            })
        });
        for (thread, value) in threads.into_iter().zip(1_u8..) {
            assert_eq!(thread.join().unwrap(), Ok(vec![value; 300]));
        }
    });
}

#[test]
fn a_context_of_ones_own_holds_memory() {
    on_library!(|| {
        let context = CudaContext::new_non_primary(0, 0).unwrap();
        assert!(!context.is_primary());
        let stream = context.default_stream();
        let data = stream.clone_htod(&[9_u64; 10]).unwrap();
        assert_eq!(stream.clone_dtoh(&data).unwrap(), [9; 10]);
    });
}

#[test]
fn a_stream_of_others_is_left_to_them() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking).unwrap();
        {
            // SAFETY: the stream lives until it is destroyed below.
            let stream = unsafe { context.wrap_borrowed_stream(raw) };
            let data = stream.clone_htod(&[5_u8; 5]).unwrap();
            assert_ne!(data.device_ptr(&stream).0, 0);
            stream.synchronize().unwrap();
        }
        // SAFETY: the stream was created above.
        unsafe { result::stream::synchronize(raw) }.unwrap();
        // SAFETY: nothing uses it any more.
        unsafe { result::stream::destroy(raw) }.unwrap();
    });
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    on_library!(|| {
        let context = CudaContext::new(0).unwrap();
        let stream = context.default_stream();
        let error = stream.alloc_zeros::<u8>(1 << 50).unwrap_err();
        assert_eq!(error, DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        assert_eq!(
            stream.clone_htod(&[1_u8]).and_then(|data| stream.clone_dtoh(&data)),
            Ok(vec![1])
        );
    });
}
