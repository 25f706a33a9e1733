//! Executable graphs: made, launched, destroyed.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_uint, c_ulonglong};

use cuda_sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphExec, CUgraphInstantiateResult, CUgraphNode,
    CUgraphNodeType, CUresult, CUstream, cuuint64_t,
};

use crate::engine::capture::CaptureId;
use crate::engine::clock::LaneId;
use crate::engine::graph::exec::Circle;
use crate::engine::graph::{Dependency, Operation};
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::work::Work;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// `CUDA_GRAPH_INSTANTIATE_FLAG_…`.
const FLAGS: u64 = 15;
const AUTO_FREE: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;

/// Is why a graph was not made executable.
struct Refusal {
    code: CUresult,
    why: CUgraphInstantiateResult,
    /// The node that was wrong, if one was.
    node: CUgraphNode,
}

impl From<CUresult> for Refusal {
    fn from(code: CUresult) -> Self {
        let why = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_ERROR;
        Self { code, why, node: std::ptr::null_mut() }
    }
}

impl From<Circle> for Refusal {
    fn from(circle: Circle) -> Self {
        Self {
            // Measured.
            code: INVALID_VALUE,
            why: CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
            node: CUgraphNode::from_number(circle.node),
        }
    }
}

fn instantiate(
    session: &mut Session,
    exec: &Out<CUgraphExec>,
    graph: CUgraph,
    flags: u64,
) -> Result<(), Refusal> {
    exec.required()?;
    // Manual: who launches on the device frees by himself.
    if flags & !FLAGS != 0 || flags & (AUTO_FREE | DEVICE_LAUNCH) == AUTO_FREE | DEVICE_LAUNCH {
        return Err(INVALID_VALUE.into());
    }
    // Only the host launches here.
    if flags & DEVICE_LAUNCH != 0 {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED.into());
    }
    let made_by = Side::new(session.call(), "");
    session.graph(graph.number())?;
    // Measured: a graph is of no context, but is made executable in one.
    session.context()?;
    let steps = session.graphs.steps_of(graph.number())?;
    let handle = session.instantiate(graph.number(), steps, flags, made_by)?;
    exec.write(CUgraphExec::from_number(handle));
    Ok(())
}

/// Makes a graph executable, for calls that name a node that was wrong.
fn instantiate_with_log(
    mut session: Session,
    exec: &Out<CUgraphExec>,
    graph: CUgraph,
    wrong: &Out<CUgraphNode>,
    log: (&Out<c_char>, usize),
) -> Answer {
    let outcome = instantiate(&mut session, exec, graph, 0);
    wrong.write(outcome.as_ref().map_or_else(|refusal| refusal.node, |()| std::ptr::null_mut()));
    if log.1 > 0 {
        log.0.write(0);
    }
    outcome.map_err(|refusal| refusal.code)
}

/// Lets a captured stream launch an executable graph: its nodes become a graph inside of a node.
fn capture_launch(session: &mut Session, capture: CaptureId, lane: LaneId, exec: Handle) -> Answer {
    let steps = std::sync::Arc::clone(&session.exec(exec)?.steps);
    if !session.exec(exec)?.memory.is_empty() {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let made_by = Side::new(session.call(), "");
    let graph = session.graphs.create(made_by)?;
    let mut nodes: Vec<Handle> = Vec::with_capacity(steps.len());
    for step in steps.iter() {
        let before = step.after.iter().filter_map(|&index| nodes.get(index).copied());
        let before = before.map(Dependency::full).collect();
        let operation = if step.is_enabled { step.operation.clone() } else { Operation::Empty };
        nodes.push(session.graphs.add(graph, before, operation, step.made_by.clone())?);
    }
    session.capture(capture, lane, Operation::Child(graph))?;
    Ok(())
}

fn launch(mut session: Session, exec: CUgraphExec, stream: CUstream) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let steps = std::sync::Arc::clone(&session.exec(exec.number())?.steps);
    session.check_functions(&steps)?;
    if let Some(capture) = session.capturing(lane)? {
        return capture_launch(&mut session, capture, lane, exec.number());
    }
    let is_awaited = steps.iter().any(|step| {
        matches!(step.operation, Operation::Record(_))
            || matches!(step.operation.work(), Some(Work::Call(_)))
    });
    if is_awaited {
        let sim = session.sim;
        session.callbacks.start(sim)?;
    }
    session.launch(exec.number(), lane)
}

/// Returns which step of an executable graph is a node's that may be left out (manual): one that
/// copies, fills, or runs a kernel, and is still in its graph.
fn switchable(
    session: &mut Session,
    exec: CUgraphExec,
    node: CUgraphNode,
) -> Result<usize, CUresult> {
    session.node(node.number())?;
    let steps = &session.exec(exec.number())?.steps;
    let is_it = |kind: CUgraphNodeType| {
        kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL
            || kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY
            || kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET
    };
    steps
        .iter()
        .position(|step| step.node == node.number() && is_it(step.operation.kind()))
        .ok_or(INVALID_VALUE)
}

simulate! {
    /// Makes a graph executable.
    fn cuGraphInstantiate(
        exec: out CUgraphExec, graph: val CUgraph, node: out CUgraphNode, log: out c_char,
        size: val usize,
    ) |session| {
        instantiate_with_log(session, &exec, graph, &node, (&log, size))
    }

    /// Makes a graph executable.
    fn cuGraphInstantiate_v2(
        exec: out CUgraphExec, graph: val CUgraph, node: out CUgraphNode, log: out c_char,
        size: val usize,
    ) |session| {
        instantiate_with_log(session, &exec, graph, &node, (&log, size))
    }

    /// Makes a graph executable.
    fn cuGraphInstantiateWithFlags(
        exec: out CUgraphExec, graph: val CUgraph, flags: val c_ulonglong,
    ) |mut session| {
        instantiate(&mut session, &exec, graph, flags).map_err(|refusal| refusal.code)
    }

    /// Makes a graph executable, and says how it went.
    fn cuGraphInstantiateWithParams(
        exec: out CUgraphExec, graph: val CUgraph, parameters: out CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) with cuGraphInstantiateWithParams_ptsz |mut session| {
        let mut wanted = parameters.read()?;
        let outcome = instantiate(&mut session, &exec, graph, wanted.flags);
        (wanted.result_out, wanted.hErrNode_out) = match &outcome {
            Ok(()) => {
                (CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS, std::ptr::null_mut())
            }
            Err(refusal) => (refusal.why, refusal.node),
        };
        parameters.write(wanted);
        outcome.map_err(|refusal| refusal.code)
    }

    /// Destroys an executable graph, running or not.
    fn cuGraphExecDestroy(exec: val CUgraphExec) |mut session| {
        session.destroy_exec(exec.number())
    }

    /// Tells the flags with which a graph was made executable.
    fn cuGraphExecGetFlags(exec: val CUgraphExec, flags: out cuuint64_t) |mut session| {
        flags.required()?;
        flags.write(session.exec(exec.number())?.flags);
        Ok(())
    }

    /// Tells a number that no other graph of the process has or had.
    fn cuGraphExecGetId(exec: val CUgraphExec, id: out c_uint) |mut session| {
        id.required()?;
        id.write(session.exec(exec.number())?.id);
        Ok(())
    }

    /// Prepares a launch, for which there is nothing to do here.
    fn cuGraphUpload(exec: val CUgraphExec, stream: val CUstream)
    with cuGraphUpload_ptsz |mut session| {
        session.lane_for_work(stream)?;
        session.exec(exec.number())?;
        Ok(())
    }

    /// Launches an executable graph.
    fn cuGraphLaunch(exec: val CUgraphExec, stream: val CUstream)
    with cuGraphLaunch_ptsz |session| {
        launch(session, exec, stream)
    }

    /// Lets later launches run a node or leave it out.
    fn cuGraphNodeSetEnabled(exec: val CUgraphExec, node: val CUgraphNode, enabled: val c_uint)
    |mut session| {
        let index = switchable(&mut session, exec, node)?;
        let steps = std::sync::Arc::make_mut(&mut session.exec(exec.number())?.steps);
        steps.get_mut(index).ok_or(INVALID_VALUE)?.is_enabled = enabled != 0;
        Ok(())
    }

    /// Tells whether launches run a node.
    fn cuGraphNodeGetEnabled(exec: val CUgraphExec, node: val CUgraphNode, enabled: out c_uint)
    |mut session| {
        enabled.required()?;
        let index = switchable(&mut session, exec, node)?;
        let steps = &session.exec(exec.number())?.steps;
        enabled.write(u32::from(steps.get(index).is_some_and(|step| step.is_enabled)));
        Ok(())
    }
}
