//! Nodes of any kind by one call.
//!
//! Unsafe, because which member of a union was set is said beside it.

#![expect(unsafe_code, reason = "parameters of nodes lie in a union")]
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::sync::Arc;

use cuda_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, CUDA_EVENT_RECORD_NODE_PARAMS,
    CUDA_EVENT_WAIT_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_HOST_NODE_PARAMS_v2,
    CUDA_MEM_ALLOC_NODE_PARAMS_v2, CUDA_MEM_FREE_NODE_PARAMS, CUDA_MEMCPY_NODE_PARAMS,
    CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2, CUdeviceptr, CUgraph, CUgraphEdgeData,
    CUgraphExec, CUgraphNode, CUgraphNodeParams, CUgraphNodeType, CUmemPoolProps, CUresult,
};

use crate::driver::graph::node::{operation_in, replace, replace_in};
use crate::driver::graph::{
    add_node, allocation_node, child_node, copy_node, dependencies, dependencies_with, event_node,
    fill_node, host_node, kernel_node, memory_operation_node,
};
use crate::engine::graph::{Dependency, Operation};
use crate::engine::handle::RawHandle;
use crate::engine::state::State;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

/// Returns the device of a pool's location.
pub(super) fn device_of(pool: &CUmemPoolProps) -> i32 {
    // SAFETY: all of the location's union are integers, and any bytes are some.
    unsafe { pool.location.id() }
}

/// Reads a member of the union that the type beside it names.
macro_rules! member {
    ($parameters:ident.$member:ident) => {{
        // SAFETY: the call's user says by the type which member was set.
        unsafe { $parameters.$member() }
    }};
}

/// Makes the operation of parameters that leave the graph as it is; none for other kinds. A kernel
/// keeps the attributes that it had before.
fn operation(
    session: &mut Session,
    parameters: &CUgraphNodeParams,
    before: Option<&Operation>,
) -> Result<Option<Operation>, CUresult> {
    let is_reserved = parameters.reserved0 != [0; 3] || parameters.reserved2 != 0;
    if is_reserved {
        return Err(INVALID_VALUE);
    }
    let operation = match parameters.type_ {
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY => Operation::Empty,
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL => {
            let kept = before.map_or_else(Arc::default, kernel_node::attributes_of);
            let wanted = kernel_node::of_generic(&member!(parameters.kernel));
            kernel_node::kernel(session, &wanted, kept)?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY => {
            let CUDA_MEMCPY_NODE_PARAMS { copyCtx, copyParams, .. } = member!(parameters.memcpy);
            copy_node::copy(session, copyParams, copyCtx)?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET => {
            let CUDA_MEMSET_NODE_PARAMS_v2 { dst, pitch, value, elementSize, width, height, ctx } =
                member!(parameters.memset);
            let fill = CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize, width, height };
            fill_node::fill(session, &fill, ctx)?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST => {
            let CUDA_HOST_NODE_PARAMS_v2 { fn_, userData, .. } = member!(parameters.host);
            host_node::call(&CUDA_HOST_NODE_PARAMS { fn_, userData })?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP => {
            let CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 { ctx, count, paramArray, flags } =
                member!(parameters.memOp);
            let batch = CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx, count, paramArray, flags };
            memory_operation_node::batch(session, batch)?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD => {
            event_node::record(session, member!(parameters.eventRecord).event)?
        }
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_WAIT_EVENT => {
            event_node::wait(session, member!(parameters.eventWait).event)?
        }
        _ => return Ok(None),
    };
    Ok(Some(operation))
}

/// Adds a node of any kind.
fn add(
    mut session: Session,
    node: &Out<CUgraphNode>,
    graph: CUgraph,
    before: Vec<Dependency>,
    place: &Out<CUgraphNodeParams>,
) -> Answer {
    node.required()?;
    session.graph(graph.number())?;
    let mut parameters = place.read()?;
    session.graphs.check_new(graph.number(), &before, parameters.type_)?;
    let new = match operation(&mut session, &parameters, None)? {
        Some(operation) => operation,
        None => match parameters.type_ {
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH => {
                let child = member!(parameters.graph);
                match child.ownership.0 {
                    0 => child_node::clone_of(&mut session, child.graph)?,
                    1 => child_node::moved(&mut session, graph, child.graph)?,
                    _ => return Err(INVALID_VALUE),
                }
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC => {
                let mut wanted = member!(parameters.alloc);
                let (pool, bytes) = (wanted.poolProps, wanted.bytesize);
                let device = device_of(&pool);
                let (new, address) =
                    allocation_node::allocation(&mut session, &pool, device, bytes)?;
                wanted.dptr = CUdeviceptr(address);
                parameters.set_alloc(wanted);
                place.write(parameters);
                new
            }
            CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE => {
                let address = member!(parameters.free).dptr;
                allocation_node::free(&mut session, graph.number(), address)?
            }
            _ => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        },
    };
    add_node(&mut session, node, graph, before, new)
}

/// Sets what a node does; what allocates, frees or is a graph stays.
fn set(mut session: Session, node: CUgraphNode, parameters: &Out<CUgraphNodeParams>) -> Answer {
    let old = session.node(node.number())?.operation.clone();
    let new = operation(&mut session, &parameters.read()?, Some(&old))?;
    replace(&mut session, node, new.ok_or(CUresult::CUDA_ERROR_NOT_SUPPORTED)?)
}

/// Returns the parameters of an operation.
fn parameters(state: &State, operation: &Operation) -> Option<CUgraphNodeParams> {
    let mut parameters = CUgraphNodeParams::zeroed();
    parameters.type_ = operation.kind();
    match operation {
        Operation::Empty => {}
        Operation::Child(child) => {
            let mut graph = cuda_sys::CUDA_CHILD_GRAPH_NODE_PARAMS::zeroed();
            graph.graph = CUgraph::from_number(*child);
            parameters.set_graph(graph);
        }
        Operation::Record(_) => {
            let mut event = CUDA_EVENT_RECORD_NODE_PARAMS::zeroed();
            event.event = event_node::event_of(operation)?;
            parameters.set_eventRecord(event);
        }
        Operation::Wait(_) => {
            let event = event_node::event_of(operation)?;
            parameters.set_eventWait(CUDA_EVENT_WAIT_NODE_PARAMS { event });
        }
        Operation::Memory(_) => {
            let CUDA_BATCH_MEM_OP_NODE_PARAMS { ctx, count, paramArray, flags } =
                memory_operation_node::parameters(operation)?;
            let batch = CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 { ctx, count, paramArray, flags };
            parameters.set_memOp(batch);
        }
        Operation::Allocate(memory) => {
            let found = allocation_node::parameters(state, *memory)?;
            let mut alloc = CUDA_MEM_ALLOC_NODE_PARAMS_v2::zeroed();
            (alloc.poolProps, alloc.bytesize, alloc.dptr) =
                (found.poolProps, found.bytesize, found.dptr);
            parameters.set_alloc(alloc);
        }
        Operation::Free(memory) => {
            let dptr = CUdeviceptr(state.graphs.memory.get(memory)?.address);
            parameters.set_free(CUDA_MEM_FREE_NODE_PARAMS { dptr });
        }
        Operation::Task(_) => set_task(state, operation, &mut parameters)?,
    }
    Some(parameters)
}

fn set_task(state: &State, operation: &Operation, into: &mut CUgraphNodeParams) -> Option<()> {
    if let Some(copyParams) = copy_node::descriptor(state, operation) {
        let mut memcpy = CUDA_MEMCPY_NODE_PARAMS::zeroed();
        memcpy.copyParams = copyParams;
        into.set_memcpy(memcpy);
    } else if let Some(kernel) = kernel_node::parameters(operation) {
        into.set_kernel(kernel_node::to_generic(&kernel));
    } else if let Some(fill) = fill_node::parameters(operation) {
        let CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, elementSize, width, height } = fill;
        let ctx = std::ptr::null_mut();
        into.set_memset(CUDA_MEMSET_NODE_PARAMS_v2 {
            dst,
            pitch,
            value,
            elementSize,
            width,
            height,
            ctx,
        });
    } else {
        let CUDA_HOST_NODE_PARAMS { fn_, userData } = host_node::parameters(operation)?;
        let mut host = CUDA_HOST_NODE_PARAMS_v2::zeroed();
        (host.fn_, host.userData) = (fn_, userData);
        into.set_host(host);
    }
    Some(())
}

simulate! {
    /// Adds a node of any kind.
    fn cuGraphAddNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: out CUgraphNodeParams,
    ) |session| {
        let before = dependencies(&nodes, count)?;
        add(session, &node, graph, before, &parameters)
    }

    /// Adds a node of any kind, with edges of any kind.
    fn cuGraphAddNode_v2(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode,
        data: into CUgraphEdgeData, count: val usize, parameters: out CUgraphNodeParams,
    ) |session| {
        let before = dependencies_with(&nodes, &data, count)?;
        add(session, &node, graph, before, &parameters)
    }

    /// Adds a node of any kind, with edges of any kind; here, it is as the one before.
    fn cuGraphAddNode_v3(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode,
        data: into CUgraphEdgeData, count: val usize, parameters: out CUgraphNodeParams,
    ) |session| {
        let before = dependencies_with(&nodes, &data, count)?;
        add(session, &node, graph, before, &parameters)
    }

    /// Sets what a node does; what allocates, frees or is a graph stays.
    fn cuGraphNodeSetParams(node: val CUgraphNode, parameters: out CUgraphNodeParams) |session| {
        set(session, node, &parameters)
    }

    /// Sets what a node does; here, it is as the one before.
    fn cuGraphNodeSetParams_v2(node: val CUgraphNode, parameters: out CUgraphNodeParams)
    |session| {
        set(session, node, &parameters)
    }

    /// Tells what a node does.
    fn cuGraphNodeGetParams(node: val CUgraphNode, place: out CUgraphNodeParams) |mut session| {
        place.required()?;
        let operation = session.node(node.number())?.operation.clone();
        place.write(parameters(&session, &operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets what a node of an executable graph does.
    fn cuGraphExecNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: out CUgraphNodeParams,
    ) |mut session| {
        let wanted = parameters.read()?;
        let old = operation_in(&mut session, exec, node)?;
        if let Some(new) = operation(&mut session, &wanted, Some(&old))? {
            return replace_in(&mut session, exec, node, &new);
        }
        if wanted.type_ != CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let child = member!(wanted.graph).graph;
        child_node::replace_inside(&mut session, exec, node, child.number())
    }
}
