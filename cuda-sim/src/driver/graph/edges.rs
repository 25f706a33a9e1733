//! Edges: told, added and removed.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{CUgraph, CUgraphEdgeData, CUgraphNode, CUresult};

use crate::driver::graph::tell_list;
use crate::engine::graph::Dependency;
use crate::engine::handle::{Handle, RawHandle};
use crate::entry::{Answer, INVALID_VALUE, In, Out, Session, simulate};

/// Reads pairs of nodes, and how each second depends on its first.
fn pairs(
    from: &In<CUgraphNode>,
    to: &In<CUgraphNode>,
    data: Option<&In<CUgraphEdgeData>>,
    count: usize,
) -> Result<Vec<(Handle, Handle, CUgraphEdgeData)>, CUresult> {
    let data = match data.filter(|data| !data.is_null()) {
        Some(data) => data.read_all(count)?,
        None => vec![CUgraphEdgeData::zeroed(); count.min(1 << 24)],
    };
    let nodes = from.read_all(count)?.into_iter().zip(to.read_all(count)?);
    Ok(nodes.zip(data).map(|((from, to), data)| (from.number(), to.number(), data)).collect())
}

/// Adds edges: all of them or, if one is refused, none.
fn add(
    mut session: Session,
    graph: CUgraph,
    pairs: &[(Handle, Handle, CUgraphEdgeData)],
) -> Answer {
    session.graph(graph.number())?;
    for (index, &(from, to, data)) in pairs.iter().enumerate() {
        if let Err(code) = session.graphs.connect(graph.number(), from, to, data) {
            for &(from, to, data) in pairs.iter().take(index) {
                session.graphs.disconnect(graph.number(), from, to, data)?;
            }
            return Err(code);
        }
    }
    Ok(())
}

/// Removes edges: all of them or, if one is refused, none.
fn remove(
    mut session: Session,
    graph: CUgraph,
    pairs: &[(Handle, Handle, CUgraphEdgeData)],
) -> Answer {
    session.graph(graph.number())?;
    // Manual, of graphs that allocate or free.
    if session.graphs.has_memory_nodes(graph.number()) {
        return Err(INVALID_VALUE);
    }
    for (index, &(from, to, data)) in pairs.iter().enumerate() {
        if let Err(code) = session.graphs.disconnect(graph.number(), from, to, data) {
            for &(from, to, data) in pairs.iter().take(index) {
                session.graphs.connect(graph.number(), from, to, data)?;
            }
            return Err(code);
        }
    }
    Ok(())
}

/// Tells nodes with edges; edges that aren't ordinary ask for a place for their data.
fn tell(
    dependencies: &[Dependency],
    nodes: &Out<CUgraphNode>,
    data: &Out<CUgraphEdgeData>,
    count: &Out<usize>,
) -> Answer {
    let room = if nodes.is_null() { 0 } else { count.read()? };
    lossless(dependencies, nodes.is_null(), data)?;
    let list: Vec<_> =
        dependencies.iter().map(|dependency| CUgraphNode::from_number(dependency.node)).collect();
    tell_list(&list, nodes, count, std::ptr::null_mut())?;
    for (index, dependency) in dependencies.iter().take(room).enumerate() {
        data.write_at(index, dependency.data);
    }
    Ok(())
}

/// Refuses to leave away the data of edges that have some.
fn lossless(dependencies: &[Dependency], only_counts: bool, data: &Out<CUgraphEdgeData>) -> Answer {
    let is_lossy = !only_counts && data.is_null() && !dependencies.iter().all(Dependency::is_full);
    if is_lossy { Err(CUresult::CUDA_ERROR_LOSSY_QUERY) } else { Ok(()) }
}

fn tell_edges(
    mut session: Session,
    graph: CUgraph,
    places: [&Out<CUgraphNode>; 2],
    data: &Out<CUgraphEdgeData>,
    count: &Out<usize>,
) -> Answer {
    session.graph(graph.number())?;
    count.required()?;
    let [from, to] = places;
    if from.is_null() != to.is_null() {
        return Err(INVALID_VALUE);
    }
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    for node in session.graphs.nodes_of(graph.number()) {
        for dependency in session.graphs.dependencies_of(node) {
            firsts.push(dependency);
            seconds.push(CUgraphNode::from_number(node));
        }
    }
    let room = if to.is_null() { seconds.len() } else { count.read()? };
    tell(&firsts, from, data, count)?;
    let written = count.read()?;
    count.write(room);
    tell_list(&seconds, to, count, std::ptr::null_mut())?;
    count.write(written);
    Ok(())
}

simulate! {
    /// Tells the edges of a graph.
    fn cuGraphGetEdges(
        graph: val CUgraph, from: out CUgraphNode, to: out CUgraphNode, count: out usize,
    ) |session| {
        tell_edges(session, graph, [&from, &to], &Out::nowhere(), &count)
    }

    /// Tells the edges of a graph, with their data.
    fn cuGraphGetEdges_v2(
        graph: val CUgraph, from: out CUgraphNode, to: out CUgraphNode, data: out CUgraphEdgeData,
        count: out usize,
    ) |session| {
        tell_edges(session, graph, [&from, &to], &data, &count)
    }

    /// Adds edges.
    fn cuGraphAddDependencies(
        graph: val CUgraph, from: into CUgraphNode, to: into CUgraphNode, count: val usize,
    ) |session| {
        add(session, graph, &pairs(&from, &to, None, count)?)
    }

    /// Adds edges with their data.
    fn cuGraphAddDependencies_v2(
        graph: val CUgraph, from: into CUgraphNode, to: into CUgraphNode,
        data: into CUgraphEdgeData, count: val usize,
    ) |session| {
        add(session, graph, &pairs(&from, &to, Some(&data), count)?)
    }

    /// Removes edges.
    fn cuGraphRemoveDependencies(
        graph: val CUgraph, from: into CUgraphNode, to: into CUgraphNode, count: val usize,
    ) |session| {
        remove(session, graph, &pairs(&from, &to, None, count)?)
    }

    /// Removes edges of that data.
    fn cuGraphRemoveDependencies_v2(
        graph: val CUgraph, from: into CUgraphNode, to: into CUgraphNode,
        data: into CUgraphEdgeData, count: val usize,
    ) |session| {
        remove(session, graph, &pairs(&from, &to, Some(&data), count)?)
    }

    /// Tells what a node waits for.
    fn cuGraphNodeGetDependencies(node: val CUgraphNode, nodes: out CUgraphNode, count: out usize)
    |mut session| {
        session.node(node.number())?;
        let found = session.graphs.dependencies_of(node.number());
        tell(&found, &nodes, &Out::nowhere(), &count)
    }

    /// Tells what a node waits for, with the edges' data.
    fn cuGraphNodeGetDependencies_v2(
        node: val CUgraphNode, nodes: out CUgraphNode, data: out CUgraphEdgeData, count: out usize,
    ) |mut session| {
        session.node(node.number())?;
        let found = session.graphs.dependencies_of(node.number());
        tell(&found, &nodes, &data, &count)
    }

    /// Tells what waits for a node.
    fn cuGraphNodeGetDependentNodes(node: val CUgraphNode, nodes: out CUgraphNode, count: out usize)
    |mut session| {
        session.node(node.number())?;
        let found = session.graphs.dependents_of(node.number());
        tell(&found, &nodes, &Out::nowhere(), &count)
    }

    /// Tells what waits for a node, with the edges' data.
    fn cuGraphNodeGetDependentNodes_v2(
        node: val CUgraphNode, nodes: out CUgraphNode, data: out CUgraphEdgeData, count: out usize,
    ) |mut session| {
        session.node(node.number())?;
        let found = session.graphs.dependents_of(node.number());
        tell(&found, &nodes, &data, &count)
    }
}
