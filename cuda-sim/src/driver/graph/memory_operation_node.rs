//! Nodes of stream memory operations. Answers are the manual's.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;
use std::sync::Arc;

use cuda_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUcontext, CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType,
    CUresult, CUstreamBatchMemOpParams,
};

use crate::driver::graph::node::{operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::driver::memory_operations;
use crate::engine::graph::Operation;
use crate::engine::graph::memory_batch::MemoryBatch;
use crate::engine::handle::RawHandle;
use crate::entry::{INVALID_VALUE, Out, Session, simulate};

/// Makes the operation of what a call says; there must be something to do, and the context must exist.
pub(super) fn batch(
    session: &mut Session,
    parameters: CUDA_BATCH_MEM_OP_NODE_PARAMS,
) -> Result<Operation, CUresult> {
    let CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx, count, paramArray, flags } = parameters;
    session.named(ctx)?;
    if count == 0 {
        return Err(INVALID_VALUE);
    }
    session.registry.sees_hidden = true;
    let operations: Out<CUstreamBatchMemOpParams> = Out::of_attribute(paramArray.cast());
    let batch = memory_operations::read(session, count, &operations, flags)?;
    Ok(Operation::Memory(Arc::new(MemoryBatch { context: ctx.number(), ..batch })))
}

/// Returns the parameters that make an operation. Its list stays the node's.
pub(super) fn parameters(operation: &Operation) -> Option<CUDA_BATCH_MEM_OP_NODE_PARAMS> {
    let Operation::Memory(batch) = operation else { return None };
    Some(CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: CUcontext::from_number(batch.context),
        count: c_uint::try_from(batch.given.len()).ok()?,
        paramArray: batch.given.as_ptr().cast_mut().cast(),
        flags: 0,
    })
}

simulate! {
    /// Adds a node that waits for words of memory and writes them, in the order of its list.
    fn cuGraphAddBatchMemOpNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let new = batch(&mut session, parameters.read()?)?;
        let before = dependencies(&nodes, count)?;
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells the operations of a node; the list is the node's until it is changed or destroyed.
    fn cuGraphBatchMemOpNodeGetParams(
        node: val CUgraphNode, place: out CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) |mut session| {
        place.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
        let operation = operation_of(&mut session, node, kind)?;
        place.write(parameters(&operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets the operations of a node.
    fn cuGraphBatchMemOpNodeSetParams(
        node: val CUgraphNode, parameters: into CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) |mut session| {
        let new = batch(&mut session, parameters.read()?)?;
        replace(&mut session, node, new)
    }

    /// Sets the operations of a node of an executable graph; their number and kinds stay.
    fn cuGraphExecBatchMemOpNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode,
        parameters: into CUDA_BATCH_MEM_OP_NODE_PARAMS,
    ) |mut session| {
        let new = batch(&mut session, parameters.read()?)?;
        replace_in(&mut session, exec, node, &new)
    }
}
