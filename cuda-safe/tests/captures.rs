//! Beside a capture and in one: memory is allocated or refused, and the capture comes to its end.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use cuda_safe::shim::{Adopted, Area, Handle as _};
use cuda_safe::{
    AddressRange, Context, Device, DeviceBuffer, Error, Event, ManagedBuffer, MemoryPool,
    PinnedBuffer, PoolProperties, RegisteredHost, Rule, Stream, StreamOptions, WriteCombinedBuffer,
    call, registered,
};
use cuda_sim::{Config, isolated, on_every_scheduler};
use cuda_sys::{CUgraph, CUresult, CUstreamCaptureMode as Mode};

const MODES: [Mode; 3] = [
    Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
];

fn context() -> Context {
    Device::get(0).unwrap().context().unwrap()
}

/// Captures what `work` does on a new stream, and counts the graph's nodes. The capture must survive.
fn captured(context: &Context, mode: Mode, work: impl FnOnce(&Stream)) -> usize {
    let stream = Stream::new(context).unwrap();
    begin(&stream, mode);
    work(&stream);
    end(&stream)
}

fn begin(stream: &Stream, mode: Mode) {
    // SAFETY: the stream is of its context, and its capture is ended by `end`.
    unsafe { call::stream_begin_capture(stream.context(), stream.raw(), mode) }.unwrap();
}

fn end(stream: &Stream) -> usize {
    let graph = call::stream_end_capture(stream).unwrap();
    let nodes = count(graph);
    // SAFETY: the graph was made by the capture, and nothing else knows it.
    unsafe { call::graph_destroy(graph) }.unwrap();
    nodes
}

fn count(graph: CUgraph) -> usize {
    let (mut count, nodes) = (0, std::ptr::null_mut());
    // SAFETY: the graph is alive; the call writes one number.
    let answer = unsafe { cuda_sys::cuGraphGetNodes(graph, nodes, &raw mut count) };
    assert_eq!(answer, CUresult::CUDA_SUCCESS);
    count
}

/// Fails unless it was refused because of a capture.
fn expect_refused(error: &Error) {
    assert_eq!(error.rule(), Some(Rule::Captured), "{error}");
}

/// Allocates and frees memory of every kind that does not come in the order of the captured stream.
fn allocate_all(context: &Context, other: &Stream) {
    let plain = DeviceBuffer::<u8>::allocate(context, 4096).unwrap();
    let rows = DeviceBuffer::<u8>::allocate_pitched(context, 100, 10).unwrap();
    let ordered = DeviceBuffer::<u8>::filled(other, 4096, 1).unwrap();
    let pinned = PinnedBuffer::filled(context, 4096, 1_u8).unwrap();
    let combined = WriteCombinedBuffer::<u8>::zeroed(context, 4096).unwrap();
    let managed = ManagedBuffer::<u8>::uninitialized(context, 4096).unwrap();
    let owned = RegisteredHost::new(context, vec![1_u8; 4096]).unwrap();
    let mut borrowed = [0_u8; 4096];
    registered(context, &mut borrowed, |it| it.as_slice().map(<[u8]>::len)).unwrap().unwrap();
    let mut range = AddressRange::<u8>::reserve(context, 1).unwrap();
    range.grow(1).unwrap();
    let pool = MemoryPool::new(context, &PoolProperties::new()).unwrap();
    drop(pool.allocate::<u8>(other, 4096).unwrap());
    pool.trim_to(0).unwrap();
    drop((plain, rows, ordered, pinned, combined, managed, owned, range, pool));
}

#[test]
fn memory_comes_and_goes_beside_a_capture() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let other = Stream::new(&context).unwrap();
        for mode in MODES {
            let nodes = captured(&context, mode, |_| allocate_all(&context, &other));
            assert_eq!(nodes, 0, "{mode:?}");
            // Another thread's capture.
            let nodes = captured(&context, mode, |_| {
                std::thread::scope(|scope| {
                    scope.spawn(|| allocate_all(&context, &other));
                });
            });
            assert_eq!(nodes, 0, "{mode:?}");
        }
        other.synchronize().unwrap();
        context.collect();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn memory_is_not_allocated_in_a_capture() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let pool = MemoryPool::new(&context, &PoolProperties::new()).unwrap();
        let mut kept = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let nodes = captured(&context, MODES[1], |stream| {
            let refused = DeviceBuffer::<u8>::uninitialized(stream, 64).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "DeviceBuffer::uninitialized: `stream` breaks Captured: needs work that runs, has \
                 work that is captured"
            );
            expect_refused(&DeviceBuffer::<u8>::zeroed(stream, 64).unwrap_err());
            expect_refused(&DeviceBuffer::filled(stream, 64, 1_u8).unwrap_err());
            expect_refused(&pool.allocate::<u8>(stream, 64).unwrap_err());
            // Empty ones are never allocated.
            DeviceBuffer::<u8>::uninitialized(stream, 0).unwrap();
            kept.fill(5, stream).unwrap();
        });
        assert_eq!(nodes, 1);
    });
}

#[test]
fn the_default_stream_counts_as_captured_beside_one_that_waits_for_it() {
    isolated!(Config::new(), || {
        let context = context();
        let legacy = Stream::legacy(&context);
        let waits = StreamOptions::new().waits_for_default(true);
        let stream = Stream::with_options(&context, waits).unwrap();
        let mut buffer = DeviceBuffer::<u8>::filled(&legacy, 64, 1).unwrap();
        let mut late = DeviceBuffer::<u8>::filled(&legacy, 64, 1).unwrap();
        context.synchronize().unwrap();
        late.fill(2, &legacy).unwrap();
        begin(&stream, MODES[1]);
        // Nobody can record what the default stream did last.
        expect_refused(&late.fill(3, &stream).unwrap_err());
        expect_refused(&DeviceBuffer::<u8>::zeroed(&legacy, 64).unwrap_err());
        buffer.fill(2, &stream).unwrap();
        // Is put off: the stream that allocated it can't free it now.
        drop((buffer, late));
        assert_eq!(end(&stream), 1);
        drop(stream);
        context.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn what_a_stream_keeps_is_not_for_its_capture() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        for mode in MODES {
            let mut used = DeviceBuffer::<u8>::uninitialized(&stream, 64).unwrap();
            drop(DeviceBuffer::<u8>::uninitialized(&stream, 128).unwrap());
            begin(&stream, mode);
            expect_refused(&DeviceBuffer::<u8>::uninitialized(&stream, 128).unwrap_err());
            used.fill(1, &stream).unwrap();
            // Its drop is put off instead.
            drop(used);
            assert_eq!(context.uncollected(), 1);
            assert_eq!(end(&stream), 1, "{mode:?}");
            drop(DeviceBuffer::<u8>::uninitialized(&stream, 128).unwrap());
            begin(&stream, mode);
            context.collect();
            assert_eq!(end(&stream), 0, "{mode:?}");
        }
        context.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn nobody_waits_for_what_is_only_captured() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let other = Stream::new(&context).unwrap();
        let mut pinned = PinnedBuffer::filled(&context, 64, 1_u8).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let dropped = DeviceBuffer::filled(&other, 64, 1_u8).unwrap();
        other.synchronize().unwrap();
        let nodes = captured(&context, MODES[0], |stream| {
            call::memcpy_htod_async(&mut buffer, &pinned, stream).unwrap();
            call::memcpy_dtoh_async(&mut pinned, &dropped, stream).unwrap();
            expect_refused(&pinned.as_slice().unwrap_err());
            expect_refused(&pinned.as_mut_slice().unwrap_err());
            let area = Area::bytes(0, 64);
            let soon = Duration::from_millis(1);
            expect_refused(&pinned.allocation().wait_timeout(area, soon).unwrap_err());
            // It would become part of the capture by accident.
            expect_refused(&buffer.fill(3, &other).unwrap_err());
            drop(dropped);
            assert!(context.uncollected() > 0);
            context.collect();
        });
        assert_eq!(nodes, 2);
        // Nothing of it ran, and nothing is left to wait for.
        assert_eq!(pinned.as_slice().unwrap(), [1; 64]);
        buffer.fill(3, &other).unwrap();
        context.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn a_capture_does_not_wait_for_what_came_before_it() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        other.call(move || receiver.recv().unwrap_or(())).unwrap();
        buffer.fill(3, &other).unwrap();
        begin(&stream, MODES[1]);
        // The driver would end the capture.
        expect_refused(&buffer.fill(4, &stream).unwrap_err());
        drop(sender);
        assert_eq!(other.wait_timeout(Duration::from_secs(20)), Ok(true));
        // It is done by now.
        buffer.fill(4, &stream).unwrap();
        assert_eq!(end(&stream), 1);
    });
}

#[test]
fn streams_join_a_capture_by_an_event_of_the_callers() {
    on_every_scheduler!(Config::new(), || {
        let context = context();
        let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let [fork, join] = [(); 2].map(|()| Event::new(&context).unwrap());
        begin(&stream, MODES[1]);
        buffer.fill(1, &stream).unwrap();
        fork.record(&stream).unwrap();
        other.wait_for(&fork).unwrap();
        // Both are captured now, and are ordered as always.
        buffer.fill(2, &other).unwrap();
        join.record(&other).unwrap();
        stream.wait_for(&join).unwrap();
        buffer.fill(3, &stream).unwrap();
        let graph = call::stream_end_capture(&stream).unwrap();
        assert_eq!(count(graph), 3);
        // SAFETY: the graph is alive until it is destroyed below.
        let whole = unsafe { Adopted::new(graph, None) };
        let runs = call::graph_instantiate_with_flags(&context, &whole, 0).unwrap();
        // SAFETY: the graph is alive, and nothing else uses the buffer.
        unsafe { call::graph_launch(runs, &stream) }.unwrap();
        stream.synchronize().unwrap();
        let mut answer = [0_u8; 64];
        call::memcpy_dtoh(&mut answer, &buffer).unwrap();
        assert_eq!(answer, [3; 64]);
        // SAFETY: it was made above, is not used any more, and nothing else knows it.
        unsafe { call::graph_exec_destroy(runs) }.unwrap();
        // SAFETY: as above.
        unsafe { call::graph_destroy(graph) }.unwrap();
    });
}
