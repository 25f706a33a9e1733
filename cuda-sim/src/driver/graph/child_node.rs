//! Nodes that are graphs.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::sync::Arc;

use cuda_sys::{CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult};

use crate::driver::graph::node::operation_of;
use crate::driver::graph::{add_node, dependencies};
use crate::engine::graph::Operation;
use crate::engine::graph::update::may_become;
use crate::engine::handle::{Handle, RawHandle};
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};
use crate::report::Side;

/// Makes the operation of a clone of a graph; one that allocates can't be cloned.
pub(super) fn clone_of(session: &mut Session, child: CUgraph) -> Result<Operation, CUresult> {
    session.graph(child.number())?;
    if session.graphs.has_memory_nodes(child.number()) {
        return Err(INVALID_VALUE);
    }
    let made_by = Side::new(session.call(), "");
    Ok(Operation::Child(session.graphs.duplicate(child.number(), &made_by)?))
}

/// Makes the operation of a graph that the program gives away.
pub(super) fn moved(
    session: &mut Session,
    graph: CUgraph,
    child: CUgraph,
) -> Result<Operation, CUresult> {
    let is_free = session.graph(child.number())?.is_the_programs();
    let mut outer = Some(graph.number());
    while let Some(handle) = outer {
        if handle == child.number() {
            return Err(INVALID_VALUE);
        }
        let parent = session.graph(handle)?.parent;
        outer = parent.and_then(|node| session.graphs.nodes.get(node)).map(|node| node.graph);
    }
    if is_free { Ok(Operation::Child(child.number())) } else { Err(INVALID_VALUE) }
}

/// Gives the nodes inside of a node of an executable graph the parameters of a graph's nodes.
pub(super) fn replace_inside(
    session: &mut Session,
    exec: CUgraphExec,
    node: CUgraphNode,
    child: Handle,
) -> Answer {
    session.graph(child)?;
    let new = session.graphs.steps_of(child).map_err(|_| INVALID_VALUE)?;
    let steps = Arc::make_mut(&mut session.exec(exec.number())?.steps);
    let of_node = |is_entry| {
        move |step: &crate::engine::graph::exec::Step| {
            step.node == node.number() && step.is_entry == is_entry
        }
    };
    let entry = steps.iter().position(of_node(true)).ok_or(INVALID_VALUE)?;
    let exit = steps.iter().position(of_node(false)).ok_or(INVALID_VALUE)?;
    let inside = steps.get_mut(entry + 1..exit).ok_or(INVALID_VALUE)?;
    let same = inside.len() == new.len()
        && inside.iter().zip(&new).all(|(old, new)| {
            let after: Vec<_> = match new.after.is_empty() {
                true => vec![entry],
                false => new.after.iter().map(|index| index + entry + 1).collect(),
            };
            old.after == after && may_become(&old.operation, &new.operation)
        });
    if !same {
        return Err(INVALID_VALUE);
    }
    for (old, new) in inside.iter_mut().zip(new) {
        old.operation = new.operation;
    }
    Ok(())
}

simulate! {
    /// Adds a node that runs a clone of a graph.
    fn cuGraphAddChildGraphNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        child: val CUgraph,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let before = dependencies(&nodes, count)?;
        session.graphs.check_dependencies(graph.number(), &before)?;
        let new = clone_of(&mut session, child)?;
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells the graph inside of a node, which belongs to the node.
    fn cuGraphChildGraphNodeGetGraph(node: val CUgraphNode, graph: out CUgraph) |mut session| {
        graph.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH;
        let Operation::Child(child) = operation_of(&mut session, node, kind)? else {
            return Err(INVALID_VALUE);
        };
        graph.write(CUgraph::from_number(child));
        Ok(())
    }

    /// Sets what the nodes inside of a node of an executable graph do.
    fn cuGraphExecChildGraphNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, child: val CUgraph,
    ) |mut session| {
        replace_inside(&mut session, exec, node, child.number())
    }
}
