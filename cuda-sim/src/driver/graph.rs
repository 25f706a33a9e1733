//! Graphs: made, asked about, cloned and destroyed. Answers are the manual's.
//!
//! Nodes of each kind have a file; `engine::graph` has what they are made of.
#![expect(non_snake_case, reason = "functions have the names of C")]

mod allocation_node;
mod child_node;
mod copy_node;
mod dot;
mod edges;
mod event_node;
mod exec;
mod fill_node;
mod generic_node;
mod host_node;
mod kernel_node;
mod memory_operation_node;
mod node;
mod object;
mod update;

use std::ffi::c_uint;

use cuda_sys::{CUgraph, CUgraphEdgeData, CUgraphNode, CUresult};

pub(crate) use allocation_node::*;
pub(crate) use child_node::*;
pub(crate) use copy_node::*;
pub(crate) use dot::*;
pub(crate) use edges::*;
pub(crate) use event_node::*;
pub(crate) use exec::*;
pub(crate) use fill_node::*;
pub(crate) use generic_node::*;
pub(crate) use host_node::*;
pub(crate) use kernel_node::*;
pub(crate) use memory_operation_node::*;
pub(crate) use node::*;
pub(crate) use object::*;
pub(crate) use update::*;

use crate::engine::graph::{Dependency, Operation};
use crate::engine::handle::{Handle, RawHandle};
use crate::entry::{Answer, INVALID_VALUE, In, Out, Session, simulate};
use crate::report::Side;

/// Reads nodes that something depends on in the ordinary way.
pub(crate) fn dependencies(
    nodes: &In<CUgraphNode>,
    count: usize,
) -> Result<Vec<Dependency>, CUresult> {
    let nodes = nodes.read_all(count)?;
    Ok(nodes.into_iter().map(|node| Dependency::full(node.number())).collect())
}

/// Reads nodes that something depends on, and how; null means in the ordinary way.
pub(crate) fn dependencies_with(
    nodes: &In<CUgraphNode>,
    data: &In<CUgraphEdgeData>,
    count: usize,
) -> Result<Vec<Dependency>, CUresult> {
    let mut dependencies = dependencies(nodes, count)?;
    if !data.is_null() {
        for (dependency, data) in dependencies.iter_mut().zip(data.read_all(count)?) {
            dependency.data = data;
        }
    }
    Ok(dependencies)
}

/// Adds a node to a graph, and tells its handle.
pub(crate) fn add_node(
    session: &mut Session,
    out: &Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: Vec<Dependency>,
    operation: Operation,
) -> Answer {
    let made_by = Side::new(session.call(), "");
    let node = session.graphs.add(graph.number(), dependencies, operation, made_by)?;
    out.write(CUgraphNode::from_number(node));
    Ok(())
}

/// Refuses what may not be done to a graph that a capture adds to, or that belongs to a node.
fn owned(session: &mut Session, graph: CUgraph) -> Result<Handle, CUresult> {
    if session.graph(graph.number())?.is_the_programs() {
        Ok(graph.number())
    } else {
        Err(INVALID_VALUE)
    }
}

/// Tells a list as the driver does: without a place for it the number of entries; else as many as
/// fit, null for those that the place has room for beyond them, and how many were written.
pub(crate) fn tell_list<T>(entries: &[T], place: &Out<T>, count: &Out<usize>, none: T) -> Answer
where
    T: Copy,
{
    count.required()?;
    if place.is_null() {
        count.write(entries.len());
        return Ok(());
    }
    let room = count.read()?;
    for index in 0..room {
        place.write_at(index, entries.get(index).copied().unwrap_or(none));
    }
    count.write(entries.len().min(room));
    Ok(())
}

fn tell_nodes(nodes: &[Handle], place: &Out<CUgraphNode>, count: &Out<usize>) -> Answer {
    let nodes: Vec<_> = nodes.iter().map(|&node| CUgraphNode::from_number(node)).collect();
    tell_list(&nodes, place, count, std::ptr::null_mut())
}

simulate! {
    /// Creates an empty graph.
    fn cuGraphCreate(graph: out CUgraph, flags: val c_uint) |mut session| {
        graph.required()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let made_by = Side::new(session.call(), "");
        graph.write(CUgraph::from_number(session.graphs.create(made_by)?));
        Ok(())
    }

    /// Destroys a graph with its nodes; what was made of it stays.
    fn cuGraphDestroy(graph: val CUgraph) |mut session| {
        let graph = owned(&mut session, graph)?;
        session.destroy_graph(graph);
        Ok(())
    }

    /// Clones a graph with those inside of it; not one that allocates (measured).
    fn cuGraphClone(clone: out CUgraph, graph: val CUgraph) |mut session| {
        clone.required()?;
        session.graph(graph.number())?;
        if session.graphs.has_memory_nodes(graph.number()) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let made_by = Side::new(session.call(), "");
        let new = session.graphs.duplicate(graph.number(), &made_by)?;
        clone.write(CUgraph::from_number(new));
        Ok(())
    }

    /// Tells a graph's nodes.
    fn cuGraphGetNodes(graph: val CUgraph, nodes: out CUgraphNode, count: out usize)
    |mut session| {
        session.graph(graph.number())?;
        tell_nodes(&session.graphs.nodes_of(graph.number()), &nodes, &count)
    }

    /// Tells the nodes of a graph that wait for none.
    fn cuGraphGetRootNodes(graph: val CUgraph, nodes: out CUgraphNode, count: out usize)
    |mut session| {
        session.graph(graph.number())?;
        let mut roots = session.graphs.nodes_of(graph.number());
        roots.retain(|&node| session.graphs.dependencies_of(node).is_empty());
        tell_nodes(&roots, &nodes, &count)
    }

    /// Tells a graph's number, which no other graph of the process has or had.
    fn cuGraphGetId(graph: val CUgraph, id: out c_uint) |mut session| {
        id.required()?;
        id.write(session.graph(graph.number())?.id);
        Ok(())
    }
}
