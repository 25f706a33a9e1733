//! Writes a graph as text in the language of `dot`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_char, c_uint};
use std::fmt::Write as _;

use cuda_sys::{CUgraph, CUgraphNodeType, CUresult};

use crate::engine::graph::{Graphs, Operation};
use crate::engine::handle::{Handle, RawHandle};
use crate::entry::simulate;

/// Returns what a drawing calls a kind of node.
const fn word(kind: CUgraphNodeType) -> &'static str {
    match kind {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => "KERNEL",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => "MEMCPY",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => "MEMSET",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST => "HOST",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => "GRAPH",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT => "EVENT_WAIT",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD => "EVENT_RECORD",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => "BATCH_MEM_OP",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => "MEM_ALLOC",
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE => "MEM_FREE",
        _ => "EMPTY",
    }
}

/// Draws a graph and, as clusters, the graphs inside of it.
fn draw(graphs: &Graphs, graph: Handle, text: &mut String) -> std::fmt::Result {
    let Some(found) = graphs.graphs.get(graph) else { return Ok(()) };
    writeln!(text, "subgraph cluster_{} {{", found.id)?;
    for &handle in &found.nodes {
        let Some(node) = graphs.nodes.get(handle) else { continue };
        let (id, kind) = (node.tools_id, word(node.operation.kind()));
        writeln!(text, "\"node_{id}\"[label=\"{} {kind}\"];", node.local_id)?;
        for dependency in &node.dependencies {
            if let Some(other) = graphs.nodes.get(dependency.node) {
                writeln!(text, "\"node_{}\" -> \"node_{id}\";", other.tools_id)?;
            }
        }
        if let Operation::Child(child) = node.operation {
            draw(graphs, child, text)?;
        }
    }
    writeln!(text, "}}")
}

simulate! {
    /// Writes a drawing of a graph to a file; flags that ask for more are taken and do nothing.
    fn cuGraphDebugDotPrint(graph: val CUgraph, path: into c_char, flags: val c_uint)
    |mut session| {
        let _ = flags;
        session.graph(graph.number())?;
        let path = path.text()?;
        let mut text = "digraph dot {\n".to_owned();
        // Writing to a string does not fail.
        let _ = draw(&session.graphs, graph.number(), &mut text);
        text.push_str("}\n");
        std::fs::write(path, text).map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)
    }
}
