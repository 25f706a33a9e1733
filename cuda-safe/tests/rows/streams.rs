//! Streams and events.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_safe::{
    Context, Device, DeviceBuffer, Event, PerThreadStream, Rule, Stream, TimedEvent, call,
};
use cuda_sim::{Config, isolated};
use cuda_sys::CUresult;

use crate::common::{argument, calls, context, hold_up, lazy, read};

#[test]
fn row_93_reasons_without_a_time_are_told_apart() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let [start, end, unset] = [(); 3].map(|()| TimedEvent::new(&context).unwrap());
        start.record(&stream).unwrap();
        let held = hold_up(&stream);
        end.record(&stream).unwrap();
        // Not done is no error.
        assert_eq!(end.milliseconds_since(&start), Ok(None));
        drop(held);
        end.synchronize().unwrap();
        assert!(end.milliseconds_since(&start).unwrap().is_some());
        let error = unset.milliseconds_since(&start).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_HANDLE));
        let other = Context::create(Device::get(0).unwrap()).unwrap();
        let elsewhere = TimedEvent::new(&other).unwrap();
        let error = elsewhere.milliseconds_since(&start).unwrap_err();
        assert_eq!(error.rule(), Some(Rule::Home));
    });
}

#[test]
fn row_94_events_that_only_order_have_no_times() {
    isolated!(Config::new().log(true), || {
        let (context, stream) = context();
        // Those behind buffers as well.
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        buffer.fill(1, &Stream::new(&context).unwrap()).unwrap();
        drop(Event::new(&context).unwrap());
        let flags = |calls: &[cuda_sim::Call]| {
            let mut flags: Vec<_> =
                calls.iter().map(|it| argument(it, "flags").to_owned()).collect();
            flags.dedup();
            flags
        };
        assert_eq!(flags(&calls("cuEventCreate")), ["2"]);
        drop(TimedEvent::new(&context).unwrap());
        assert_eq!(flags(&calls("cuEventCreate")), ["2", "0"]);
    });
}

#[test]
fn row_95_waits_cross_contexts_and_records_do_not() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let other = Context::create(Device::get(0).unwrap()).unwrap();
        let elsewhere = Stream::new(&other).unwrap();
        let event = Event::new(&other).unwrap();
        let before = calls("cuEventRecord").len();
        let error = event.record(&stream).unwrap_err();
        assert_eq!(error.rule(), Some(Rule::Home));
        assert_eq!(calls("cuEventRecord").len(), before, "the driver was not asked");
        let held = hold_up(&elsewhere);
        event.record(&elsewhere).unwrap();
        stream.wait_for(&event).unwrap();
        assert!(!stream.is_done().unwrap());
        drop(held);
        stream.synchronize().unwrap();
        assert!(event.is_done().unwrap());
        drop(context);
    });
}

#[test]
fn row_97_default_streams_have_names() {
    isolated!(Config::new().log(true), || {
        let (context, _stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        buffer.fill(1, &Stream::legacy(&context)).unwrap();
        buffer.fill(2, &PerThreadStream::new(&context)).unwrap();
        assert_eq!(read(&buffer, &Stream::new(&context).unwrap()), [2; 64]);
        let fills = calls("cuMemsetD8Async");
        let streams: Vec<_> = fills.iter().map(|call| argument(call, "stream")).collect();
        assert_eq!(streams, ["0x1", "0x2"]);
        let all = cuda_sim::calls();
        let unnamed = all.iter().find(|call| call.arguments.contains("tream=0x0"));
        assert!(unnamed.is_none(), "{unnamed:?}");
        assert!(!all.iter().any(|call| call.function.ends_with("_ptsz")));
    });
}

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn row_98_a_closure_that_is_not_taken_is_freed() {
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    isolated!(Config::new().fail("cuLaunchHostFunc", 1, code), || {
        let (_context, stream) = context();
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted(Arc::clone(&dropped));
        let error = stream.call(move || drop(counted)).unwrap_err();
        assert_eq!((error.call, error.code()), ("cuLaunchHostFunc", Some(code)));
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        let counted = Counted(Arc::clone(&dropped));
        stream.call(move || drop(counted)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
    });
}

/// Panics when it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::panic_any("the payload's drop");
        }
    }
}

#[test]
fn row_107_and_98_a_panic_stays_in_its_closure() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        stream.call(|| std::panic::panic_any("a text")).unwrap();
        stream.call(|| std::panic::panic_any(Grenade)).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(context.reported_errors(), 2);
        // A hook may panic as well.
        context.on_error(|_| std::panic::panic_any("the hook"));
        stream.call(|| std::panic::panic_any("a text")).unwrap();
        stream.synchronize().unwrap();
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        call::memset_d8_async(&mut buffer, 1, &stream).unwrap();
        assert_eq!(read(&buffer, &stream), [1; 64]);
    });
}
