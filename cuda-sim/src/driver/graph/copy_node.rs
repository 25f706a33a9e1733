//! Nodes that copy.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;

use cuda_sys::{
    CUDA_MEMCPY3D, CUarray, CUcontext, CUdeviceptr, CUgraph, CUgraphExec, CUgraphNode,
    CUgraphNodeType, CUmemorytype, CUresult,
};

use crate::driver::box_copy::ends;
use crate::driver::graph::node::{operation_of, replace, replace_in};
use crate::driver::graph::{add_node, dependencies};
use crate::engine::access::AccessKind;
use crate::engine::graph::parameters::Plain;
use crate::engine::graph::{Operation, Task};
use crate::engine::handle::RawHandle;
use crate::engine::image::Array;
use crate::engine::raw::Rows;
use crate::engine::state::State;
use crate::engine::work::{Place, Source, Work};
use crate::entry::{INVALID_VALUE, Session, simulate};

/// Makes the operation of what a call says; the context must exist.
pub(super) fn copy(
    session: &mut Session,
    descriptor: CUDA_MEMCPY3D,
    context: CUcontext,
) -> Result<Operation, CUresult> {
    session.named(context)?;
    let (to, from, extent) = ends(&descriptor)?;
    if extent.is_empty() {
        return Err(INVALID_VALUE);
    }
    let (to, from) = (to.target(extent)?, from.target(extent)?);
    session.registry.sees_hidden = true;
    let call = session.call();
    let (_, to) = session.resolve_target(call, to, extent)?;
    let (_, from) = session.resolve_target(call, from, extent)?;
    let touches = [to.touch(AccessKind::Write), from.touch(AccessKind::Read)];
    Ok(Operation::Task(Box::new(Task {
        touches: touches.into_iter().flatten().collect(),
        work: Work::Copy { to, from: Source::Place(from), extent },
        descriptor: Some(Plain(descriptor)),
    })))
}

/// Returns the descriptor of a copy: the program's, or one of a captured call.
pub(super) fn descriptor(state: &State, operation: &Operation) -> Option<CUDA_MEMCPY3D> {
    let Operation::Task(task) = operation else { return None };
    let Work::Copy { to, from, extent } = &task.work else { return None };
    if let Some(Plain(descriptor)) = task.descriptor {
        return Some(descriptor);
    }
    let Source::Place(from) = from else { return None };
    let mut copy = CUDA_MEMCPY3D::zeroed();
    (copy.WidthInBytes, copy.Height, copy.Depth) = (extent.width, extent.height, extent.depth);
    let end = end_of(state, from);
    [copy.srcXInBytes, copy.srcY, copy.srcZ] = end.start;
    (copy.srcMemoryType, copy.srcPitch, copy.srcHeight) = (end.kind, end.pitch, end.rows);
    (copy.srcHost, copy.srcDevice, copy.srcArray) = (end.host.cast_const(), end.device, end.array);
    let end = end_of(state, to);
    [copy.dstXInBytes, copy.dstY, copy.dstZ] = end.start;
    (copy.dstMemoryType, copy.dstPitch, copy.dstHeight) = (end.kind, end.pitch, end.rows);
    (copy.dstHost, copy.dstDevice, copy.dstArray) = (end.host, end.device, end.array);
    Some(copy)
}

/// Is an end of a copy as a descriptor has it.
struct End {
    kind: CUmemorytype,
    host: *mut c_void,
    device: CUdeviceptr,
    array: CUarray,
    pitch: usize,
    rows: usize,
    start: [usize; 3],
}

/// Returns a descriptor's end of a place.
fn end_of(state: &State, place: &Place) -> End {
    let Rows { base, pitch, slice } = place.rows;
    let rows = slice.checked_div(pitch).unwrap_or(0);
    let mut end = End {
        kind: CUmemorytype::CU_MEMORYTYPE_HOST,
        host: std::ptr::null_mut(),
        device: CUdeviceptr(0),
        array: std::ptr::null_mut(),
        pitch,
        rows,
        start: [0; 3],
    };
    let is_of = |array: &&Array| Some(array.memory) == place.memory;
    let allocation = place.memory.and_then(|memory| state.registry.get(memory));
    if let Some((handle, _)) = state.images.arrays.entries().find(|(_, array)| is_of(array))
        && let Some(allocation) = allocation
    {
        let offset = usize::try_from(place.area.base - allocation.base).unwrap_or(0);
        let (row, x) = (offset.checked_div(pitch), offset.checked_rem(pitch));
        let (row, x) = (row.unwrap_or(0), x.unwrap_or(0));
        let (y, z) = (row.checked_rem(rows).unwrap_or(0), row.checked_div(rows).unwrap_or(0));
        end.kind = CUmemorytype::CU_MEMORYTYPE_ARRAY;
        end.array = CUarray::from_number(handle);
        end.start = [x, y, z];
    } else if state.space.contains(place.area.base) {
        end.kind = CUmemorytype::CU_MEMORYTYPE_DEVICE;
        end.device = CUdeviceptr(place.area.base);
    } else {
        end.host = std::ptr::with_exposed_provenance_mut(base);
    }
    end
}

simulate! {
    /// Adds a node that copies.
    fn cuGraphAddMemcpyNode(
        node: out CUgraphNode, graph: val CUgraph, nodes: into CUgraphNode, count: val usize,
        parameters: into CUDA_MEMCPY3D, context: val CUcontext,
    ) |mut session| {
        node.required()?;
        session.graph(graph.number())?;
        let new = copy(&mut session, parameters.read()?, context)?;
        let before = dependencies(&nodes, count)?;
        add_node(&mut session, &node, graph, before, new)
    }

    /// Tells what a node copies.
    fn cuGraphMemcpyNodeGetParams(node: val CUgraphNode, parameters: out CUDA_MEMCPY3D)
    |mut session| {
        parameters.required()?;
        let kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMCPY;
        let operation = operation_of(&mut session, node, kind)?;
        parameters.write(descriptor(&session, &operation).ok_or(INVALID_VALUE)?);
        Ok(())
    }

    /// Sets what a node copies.
    fn cuGraphMemcpyNodeSetParams(node: val CUgraphNode, parameters: into CUDA_MEMCPY3D)
    |mut session| {
        let new = copy(&mut session, parameters.read()?, std::ptr::null_mut())?;
        replace(&mut session, node, new)
    }

    /// Sets what a node of an executable graph copies.
    fn cuGraphExecMemcpyNodeSetParams(
        exec: val CUgraphExec, node: val CUgraphNode, parameters: into CUDA_MEMCPY3D,
        context: val CUcontext,
    ) |mut session| {
        let new = copy(&mut session, parameters.read()?, context)?;
        replace_in(&mut session, exec, node, &new)
    }
}
