//! Nodes that call host functions.
#![expect(non_snake_case, reason = "functions have the names of C")]

use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult,
};

use crate::driver::graph::node::{operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::driver::host_function::HostFunction;
use crate::engine::graph::Operation;
use crate::engine::handle::RawHandle;
use crate::engine::work::Work;
use crate::entry::{INVALID_VALUE, simulate};

/// Makes the operation of what a call says.
pub(super) fn call(parameters: &CUDA_HOST_NODE_PARAMS) -> Result<Operation, CUresult> {
    let function = HostFunction::new(parameters.fn_, parameters.userData)?;
    Ok(Operation::task(Work::Call(function), Vec::new()))
}

/// Returns the parameters that make an operation.
pub(super) fn parameters(operation: &Operation) -> Option<CUDA_HOST_NODE_PARAMS> {
    let Some(Work::Call(function)) = operation.work() else { return None };
    let (function, data) = function.parts();
    Some(CUDA_HOST_NODE_PARAMS { fn_: function, userData: data })
}

simulate! {
    /// Adds a node that calls a host function at each launch.
    fn cuGraphAddHostNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_HOST_NODE_PARAMS,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let (new, before) = (call(&parameters.read()?)?, dependencies(&nodes, count)?);
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells what a node calls.
    fn cuGraphHostNodeGetParams(node: val CUgraphNode, place: out CUDA_HOST_NODE_PARAMS)
    |mut session| {
        place.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST;
        let operation = operation_of(&mut session, node, kind)?;
        place.write(parameters(&operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets what a node calls.
    fn cuGraphHostNodeSetParams(node: val CUgraphNode, parameters: into CUDA_HOST_NODE_PARAMS)
    |mut session| {
        let new = call(&parameters.read()?)?;
        replace(&mut session, node, new)
    }

    /// Sets what a node of an executable graph calls.
    fn cuGraphExecHostNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: into CUDA_HOST_NODE_PARAMS,
    ) |mut session| {
        let new = call(&parameters.read()?)?;
        replace_in(&mut session, exec, node, &new)
    }
}
