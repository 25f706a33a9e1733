//! Events: what they tell, and what waiting for them answers.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use cuda_safe::{Context, Device, DeviceBuffer, Event, EventOptions, Stream, TimedEvent, call};
use cuda_sim::{Config, Scheduler, for_each_failure, is_on_device, isolated};
use cuda_sys::CUresult;

fn lazy() -> Config {
    Config::new().scheduler(Scheduler::Lazy)
}

fn context() -> Context {
    Device::get(0).unwrap().context().unwrap()
}

/// Holds a stream up, until something is sent or the sender is dropped.
fn hold_up(stream: &Stream) -> Sender<()> {
    let (sender, receiver) = channel();
    stream.call(move || receiver.recv().unwrap_or(())).unwrap();
    sender
}

#[test]
fn time_passes_between_two_events() {
    isolated!(lazy(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let [start, end] = [(); 2].map(|()| TimedEvent::new(&context).unwrap());
        start.record(&stream).unwrap();
        stream.call(|| std::thread::sleep(Duration::from_millis(20))).unwrap();
        end.record(&stream).unwrap();
        end.synchronize().unwrap();
        let forward = end.milliseconds_since(&start).unwrap().unwrap();
        let backward = start.milliseconds_since(&end).unwrap().unwrap();
        assert!((15.0..20_000.0).contains(&forward), "{forward} ms");
        assert!((forward + backward).abs() < 0.01, "{forward} ms, back {backward} ms");
    });
}

#[test]
fn not_ready_is_no_error() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let [start, end] = [(); 2].map(|()| TimedEvent::new(&context).unwrap());
        start.record(&stream).unwrap();
        let held = hold_up(&stream);
        end.record(&stream).unwrap();
        assert_eq!(end.is_done(), Ok(false));
        assert_eq!(end.milliseconds_since(&start), Ok(None));
        assert_eq!(end.wait_timeout(Duration::from_millis(20)), Ok(false));
        assert_eq!(end.wait_timeout(Duration::ZERO), Ok(false));
        drop(held);
        assert_eq!(end.wait_timeout(Duration::MAX), Ok(true));
        assert!(end.milliseconds_since(&start).unwrap().is_some());
    });
}

#[test]
fn what_was_never_recorded_has_no_time() {
    isolated!(Config::new(), || {
        let context = context();
        let [start, end] = [(); 2].map(|()| TimedEvent::new(&context).unwrap());
        assert_eq!(end.is_done(), Ok(true));
        let error = end.milliseconds_since(&start).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_HANDLE));
    });
}

#[test]
fn older_drivers_tell_the_time_too() {
    isolated!(Config::new().version(cuda_safe::sys::Version::new(12, 0)), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let [start, end] = [(); 2].map(|()| TimedEvent::new(&context).unwrap());
        start.record(&stream).unwrap();
        end.record(&stream).unwrap();
        end.synchronize().unwrap();
        assert!(end.milliseconds_since(&start).unwrap().is_some_and(|time| time >= 0.0));
    });
}

#[test]
fn a_stream_waits_for_an_event_of_either_kind() {
    isolated!(lazy(), || {
        let context = context();
        let [first, second] = [(); 2].map(|()| Stream::new(&context).unwrap());
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8_async(&mut buffer, 1, &first).unwrap();
        let (plain, timed) = (Event::new(&context).unwrap(), TimedEvent::new(&context).unwrap());
        plain.record(&first).unwrap();
        timed.record(&first).unwrap();
        second.wait_for(&plain).unwrap();
        second.wait_for(&timed).unwrap();
        second.synchronize().unwrap();
        // The second stream came behind the first.
        assert_eq!(plain.is_done(), Ok(true));
        assert_eq!(timed.is_done(), Ok(true));
    });
}

#[test]
fn a_thread_sleeps_for_a_blocking_event() {
    let config = if is_on_device() { lazy() } else { lazy().log(true) };
    isolated!(config, || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let blocking = EventOptions::new().blocking(true);
        let plain = Event::with_options(&context, blocking).unwrap();
        let timed = TimedEvent::with_options(&context, blocking).unwrap();
        let other = TimedEvent::with_options(&context, blocking.blocking(false)).unwrap();
        other.record(&stream).unwrap();
        stream.call(|| std::thread::sleep(Duration::from_millis(20))).unwrap();
        plain.record(&stream).unwrap();
        timed.record(&stream).unwrap();
        plain.synchronize().unwrap();
        timed.synchronize().unwrap();
        assert!(timed.milliseconds_since(&other).unwrap().is_some_and(|time| time > 15.0));
        assert_eq!(plain.wait_timeout(Duration::ZERO), Ok(true));
        if !is_on_device() {
            let calls = cuda_sim::calls();
            let made = calls.iter().filter(|call| call.function == "cuEventCreate");
            let flags: Vec<_> = made.map(|call| call.arguments.rsplit('=').next()).collect();
            // Not that of the third; the others sleep, and one of them has no times.
            assert_eq!(flags[..3], [Some("3"), Some("1"), Some("0")]);
        }
    });
}

#[test]
fn every_call_of_events_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        let (start, end) = (TimedEvent::new(&context)?, TimedEvent::new(&context)?);
        let plain = Event::new(&context)?;
        start.record(&stream)?;
        end.record(&stream)?;
        plain.record(&stream)?;
        stream.wait_for(&end)?;
        plain.wait_timeout(Duration::from_secs(20))?;
        end.wait_timeout(Duration::from_secs(20))?;
        end.synchronize()?;
        end.is_done()?;
        end.milliseconds_since(&start).map(drop)
    });
}
