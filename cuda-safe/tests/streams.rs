//! Streams of every kind: how they are made, whose they are, and what memory that they use waits for.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::sync::mpsc::channel;
use std::time::Duration;

use cuda_safe::{
    Cause, Context, Device, DeviceBuffer, Event, PerThreadStream, PinnedBuffer, Rule, Stream,
    StreamOptions, call,
};
use cuda_sim::{Config, Scheduler, for_each_failure, is_on_device, isolated};
use cuda_sys::{CUresult, CUstream_flags, CUstreamCaptureMode};

const NON_BLOCKING: u32 = CUstream_flags::CU_STREAM_NON_BLOCKING.0;

fn lazy() -> Config {
    let config = Config::new().scheduler(Scheduler::Lazy);
    // Only the simulator keeps a log, and asking for one keeps a test off a device.
    if is_on_device() { config } else { config.log(true) }
}

fn context() -> Context {
    Device::get(0).unwrap().context().unwrap()
}

/// Fails unless a function was called so often, as far as the log tells.
fn expect_calls(function: &str, expected: usize) {
    if !is_on_device() {
        let calls = cuda_sim::calls();
        let calls = calls.iter().filter(|call| call.function == function);
        assert_eq!(calls.count(), expected, "{function}");
    }
}

#[test]
fn a_stream_is_as_its_options_say() {
    isolated!(Config::new(), || {
        let context = context();
        let priorities = Stream::priorities(&context).unwrap();
        assert!(priorities.contains(&0), "{priorities:?}");
        let plain = Stream::new(&context).unwrap();
        assert_eq!((plain.priority(), plain.waits_for_default()), (Ok(0), Ok(false)));
        let (first, last) = (*priorities.start(), *priorities.end());
        for (priority, clamped) in [(first, first), (last, last), (first - 1, first)] {
            let options = StreamOptions::new().priority(priority).waits_for_default(true);
            let stream = Stream::with_options(&context, options).unwrap();
            assert_eq!((stream.priority(), stream.waits_for_default()), (Ok(clamped), Ok(true)));
            assert_ne!(stream.driver_id(), plain.driver_id());
        }
    });
}

#[test]
fn waits_end_with_their_time() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let (sender, receiver) = channel::<()>();
        stream.call(move || receiver.recv().unwrap_or(())).unwrap();
        assert_eq!(stream.is_done(), Ok(false));
        assert_eq!(stream.wait_timeout(Duration::ZERO), Ok(false));
        assert_eq!(stream.wait_timeout(Duration::from_millis(20)), Ok(false));
        drop(sender);
        assert_eq!(stream.wait_timeout(Duration::MAX), Ok(true));
    });
}

#[test]
fn a_closure_panics_and_the_stream_goes_on() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let (sender, receiver) = channel();
        context.on_error(move |error| drop(sender.send(error.clone())));
        stream.call(|| panic!("out of tea")).unwrap();
        let (done, is_done) = channel();
        stream.call(move || done.send(()).unwrap()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(receiver.recv().unwrap().cause, Cause::Panicked("out of tea".into()));
        is_done.recv().unwrap();
    });
}

#[test]
fn an_adopted_stream_may_go_after_its_value() {
    isolated!(lazy(), || {
        let context = context();
        let raw = call::stream_create(&context, NON_BLOCKING).unwrap();
        // SAFETY: the stream is destroyed after the value is dropped.
        let stream = unsafe { Stream::adopt(&context, raw, ()) }.unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8_async(&mut buffer, 5, &stream).unwrap();
        // It may be gone when somebody waits for the use.
        expect_calls("cuEventRecord", 1);
        drop(stream);
        expect_calls("cuStreamDestroy_v2", 0);
        // SAFETY: the stream was made above, and nothing knows it any more.
        unsafe { call::stream_destroy(&context, raw) }.unwrap();
        let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let other = Stream::new(&context).unwrap();
        call::memcpy_dtoh_async(&mut pinned, &buffer, &other).unwrap();
        expect_calls("cuStreamWaitEvent", 1);
        assert_eq!(pinned.as_slice().unwrap(), [5; 64]);
    });
}

#[test]
fn an_adopted_stream_keeps_its_owner() {
    isolated!(Config::new(), || {
        let context = context();
        let owner = std::sync::Arc::new(Stream::new(&context).unwrap());
        let raw = cuda_safe::shim::Handle::raw(&*owner);
        // SAFETY: the owner keeps the stream.
        let stream =
            unsafe { Stream::adopt(&context, raw, std::sync::Arc::clone(&owner)) }.unwrap();
        assert_eq!(stream.driver_id(), owner.driver_id());
        assert_eq!(std::sync::Arc::strong_count(&owner), 2);
        drop(stream);
        assert_eq!(std::sync::Arc::strong_count(&owner), 1);
    });
}

#[test]
fn a_stream_of_another_context_is_refused() {
    isolated!(Config::new().devices(2), || {
        let (here, there) = (context(), Device::get(1).unwrap().context().unwrap());
        let stream = Stream::new(&there).unwrap();
        let raw = cuda_safe::shim::Handle::raw(&stream);
        // SAFETY: the stream outlives the value.
        let error = unsafe { Stream::adopt(&here, raw, ()) }.unwrap_err();
        assert_eq!(error.rule(), Some(Rule::Home));
    });
}

#[test]
fn each_thread_has_a_stream_of_its_own() {
    isolated!(lazy(), || {
        let context = context();
        let mut buffers = [(); 2].map(|()| DeviceBuffer::<u8>::allocate(&context, 64).unwrap());
        std::thread::scope(|scope| {
            for buffer in &mut buffers {
                let context = &context;
                scope.spawn(move || {
                    // Both are the same stream: no wait is needed between them.
                    for byte in [1, 2] {
                        let stream = PerThreadStream::new(context);
                        call::memset_d8_async(buffer, byte, &stream).unwrap();
                    }
                });
            }
        });
        expect_calls("cuEventRecord", 4);
        expect_calls("cuStreamWaitEvent", 0);
        // Their threads are gone, and nobody could record an event on their streams any more.
        let stream = PerThreadStream::new(&context);
        for buffer in &buffers {
            let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
            call::memcpy_dtoh_async(&mut pinned, buffer, &stream).unwrap();
            assert_eq!(pinned.as_slice().unwrap(), [2; 64]);
        }
        expect_calls("cuStreamWaitEvent", 2);
        let event = Event::new(&context).unwrap();
        event.record(&stream).unwrap();
        stream.wait_for(&event).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(stream.is_done(), Ok(true));
    });
}

#[test]
fn a_use_without_an_event_is_waited_for() {
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    isolated!(lazy().fail("cuEventRecord", 1, code), || {
        let context = context();
        let stream = PerThreadStream::new(&context);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8_async(&mut buffer, 5, &stream).unwrap();
        expect_calls("cuStreamSynchronize", 1);
        let mut bytes = [0_u8; 64];
        call::memcpy_dtoh(&mut bytes, &buffer).unwrap();
        assert_eq!(bytes, [5; 64]);
    });
}

#[test]
fn a_use_that_nothing_stands_for_is_never_taken_for_done() {
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let config = lazy().fail("cuEventRecord", 1, code).fail("cuStreamSynchronize", 1, code);
    isolated!(config, || {
        let context = context();
        let stream = PerThreadStream::new(&context);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8_async(&mut buffer, 5, &stream).unwrap();
        let mut bytes = [0_u8; 64];
        let error = call::memcpy_dtoh(&mut bytes, &buffer).unwrap_err();
        assert_eq!(error.code(), Some(code));
        // Whoever waits for everything knows.
        context.synchronize().unwrap();
        call::memcpy_dtoh(&mut bytes, &buffer).unwrap();
        assert_eq!(bytes, [5; 64]);
    });
}

#[test]
fn questions_and_waits_leave_a_capture_as_it_is() {
    isolated!(lazy(), || {
        let (context, other) = (context(), PerThreadStream::new(&context()));
        let [captured, plain] = [(); 2].map(|()| Stream::new(&context).unwrap());
        let event = Event::new(&context).unwrap();
        event.record(&plain).unwrap();
        let raw = cuda_safe::shim::Handle::raw(&captured);
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // SAFETY: the stream is of the context, and its capture is ended below.
        unsafe { call::stream_begin_capture(&context, raw, mode) }.unwrap();
        plain.is_done().unwrap();
        plain.wait_timeout(Duration::from_secs(20)).unwrap();
        plain.synchronize().unwrap();
        event.is_done().unwrap();
        event.synchronize().unwrap();
        other.wait_timeout(Duration::from_secs(20)).unwrap();
        let graph = call::stream_end_capture(&captured).unwrap();
        // SAFETY: the graph was made above, and nothing else knows it.
        unsafe { call::graph_destroy(graph) }.unwrap();
    });
}

#[test]
fn every_call_of_streams_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let first = *Stream::priorities(&context)?.start();
        let stream = Stream::with_options(&context, StreamOptions::new().priority(first))?;
        stream.priority()?;
        stream.waits_for_default()?;
        stream.driver_id()?;
        let raw = cuda_safe::shim::Handle::raw(&stream);
        // SAFETY: the stream outlives the value.
        let adopted = unsafe { Stream::adopt(&context, raw, ()) }?;
        let own = PerThreadStream::new(&context);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        call::memset_d8_async(&mut buffer, 1, &adopted)?;
        call::memset_d8_async(&mut buffer, 2, &own)?;
        call::memset_d8_async(&mut buffer, 3, &Stream::legacy(&context))?;
        own.call(|| ())?;
        drop(adopted);
        own.synchronize()?;
        own.wait_timeout(Duration::from_secs(20))?;
        stream.is_done()?;
        stream.synchronize()
    });
}
