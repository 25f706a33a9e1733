//! What nodes of all kinds have, and nodes that do nothing.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_uint, c_ulonglong};

use cuda_sys::{CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult};

use crate::driver::graph::{add_node, dependencies};
use crate::engine::graph::Operation;
use crate::engine::graph::update::may_become;
use crate::engine::handle::RawHandle;
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

/// Returns what a node does, which must be of that kind.
pub(super) fn operation_of(
    session: &mut Session,
    node: CUgraphNode,
    kind: CUgraphNodeType,
) -> Result<Operation, CUresult> {
    let operation = session.node(node.number())?.operation.clone();
    if operation.kind() == kind { Ok(operation) } else { Err(INVALID_VALUE) }
}

/// Lets a node do something else of its kind.
pub(super) fn replace(session: &mut Session, node: CUgraphNode, new: Operation) -> Answer {
    operation_of(session, node, new.kind())?;
    session.node(node.number())?.operation = new;
    Ok(())
}

/// Returns what a node does in an executable graph; the node must still be in its own.
pub(super) fn operation_in(
    session: &mut Session,
    exec: CUgraphExec,
    node: CUgraphNode,
) -> Result<Operation, CUresult> {
    session.node(node.number())?;
    let steps = &session.exec(exec.number())?.steps;
    let step = steps.iter().find(|step| step.node == node.number() && !step.is_entry);
    Ok(step.ok_or(INVALID_VALUE)?.operation.clone())
}

/// Lets a node of an executable graph do something else of its kind; the graph's own stays. A node that
/// was removed from the graph answers 1 (measured).
pub(super) fn replace_in(
    session: &mut Session,
    exec: CUgraphExec,
    node: CUgraphNode,
    new: &Operation,
) -> Answer {
    session.node(node.number())?;
    let steps = std::sync::Arc::make_mut(&mut session.exec(exec.number())?.steps);
    let step = steps.iter_mut().find(|step| step.node == node.number() && !step.is_entry);
    let step = step.filter(|step| may_become(&step.operation, new)).ok_or(INVALID_VALUE)?;
    step.operation = new.clone();
    Ok(())
}

simulate! {
    /// Adds a node that does nothing.
    fn cuGraphAddEmptyNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let before = dependencies(&nodes, count)?;
        add_node(&mut session, &node, graph, before, Operation::Empty)
    }

    /// Removes a node with its edges; not from a graph that allocates or frees.
    fn cuGraphDestroyNode(node: val CUgraphNode) |mut session| {
        let graph = session.node(node.number())?.graph;
        // Measured.
        if session.graphs.has_memory_nodes(graph) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        session.destroy_node(node.number());
        Ok(())
    }

    /// Tells the kind of a node.
    fn cuGraphNodeGetType(node: val CUgraphNode, kind: out CUgraphNodeType) |mut session| {
        kind.required()?;
        kind.write(session.node(node.number())?.operation.kind());
        Ok(())
    }

    /// Finds the clone of a node in a clone of its graph.
    fn cuGraphNodeFindInClone(
        clone: out CUgraphNode, original: val CUgraphNode, graph: val CUgraph,
    ) |mut session| {
        clone.required()?;
        session.graph(graph.number())?;
        let nodes = session.graphs.nodes_of(graph.number());
        let is_clone = |node: &u64| {
            let node = session.graphs.nodes.get(*node);
            node.is_some_and(|node| node.original == Some(original.number()))
        };
        let found = nodes.into_iter().find(is_clone).ok_or(INVALID_VALUE)?;
        clone.write(CUgraphNode::from_number(found));
        Ok(())
    }

    /// Tells which graph a node is of.
    fn cuGraphNodeGetContainingGraph(node: val CUgraphNode, graph: out CUgraph) |mut session| {
        graph.required()?;
        graph.write(CUgraph::from_number(session.node(node.number())?.graph));
        Ok(())
    }

    /// Tells a node's number in its graph.
    fn cuGraphNodeGetLocalId(node: val CUgraphNode, id: out c_uint) |mut session| {
        id.required()?;
        id.write(session.node(node.number())?.local_id);
        Ok(())
    }

    /// Tells a node's number, which no other node of the process has or had.
    fn cuGraphNodeGetToolsId(node: val CUgraphNode, id: out c_ulonglong) |mut session| {
        id.required()?;
        id.write(session.node(node.number())?.tools_id);
        Ok(())
    }
}
