//! Nodes that record events, or wait for them.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{CUevent, CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult};

use crate::driver::graph::node::{operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::engine::graph::Operation;
use crate::engine::handle::RawHandle;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

const RECORD: CUgraphNodeType = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD;
const WAIT: CUgraphNodeType = CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT;

/// Makes the operation that records an event.
pub(super) fn record(session: &mut Session, event: CUevent) -> Result<Operation, CUresult> {
    session.event(event)?;
    Ok(Operation::Record(event.number()))
}

/// Makes the operation that waits for an event.
pub(super) fn wait(session: &mut Session, event: CUevent) -> Result<Operation, CUresult> {
    session.event(event)?;
    Ok(Operation::Wait(event.number()))
}

/// Returns the event of an operation.
pub(super) fn event_of(operation: &Operation) -> Option<CUevent> {
    match operation {
        Operation::Record(event) | Operation::Wait(event) => Some(CUevent::from_number(*event)),
        _ => None,
    }
}

fn tell(
    mut session: Session,
    node: CUgraphNode,
    kind: CUgraphNodeType,
    place: &Out<CUevent>,
) -> Answer {
    place.required()?;
    let operation = operation_of(&mut session, node, kind)?;
    place.write(event_of(&operation).ok_or(INVALID_VALUE)?);
    Ok(())
}

simulate! {
    /// Adds a node that records an event at each launch.
    fn cuGraphAddEventRecordNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        event: val CUevent,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let (new, before) = (record(&mut session, event)?, dependencies(&nodes, count)?);
        add_node(&mut session, &node, graph, before, new)
    }

    /// Adds a node that waits for what an event recorded before the launch.
    fn cuGraphAddEventWaitNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        event: val CUevent,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let (new, before) = (wait(&mut session, event)?, dependencies(&nodes, count)?);
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells which event a node records.
    fn cuGraphEventRecordNodeGetEvent(node: val CUgraphNode, event: out CUevent) |session| {
        tell(session, node, RECORD, &event)
    }

    /// Tells which event a node waits for.
    fn cuGraphEventWaitNodeGetEvent(node: val CUgraphNode, event: out CUevent) |session| {
        tell(session, node, WAIT, &event)
    }

    /// Sets which event a node records.
    fn cuGraphEventRecordNodeSetEvent(node: val CUgraphNode, event: val CUevent) |mut session| {
        let new = record(&mut session, event)?;
        replace(&mut session, node, new)
    }

    /// Sets which event a node waits for.
    fn cuGraphEventWaitNodeSetEvent(node: val CUgraphNode, event: val CUevent) |mut session| {
        let new = wait(&mut session, event)?;
        replace(&mut session, node, new)
    }

    /// Sets which event a node of an executable graph records.
    fn cuGraphExecEventRecordNodeSetEvent(
        exec: val CUgraphExec, node: val CUgraphNode, event: val CUevent,
    ) |mut session| {
        let new = record(&mut session, event)?;
        replace_in(&mut session, exec, node, &new)
    }

    /// Sets which event a node of an executable graph waits for.
    fn cuGraphExecEventWaitNodeSetEvent(
        exec: val CUgraphExec, node: val CUgraphNode, event: val CUevent,
    ) |mut session| {
        let new = wait(&mut session, event)?;
        replace_in(&mut session, exec, node, &new)
    }
}
