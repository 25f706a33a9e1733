//! How captures end, what joins and leaves them, and what passes between processes meanwhile.

mod common;
mod remote;

use std::ptr;

use common::*;
use cuda_sim::{Config, isolated, on_every_scheduler};
use cuda_sys::*;
use remote::*;

const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

fn begin(on: CUstream) {
    ok!(cuStreamBeginCapture_v2(on, RELAXED));
}

/// Ends a capture, and returns the code and the graph.
fn end_of(on: CUstream) -> (u32, CUgraph) {
    let mut graph = ptr::null_mut();
    let answer = code!(cuStreamEndCapture(on, &mut graph));
    assert_eq!(graph.is_null(), answer != 0);
    (answer, graph)
}

fn status(on: CUstream) -> u32 {
    let mut status = CUstreamCaptureStatus(9);
    ok!(cuStreamIsCapturing(on, &mut status));
    status.0
}

fn fill(on: CUstream, memory: CUdeviceptr) {
    ok!(cuMemsetD8Async(memory, 1, 64, on));
}

/// Returns how many nodes and edges a graph has.
fn counts(graph: CUgraph) -> (usize, usize) {
    let (mut nodes, mut edges) = (0, 0);
    ok!(cuGraphGetNodes(graph, ptr::null_mut(), &mut nodes));
    ok!(cuGraphGetEdges(graph, ptr::null_mut(), ptr::null_mut(), &mut edges));
    (nodes, edges)
}

#[test]
fn a_stream_that_is_not_joined_again() {
    on_every_scheduler!(Config::new(), || {
        start();
        let (on, forked, event, memory) = (stream(1), stream(1), event(), alloc(64));
        begin(on);
        fill(on, memory);
        ok!(cuEventRecord(event, on));
        ok!(cuStreamWaitEvent(forked, event, 0));
        fill(forked, memory);
        assert_eq!((status(on), status(forked)), (1, 1));
        // Only where it began.
        assert_eq!(end_of(forked).0, 903);
        assert_eq!(end_of(on).0, 904);
        assert_eq!((status(on), status(forked)), (0, 0));
        // Both go on as before, and nothing ran.
        write(memory, &[9; 64]);
        for on in [on, forked] {
            ok!(cuStreamSynchronize(on));
        }
        assert_eq!(read(memory, 64), [9; 64]);
        for on in [on, forked] {
            ok!(cuStreamDestroy_v2(on));
        }
        ok!(cuEventDestroy_v2(event));
        free(memory);
        end();
    });
}

#[test]
fn two_captures_do_not_become_one() {
    isolated!(Config::new(), || {
        start();
        let (first, second, event, memory) = (stream(1), stream(1), event(), alloc(64));
        begin(first);
        begin(second);
        fill(first, memory);
        ok!(cuEventRecord(event, first));
        assert_eq!(code!(cuStreamWaitEvent(second, event, 0)), 902);
        for on in [first, second] {
            assert_eq!(status(on), 2);
            assert_eq!(code!(cuMemsetD8Async(memory, 1, 64, on)), 901);
            assert_eq!(end_of(on).0, 901);
            assert_eq!(status(on), 0);
            ok!(cuStreamDestroy_v2(on));
        }
        ok!(cuEventDestroy_v2(event));
        free(memory);
        end();
    });
}

#[test]
fn only_a_relaxed_capture_ends_in_another_thread() {
    isolated!(Config::new(), || {
        let context = start().expose_provenance();
        for (mode, answer) in [(0, 908), (1, 908), (2, 0)] {
            let on = stream(1);
            ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(mode)));
            let number = on.expose_provenance();
            let elsewhere = std::thread::spawn(move || {
                ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(context)));
                let (answer, graph) = end_of(ptr::with_exposed_provenance_mut(number));
                if !graph.is_null() {
                    ok!(cuGraphDestroy(graph));
                }
                answer
            });
            assert_eq!(elsewhere.join().ok(), Some(answer), "mode {mode}");
            if answer != 0 {
                let (_, graph) = end_of(on);
                if !graph.is_null() {
                    ok!(cuGraphDestroy(graph));
                }
            }
            ok!(cuStreamDestroy_v2(on));
        }
        end();
    });
}

#[test]
fn a_captured_stream_that_is_destroyed_takes_its_capture_with_it() {
    isolated!(Config::new(), || {
        start();
        let on = stream(1);
        ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(0)));
        let mut memory = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut memory, 64)), 900);
        assert_eq!(status(on), 2);
        ok!(cuStreamDestroy_v2(on));
        ok!(cuMemAlloc_v2(&mut memory, 64));
        free(memory);
        // A valid one too.
        let on = stream(1);
        ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(0)));
        ok!(cuStreamDestroy_v2(on));
        free(alloc(64));
        end();
    });
}

#[test]
fn what_the_next_node_depends_on_can_be_set() {
    isolated!(Config::new(), || {
        start();
        let (on, other, memory) = (stream(1), stream(1), alloc(64));
        let last = || {
            let (mut status, mut id) = (CUstreamCaptureStatus(9), 0);
            let (mut graph, mut nodes, mut count) = (ptr::null_mut(), ptr::null(), 9);
            ok!(cuStreamGetCaptureInfo_v2(
                on,
                &mut status,
                &mut id,
                &mut graph,
                &mut nodes,
                &mut count
            ));
            // SAFETY: the driver told that many nodes, which lie until the next call.
            unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()
        };
        begin(on);
        assert_eq!(last().len(), 0);
        fill(on, memory);
        let mut first = last();
        // The next has none to wait for.
        ok!(cuStreamUpdateCaptureDependencies(on, ptr::null_mut(), 0, 1));
        assert_eq!(last().len(), 0);
        ok!(cuMemsetD8Async(at(memory, 32), 1, 32, on));
        let second = last();
        assert_ne!(first, second);
        // And the one after that both; named twice, it is there once.
        for _ in 0..2 {
            ok!(cuStreamUpdateCaptureDependencies(on, first.as_mut_ptr(), 1, 0));
        }
        assert_eq!(last().len(), 2);
        let mut wrong = [ptr::null_mut()];
        assert_eq!(code!(cuStreamUpdateCaptureDependencies(on, wrong.as_mut_ptr(), 1, 0)), 1);
        assert_eq!(code!(cuStreamUpdateCaptureDependencies(on, first.as_mut_ptr(), 1, 2)), 1);
        assert_eq!(code!(cuStreamUpdateCaptureDependencies(other, ptr::null_mut(), 0, 1)), 401);
        fill(on, memory);
        let (answer, graph) = end_of(on);
        assert_eq!((answer, counts(graph)), (0, (3, 2)));
        // A capture goes on behind a node that is there.
        ok!(cuStreamBeginCaptureToGraph(on, graph, first.as_ptr(), ptr::null(), 1, RELAXED));
        fill(on, memory);
        let (answer, same) = end_of(on);
        assert_eq!((answer, same, counts(graph)), (0, graph, (4, 3)));
        ok!(cuGraphDestroy(graph));
        for on in [on, other] {
            ok!(cuStreamDestroy_v2(on));
        }
        free(memory);
        end();
    });
}

#[test]
fn what_passes_between_processes_passes_in_every_mode() {
    two_processes!(|| {
        start();
        let mut other = Remote::start();
        let memory = other.alloc(4096);
        let handle = other.handle(memory);
        let event = other.record_behind_work(0);
        let on = stream(1);
        for mode in 0..3 {
            ok!(cuStreamBeginCapture_v2(on, CUstreamCaptureMode(mode)));
            let (opened, address) = open(handle, 1);
            let (event_opened, its) = open_event(event);
            assert_eq!((opened, event_opened, status(on)), (0, 0, 1), "mode {mode}");
            ok!(cuIpcCloseMemHandle(CUdeviceptr(address)));
            ok!(cuEventDestroy_v2(its));
            assert_eq!(status(on), 1, "mode {mode}");
            let (answer, graph) = end_of(on);
            assert_eq!(answer, 0);
            ok!(cuGraphDestroy(graph));
        }
        ok!(cuStreamDestroy_v2(on));
        assert_eq!(other.code(&format!("free {memory}")), 0);
        other.end();
        end();
    });
}
