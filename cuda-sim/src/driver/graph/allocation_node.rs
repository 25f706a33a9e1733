//! Nodes that allocate and free, and how much of a device's memory they hold.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;

use cuda_sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUdevice, CUdeviceptr, CUgraph, CUgraphMem_attribute, CUgraphNode,
    CUgraphNodeType, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType,
    CUmemPoolProps, CUresult, cuuint64_t,
};

use crate::driver::graph::node::operation_of;
use crate::driver::graph::{add_node, dependencies};
use crate::engine::graph::Operation;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::registry::BufferId;
use crate::engine::state::State;
use crate::entry::{INVALID_VALUE, Out, Session, simulate};

/// Makes the operation of an allocation: of a device's memory, for this process.
pub(super) fn allocation(
    session: &mut Session,
    pool: &CUmemPoolProps,
    device: i32,
    bytes: usize,
) -> Result<(Operation, u64), CUresult> {
    let is_plain = pool.allocType == CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
        && pool.handleTypes == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE
        && pool.location.type_ == CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let device = session.device(CUdevice(device)).map_err(|_| INVALID_VALUE)?;
    if !is_plain || bytes == 0 {
        return Err(INVALID_VALUE);
    }
    let memory = session.reserve_for_graph(device, bytes)?;
    let address = session.graphs.memory.get(&memory).map_or(0, |memory| memory.address);
    Ok((Operation::Allocate(memory), address))
}

/// Makes the operation that frees what a node allocates; in one graph, once.
pub(super) fn free(
    session: &mut Session,
    graph: Handle,
    address: CUdeviceptr,
) -> Result<Operation, CUresult> {
    let memory = session.graphs.memory_at(address.0).ok_or(INVALID_VALUE)?;
    if session.graphs.frees(graph, memory) {
        return Err(INVALID_VALUE);
    }
    Ok(Operation::Free(memory))
}

/// Returns the parameters of what a node allocates.
pub(super) fn parameters(state: &State, memory: BufferId) -> Option<CUDA_MEM_ALLOC_NODE_PARAMS> {
    let of = state.graphs.memory.get(&memory)?;
    let mut parameters = CUDA_MEM_ALLOC_NODE_PARAMS::zeroed();
    parameters.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    parameters.poolProps.location.set_id(i32::try_from(of.device).ok()?);
    parameters.bytesize = usize::try_from(of.size).ok()?;
    parameters.dptr = CUdeviceptr(of.address);
    Some(parameters)
}

simulate! {
    /// Adds a node that allocates; the address is there at once, the memory when it has run.
    fn cuGraphAddMemAllocNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        place: out CUDA_MEM_ALLOC_NODE_PARAMS,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let before = dependencies(&nodes, count)?;
        session.graphs.check_dependencies(graph.number(), &before)?;
        let mut wanted = place.read()?;
        let (pool, device) = (wanted.poolProps, super::generic_node::device_of(&wanted.poolProps));
        let (new, address) = allocation(&mut session, &pool, device, wanted.bytesize)?;
        wanted.dptr = CUdeviceptr(address);
        place.write(wanted);
        add_node(&mut session, &node, graph, before, new)
    }

    /// Adds a node that frees what a node allocates.
    fn cuGraphAddMemFreeNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        address: val CUdeviceptr,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let new = free(&mut session, graph.number(), address)?;
        let before = dependencies(&nodes, count)?;
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells what a node allocates.
    fn cuGraphMemAllocNodeGetParams(
        node: val CUgraphNode, place: out CUDA_MEM_ALLOC_NODE_PARAMS,
    ) |mut session| {
        place.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        let Operation::Allocate(memory) = operation_of(&mut session, node, kind)? else {
            return Err(INVALID_VALUE);
        };
        place.write(parameters(&session, memory).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Tells what a node frees.
    fn cuGraphMemFreeNodeGetParams(node: val CUgraphNode, address: out CUdeviceptr)
    |mut session| {
        address.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_FREE;
        let Operation::Free(memory) = operation_of(&mut session, node, kind)? else {
            return Err(INVALID_VALUE);
        };
        let found = session.graphs.memory.get(&memory).ok_or(INVALID_VALUE)?;
        address.write(CUdeviceptr(found.address));
        Ok(())
    }

    /// Tells how much memory graphs use or reserve, now or at most.
    fn cuDeviceGetGraphMemAttribute(
        device: val CUdevice, attribute: val CUgraphMem_attribute, value: val *mut c_void,
    ) |session| {
        let value: Out<cuuint64_t> = Out::of_attribute(value);
        value.required()?;
        let device = session.device(device)?;
        let now = session.graph_memory_in_use(device);
        let most = session.graphs.most.get(&device).copied().unwrap_or_default();
        value.write(match attribute {
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT => now[0],
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => most[0],
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => now[1],
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => most[1],
            _ => return Err(INVALID_VALUE),
        });
        Ok(())
    }

    /// Sets what was used or reserved at most to zero, which is all that may be set.
    fn cuDeviceSetGraphMemAttribute(
        device: val CUdevice, attribute: val CUgraphMem_attribute, value: val *mut c_void,
    ) |mut session| {
        let value: Out<cuuint64_t> = Out::of_attribute(value);
        let device = session.device(device)?;
        if value.read()? != 0 {
            return Err(INVALID_VALUE);
        }
        let now = session.graph_memory_in_use(device);
        let most = session.graphs.most.entry(device).or_default();
        match attribute {
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => most[0] = now[0],
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => most[1] = now[1],
            _ => return Err(INVALID_VALUE),
        }
        Ok(())
    }

    /// Gives back what graphs reserve and don't use.
    fn cuDeviceGraphMemTrim(device: val CUdevice) |mut session| {
        let device = session.device(device)?;
        session.trim_graph_memory(device);
        Ok(())
    }
}
