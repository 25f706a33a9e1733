//! Stream capture. The rules are in `engine::capture`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;

use cuda_sys::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUresult, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, cuuint64_t,
};

use crate::driver::graph::{dependencies, dependencies_with};
use crate::engine::capture::{Capture, CaptureId, Tail};
use crate::engine::clock::LaneId;
use crate::engine::current;
use crate::engine::graph::Dependency;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::lane::LaneKind;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

const ILLEGAL_STATE: CUresult = CUresult::CUDA_ERROR_ILLEGAL_STATE;
const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// Begins a capture: into a new graph, or behind nodes of one that is there.
fn begin(
    mut session: Session,
    stream: CUstream,
    mode: CUstreamCaptureMode,
    into: Option<(Handle, Vec<Dependency>)>,
) -> Answer {
    if mode.0 > RELAXED.0 {
        return Err(INVALID_VALUE);
    }
    let lane = session.lane(stream)?;
    // Manual.
    if session.lanes.get(lane).is_some_and(|lane| lane.kind == LaneKind::Legacy) {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    // Measured.
    if session.captures.of(lane).is_some() {
        return Err(ILLEGAL_STATE);
    }
    let adds_to_a_graph = into.is_some();
    let (graph, before) = match into {
        Some((graph, before)) => {
            session.graphs.check_dependencies(graph, &before)?;
            if session.graph(graph)?.is_captured {
                return Err(INVALID_VALUE);
            }
            (graph, before)
        }
        None => {
            let made_by = Side::new(session.call(), "");
            (session.graphs.create(made_by)?, Vec::new())
        }
    };
    session.graph(graph)?.is_captured = true;
    session.captures.add(Capture {
        mode: mode.0,
        thread: std::thread::current().id(),
        origin: lane,
        graph,
        adds_to_a_graph,
        is_invalid: false,
        lanes: [(lane, Tail::of(&before))].into(),
    });
    Ok(())
}

/// Ends a capture: it must have begun on the stream, in the thread unless it is relaxed, and all
/// streams that joined it must have been joined again.
fn end(mut session: Session, stream: CUstream, out: &Out<CUgraph>) -> Answer {
    out.required()?;
    out.write(std::ptr::null_mut());
    let lane = session.lane(stream)?;
    session.refuse_to_tell(lane)?;
    let id = session.captures.of(lane).ok_or(ILLEGAL_STATE)?;
    let capture = session.captures.all.get(&id).ok_or(ILLEGAL_STATE)?;
    // Manual, with the answers of the errors' names.
    if capture.origin != lane {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if capture.mode != RELAXED.0 && capture.thread != std::thread::current().id() {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    }
    if capture.is_invalid {
        session.drop_capture(id);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    let tail = capture.lanes.get(&lane).cloned().unwrap_or_default();
    let joined = session.graphs.with_all_before(&tail.nodes);
    let mut ends = capture.lanes.values().flat_map(|tail| &tail.nodes);
    if ends.any(|node| !joined.contains(node)) {
        session.drop_capture(id);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    }
    let graph = capture.graph;
    session.captures.all.remove(&id);
    session.graph(graph)?.is_captured = false;
    out.write(CUgraph::from_number(graph));
    Ok(())
}

/// Returns the lane of a stream, its status, and its capture.
fn status(
    session: &mut Session,
    stream: CUstream,
) -> Result<(LaneId, CUstreamCaptureStatus, Option<CaptureId>), CUresult> {
    let lane = session.lane(stream)?;
    session.refuse_to_tell(lane)?;
    let capture = session.captures.of(lane);
    let status = match capture.and_then(|id| session.captures.all.get(&id)) {
        None => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
        Some(capture) if capture.is_invalid => {
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED
        }
        Some(_) => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
    };
    let active = status == CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE;
    Ok((lane, status, capture.filter(|_| active)))
}

/// Is where a call wants to know of a capture.
struct Wanted<'a> {
    status: &'a Out<CUstreamCaptureStatus>,
    id: &'a Out<cuuint64_t>,
    graph: &'a Out<CUgraph>,
    nodes: &'a Out<*const CUgraphNode>,
    edges: &'a Out<*const CUgraphEdgeData>,
    count: &'a Out<usize>,
}

/// Tells what there is to know; what is written lies until the next call on the stream (manual).
fn tell(mut session: Session, stream: CUstream, wanted: &Wanted<'_>, with_edges: bool) -> Answer {
    wanted.status.required()?;
    let (lane, status, capture) = status(&mut session, stream)?;
    wanted.status.write(status);
    let Some(id) = capture else { return Ok(()) };
    let Some(capture) = session.captures.all.get(&id) else { return Ok(()) };
    wanted.id.write(id);
    wanted.graph.write(CUgraph::from_number(capture.graph));
    let Some(tail) = capture.lanes.get(&lane) else { return Ok(()) };
    let is_plain = tail.dependencies().iter().all(Dependency::is_full);
    if !is_plain && wanted.edges.is_null() && (with_edges || !wanted.nodes.is_null()) {
        return Err(CUresult::CUDA_ERROR_LOSSY_QUERY);
    }
    wanted.nodes.write(tail.nodes.as_ptr().cast());
    wanted.edges.write(tail.edges.as_ptr());
    wanted.count.write(tail.nodes.len());
    Ok(())
}

/// Sets or extends what the next node of a captured stream depends on.
fn update(
    mut session: Session,
    stream: CUstream,
    dependencies: Vec<Dependency>,
    flags: c_uint,
) -> Answer {
    if flags > 1 {
        return Err(INVALID_VALUE);
    }
    let lane = session.lane(stream)?;
    session.refuse_to_tell(lane)?;
    let id = session.capturing(lane)?.ok_or(ILLEGAL_STATE)?;
    let graph = session.captures.all.get(&id).map_or(0, |capture| capture.graph);
    session.graphs.check_dependencies(graph, &dependencies)?;
    let capture = session.captures.all.get_mut(&id).ok_or(ILLEGAL_STATE)?;
    let tail = capture.lanes.entry(lane).or_default();
    if flags == 1 {
        *tail = Tail::default();
    }
    tail.extend(&dependencies);
    Ok(())
}

simulate! {
    /// Begins a capture in mode GLOBAL.
    fn cuStreamBeginCapture(stream: val CUstream) with cuStreamBeginCapture_ptsz |session| {
        begin(session, stream, GLOBAL, None)
    }

    /// Begins a capture.
    fn cuStreamBeginCapture_v2(stream: val CUstream, mode: val CUstreamCaptureMode)
    with cuStreamBeginCapture_v2_ptsz |session| {
        begin(session, stream, mode, None)
    }

    /// Begins a capture that adds to a graph, behind some of its nodes.
    fn cuStreamBeginCaptureToGraph(
        stream: val CUstream, graph: val CUgraph, nodes: into CUgraphNode,
        data: into CUgraphEdgeData, count: val usize, mode: val CUstreamCaptureMode,
    ) with cuStreamBeginCaptureToGraph_ptsz |mut session| {
        session.graph(graph.number())?;
        let before = dependencies_with(&nodes, &data, count)?;
        begin(session, stream, mode, Some((graph.number(), before)))
    }

    /// Ends a capture, and gives its graph.
    fn cuStreamEndCapture(stream: val CUstream, graph: out CUgraph)
    with cuStreamEndCapture_ptsz |session| {
        end(session, stream, &graph)
    }

    /// Tells whether a stream is captured.
    fn cuStreamIsCapturing(stream: val CUstream, capturing: out CUstreamCaptureStatus)
    with cuStreamIsCapturing_ptsz |mut session| {
        capturing.required()?;
        capturing.write(status(&mut session, stream)?.1);
        Ok(())
    }

    /// Tells of a stream's capture its status and id.
    fn cuStreamGetCaptureInfo(
        stream: val CUstream, status: out CUstreamCaptureStatus, id: out cuuint64_t,
    ) with cuStreamGetCaptureInfo_ptsz |session| {
        let (graph, nodes) = (&Out::nowhere(), &Out::nowhere());
        let (status, id, edges, count) = (&status, &id, &Out::nowhere(), &Out::nowhere());
        tell(session, stream, &Wanted { status, id, graph, nodes, edges, count }, false)
    }

    /// Tells of a stream's capture also its graph, and what the next node depends on.
    fn cuStreamGetCaptureInfo_v2(
        stream: val CUstream, status: out CUstreamCaptureStatus, id: out cuuint64_t,
        graph: out CUgraph, nodes: out *const CUgraphNode, count: out usize,
    ) with cuStreamGetCaptureInfo_v2_ptsz |session| {
        let (status, id, edges) = (&status, &id, &Out::nowhere());
        let (graph, nodes, count) = (&graph, &nodes, &count);
        tell(session, stream, &Wanted { status, id, graph, nodes, edges, count }, false)
    }

    /// Tells of a stream's capture also the kinds of edges of the next node.
    fn cuStreamGetCaptureInfo_v3(
        stream: val CUstream, status: out CUstreamCaptureStatus, id: out cuuint64_t,
        graph: out CUgraph, nodes: out *const CUgraphNode, edges: out *const CUgraphEdgeData,
        count: out usize,
    ) with cuStreamGetCaptureInfo_v3_ptsz |session| {
        let (status, id, edges) = (&status, &id, &edges);
        let (graph, nodes, count) = (&graph, &nodes, &count);
        tell(session, stream, &Wanted { status, id, graph, nodes, edges, count }, true)
    }

    /// Changes what the next node of a captured stream depends on.
    fn cuStreamUpdateCaptureDependencies(
        stream: val CUstream, nodes: out CUgraphNode, count: val usize, flags: val c_uint,
    ) with cuStreamUpdateCaptureDependencies_ptsz |session| {
        let before = dependencies(&nodes.as_in(), count)?;
        update(session, stream, before, flags)
    }

    /// Changes what the next node of a captured stream depends on, with the kinds of edges.
    fn cuStreamUpdateCaptureDependencies_v2(
        stream: val CUstream, nodes: out CUgraphNode, data: into CUgraphEdgeData,
        count: val usize, flags: val c_uint,
    ) with cuStreamUpdateCaptureDependencies_v2_ptsz |session| {
        let before = dependencies_with(&nodes.as_in(), &data, count)?;
        update(session, stream, before, flags)
    }

    /// Exchanges the calling thread's mode, which decides what other captures refuse it.
    fn cuThreadExchangeStreamCaptureMode(mode: out CUstreamCaptureMode) |_session| {
        let wanted = mode.read()?;
        if wanted.0 > RELAXED.0 {
            return Err(INVALID_VALUE);
        }
        mode.write(CUstreamCaptureMode(current::exchange_capture_mode(wanted.0)));
        Ok(())
    }
}
