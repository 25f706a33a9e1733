//! Streams: of one's own, the defaults, and those of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cuda_safe::shim::Handle;
use cuda_safe::{DeviceBuffer, Event, PerThreadStream, Stream, StreamOptions};

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn streams_tell_of_themselves() {
    each_call_fails!(
        [
            Stream::new,
            Stream::with_options,
            Stream::priorities,
            Stream::priority,
            Stream::waits_for_default,
            Stream::driver_id,
        ],
        |given| {
            let context = given.context()?;
            let first = *Stream::priorities(&context)?.start();
            let options = StreamOptions::new().priority(first).waits_for_default(true);
            let stream = Stream::with_options(&context, options)?;
            assert_eq!(stream.priority()?, first);
            assert!(stream.waits_for_default()?);
            assert_ne!(stream.driver_id()?, Stream::new(&context)?.driver_id()?);
            Ok(())
        }
    );
}

#[test]
fn streams_are_waited_for() {
    each_call_fails!(
        [
            Stream::wait_for,
            Stream::call,
            Stream::fence,
            Stream::wait_timeout,
            Stream::is_done,
            Stream::synchronize,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            let event = Event::new(&context)?;
            let other = Stream::new(&context)?;
            buffer.fill(1, &other)?;
            event.record(&other)?;
            stream.wait_for(&event)?;
            buffer.fill(2, &stream)?;
            stream.fence()?;
            let called = Arc::new(AtomicBool::new(false));
            let within = Arc::clone(&called);
            stream.call(move || within.store(true, Ordering::Release))?;
            assert!(stream.wait_timeout(LIMIT)?);
            assert!(called.load(Ordering::Acquire));
            buffer.fill(3, &stream)?;
            stream.synchronize()?;
            assert!(stream.is_done()?);
            Ok(())
        }
    );
}

#[test]
fn default_streams() {
    each_call_fails!([Stream::legacy], |given| {
        let context = given.context()?;
        let stream = Stream::legacy(&context);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        buffer.fill(1, &stream)?;
        let other = Stream::new(&context)?;
        buffer.fill(2, &other)?;
        stream.synchronize()?;
        other.synchronize()
    });
}

#[test]
fn the_stream_of_a_thread() {
    each_call_fails!(
        [
            PerThreadStream::new,
            PerThreadStream::wait_for,
            PerThreadStream::call,
            PerThreadStream::wait_timeout,
            PerThreadStream::is_done,
            PerThreadStream::synchronize,
        ],
        |given| {
            let (context, other) = given.stream()?;
            let stream = PerThreadStream::new(&context);
            let event = Event::new(&context)?;
            event.record(&other)?;
            stream.wait_for(&event)?;
            let mut buffer = DeviceBuffer::<u8>::uninitialized(&stream, 64)?;
            buffer.fill(1, &stream)?;
            buffer.fill(2, &other)?;
            stream.call(|| ())?;
            assert!(stream.wait_timeout(LIMIT)?);
            buffer.fill(3, &stream)?;
            stream.synchronize()?;
            assert!(stream.is_done()?);
            Ok(())
        }
    );
}

#[test]
fn the_stream_of_others() {
    each_call_fails!([Stream::adopt], |given| {
        let (context, owner) = given.stream()?;
        let owner = Arc::new(owner);
        // SAFETY: the owner is kept.
        let stream = unsafe { Stream::adopt(&context, owner.raw(), Arc::clone(&owner)) }?;
        let mut buffer = DeviceBuffer::<u8>::uninitialized(&stream, 64)?;
        buffer.fill(1, &stream)?;
        drop(stream);
        buffer.fill(2, &*owner)?;
        owner.synchronize()
    });
}

#[test]
fn what_streams_know_without_asking() {
    asks_no_driver!(
        [
            Stream::context,
            Stream::legacy,
            PerThreadStream::new,
            PerThreadStream::context,
            StreamOptions::new,
            StreamOptions::priority,
            StreamOptions::waits_for_default,
        ],
        |given| given.stream(),
        |(context, stream)| {
            assert_eq!(*stream.context(), context);
            assert_eq!(*Stream::legacy(&context).context(), context);
            assert_eq!(*PerThreadStream::new(&context).context(), context);
            let options = StreamOptions::new().priority(-1).waits_for_default(true);
            assert_ne!(options, StreamOptions::new());
            Ok((context, stream))
        }
    );
}
