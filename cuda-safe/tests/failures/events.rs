//! Events, with times and without.

use std::time::Duration;

use cuda_safe::{DeviceBuffer, Event, EventOptions, TimedEvent};

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn events_are_waited_for() {
    each_call_fails!(
        [
            Event::new,
            Event::with_options,
            Event::record,
            Event::wait_timeout,
            Event::is_done,
            Event::synchronize,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let event = Event::new(&context)?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            buffer.fill(1, &stream)?;
            event.record(&stream)?;
            assert!(event.wait_timeout(LIMIT)?);
            buffer.fill(2, &stream)?;
            event.record(&stream)?;
            event.synchronize()?;
            assert!(event.is_done()?);
            let blocking = EventOptions::new().blocking(true);
            let event = Event::with_options(&context, blocking)?;
            event.record(&stream)?;
            event.synchronize()
        }
    );
}

#[test]
fn events_tell_the_time() {
    each_call_fails!(
        [
            TimedEvent::new,
            TimedEvent::with_options,
            TimedEvent::record,
            TimedEvent::wait_timeout,
            TimedEvent::is_done,
            TimedEvent::synchronize,
            TimedEvent::milliseconds_since,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let start = TimedEvent::new(&context)?;
            let end = TimedEvent::with_options(&context, EventOptions::new().blocking(true))?;
            start.record(&stream)?;
            assert!(start.wait_timeout(LIMIT)?);
            end.record(&stream)?;
            end.synchronize()?;
            assert!(end.is_done()?);
            assert!(end.milliseconds_since(&start)?.is_some());
            Ok(())
        }
    );
}

#[test]
fn events_know_their_context() {
    asks_no_driver!(
        [Event::context, TimedEvent::context, EventOptions::new, EventOptions::blocking],
        |given| {
            let context = given.context()?;
            Ok((Event::new(&context)?, TimedEvent::new(&context)?, context))
        },
        |(event, timed, context)| {
            assert_eq!([event.context(), timed.context()], [&context; 2]);
            assert_eq!(EventOptions::new().blocking(false), EventOptions::new());
            Ok((event, timed, context))
        }
    );
}
