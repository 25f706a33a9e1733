//! Nodes that fill.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUgraph, CUgraphExec, CUgraphNode,
    CUgraphNodeType, CUresult,
};

use crate::driver::fill::Fill;
use crate::driver::graph::node::{operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::engine::graph::Operation;
use crate::engine::handle::RawHandle;
use crate::engine::work::Work;
use crate::entry::{INVALID_VALUE, Session, simulate};

/// Makes the operation of what a call says; the context must exist.
pub(super) fn fill(
    session: &mut Session,
    parameters: &CUDA_MEMSET_NODE_PARAMS,
    context: CUcontext,
) -> Result<Operation, CUresult> {
    session.named(context)?;
    let CUDA_MEMSET_NODE_PARAMS { dst: to, pitch, value, elementSize, width, height } = *parameters;
    let bytes = value.to_le_bytes();
    let pattern = match elementSize {
        1 | 2 | 4 => bytes.get(..usize::try_from(elementSize).unwrap_or(0)),
        _ => None,
    };
    let pattern = pattern.ok_or(INVALID_VALUE)?;
    if width == 0 || height == 0 {
        return Err(INVALID_VALUE);
    }
    session.registry.sees_hidden = true;
    let (_, work, touches) = Fill { to, pitch, pattern, width, height }.prepare(session)?;
    Ok(Operation::task(work, touches))
}

/// Returns the parameters that make an operation.
pub(super) fn parameters(operation: &Operation) -> Option<CUDA_MEMSET_NODE_PARAMS> {
    let Some(Work::Fill { to, extent, pattern }) = operation.work() else { return None };
    let mut value = [0; 4];
    for (place, byte) in value.iter_mut().zip(pattern) {
        *place = *byte;
    }
    Some(CUDA_MEMSET_NODE_PARAMS {
        dst: CUdeviceptr(to.area.base),
        pitch: to.rows.pitch,
        value: u32::from_le_bytes(value),
        elementSize: u32::try_from(pattern.len()).ok()?,
        width: extent.width.checked_div(pattern.len())?,
        height: extent.height,
    })
}

simulate! {
    /// Adds a node that fills rows.
    fn cuGraphAddMemsetNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_MEMSET_NODE_PARAMS, context: val CUcontext,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let new = fill(&mut session, &parameters.read()?, context)?;
        let before = dependencies(&nodes, count)?;
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells what a node fills.
    fn cuGraphMemsetNodeGetParams(node: val CUgraphNode, place: out CUDA_MEMSET_NODE_PARAMS)
    |mut session| {
        place.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET;
        let operation = operation_of(&mut session, node, kind)?;
        place.write(parameters(&operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets what a node fills.
    fn cuGraphMemsetNodeSetParams(
        node: val CUgraphNode, parameters: into CUDA_MEMSET_NODE_PARAMS,
    ) |mut session| {
        let new = fill(&mut session, &parameters.read()?, std::ptr::null_mut())?;
        replace(&mut session, node, new)
    }

    /// Sets what a node of an executable graph fills.
    fn cuGraphExecMemsetNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: into CUDA_MEMSET_NODE_PARAMS,
        context: val CUcontext,
    ) |mut session| {
        let new = fill(&mut session, &parameters.read()?, context)?;
        replace_in(&mut session, exec, node, &new)
    }
}
