//! Graphs as a whole.

use core::ffi::{c_char, c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUcontext, CUdevice, CUgraph, CUgraphConditionalHandle, CUgraphEdgeData, CUgraphMem_attribute,
    CUgraphNode, CUhostFn, CUuserObject,
};

use crate::shim::attribute::GraphMemoryAttribute;

/// Makes an empty graph; whoever makes it destroys it.
#[driver(cuGraphCreate, home = none)]
pub fn graph_create(#[out] graph @ phGraph: *mut CUgraph, #[from(0)] flags: c_uint);

/// Makes a copy of a graph; whoever makes it destroys it.
#[driver(cuGraphClone, home = none)]
pub fn graph_clone(
    #[out] graph_clone @ phGraphClone: *mut CUgraph,
    #[handle] original_graph @ originalGraph: CUgraph,
);

/// Destroys a graph.
///
/// # Safety
///
/// The graph is alive, and not used any more.
#[driver(cuGraphDestroy, home = none)]
pub unsafe fn graph_destroy(#[raw] graph @ hGraph: CUgraph);

/// Asks for a number that no other graph of the process has.
#[driver(cuGraphGetId, home = none)]
pub fn graph_get_id(#[handle] graph @ hGraph: CUgraph, #[out] id @ graphId: *mut c_uint);

/// Lists a graph's nodes, as many as there is room for; answers how many there are.
#[driver(cuGraphGetNodes, home = none)]
pub fn graph_get_nodes(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, out)] nodes: *mut CUgraphNode,
    #[from(nodes.count)] count @ numNodes: *mut usize,
);

/// Lists the nodes of a graph that depend on none.
#[driver(cuGraphGetRootNodes, home = none)]
pub fn graph_get_root_nodes(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, out)] nodes @ rootNodes: *mut CUgraphNode,
    #[from(nodes.count)] count @ numRootNodes: *mut usize,
);

/// Lists a graph's edges: from which node, to which, and of which kind.
#[driver(cuGraphGetEdges_v2, home = none)]
pub fn graph_get_edges(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, out)] sources @ from: *mut CUgraphNode,
    #[items(count, out)] targets @ to: *mut CUgraphNode,
    #[items(count, out)] edges @ edgeData: *mut CUgraphEdgeData,
    #[from(sources.count)] count @ numEdges: *mut usize,
);

/// Lists a graph's edges; for drivers before CUDA 12.3.
#[driver(cuGraphGetEdges, home = none)]
pub fn graph_get_edges_v1(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, out)] sources @ from: *mut CUgraphNode,
    #[items(count, out)] targets @ to: *mut CUgraphNode,
    #[from(sources.count)] count @ numEdges: *mut usize,
);

/// Adds edges to a graph.
#[driver(cuGraphAddDependencies_v2, home = none)]
pub fn graph_add_dependencies(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] sources @ from: *const CUgraphNode,
    #[items(count, handle)] targets @ to: *const CUgraphNode,
    #[items(count, value, optional)] edges @ edgeData: *const CUgraphEdgeData,
    #[from(sources.count)] count @ numDependencies: usize,
);

/// Adds edges to a graph; for drivers before CUDA 12.3.
#[driver(cuGraphAddDependencies, home = none)]
pub fn graph_add_dependencies_v1(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] sources @ from: *const CUgraphNode,
    #[items(count, handle)] targets @ to: *const CUgraphNode,
    #[from(sources.count)] count @ numDependencies: usize,
);

/// Removes edges from a graph.
#[driver(cuGraphRemoveDependencies_v2, home = none)]
pub fn graph_remove_dependencies(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] sources @ from: *const CUgraphNode,
    #[items(count, handle)] targets @ to: *const CUgraphNode,
    #[items(count, value, optional)] edges @ edgeData: *const CUgraphEdgeData,
    #[from(sources.count)] count @ numDependencies: usize,
);

/// Removes edges from a graph; for drivers before CUDA 12.3.
#[driver(cuGraphRemoveDependencies, home = none)]
pub fn graph_remove_dependencies_v1(
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] sources @ from: *const CUgraphNode,
    #[items(count, handle)] targets @ to: *const CUgraphNode,
    #[from(sources.count)] count @ numDependencies: usize,
);

/// Writes a graph to a file, as a drawing program wants it.
#[driver(cuGraphDebugDotPrint, home = none)]
pub fn graph_debug_dot_print(
    #[handle] graph @ hGraph: CUgraph,
    #[text] path: *const c_char,
    #[value] flags: c_uint,
);

/// Makes the condition of a conditional node of a graph.
#[driver(cuGraphConditionalHandleCreate, home = none)]
pub fn graph_conditional_handle_create(
    #[out] handle @ pHandle_out: *mut CUgraphConditionalHandle,
    #[handle] graph @ hGraph: CUgraph,
    #[handle] owner @ ctx: CUcontext,
    #[value] default_launch_value @ defaultLaunchValue: c_uint,
    #[value] flags: c_uint,
);

/// Has a graph hold references to a user object.
#[driver(cuGraphRetainUserObject, home = none)]
pub fn graph_retain_user_object(
    #[handle] graph: CUgraph,
    #[handle] object: CUuserObject,
    #[value] count: c_uint,
    #[value] flags: c_uint,
);

/// Has a graph give references to a user object back.
///
/// # Safety
///
/// The graph holds so many references.
#[driver(cuGraphReleaseUserObject, home = none)]
pub unsafe fn graph_release_user_object(
    #[handle] graph: CUgraph,
    #[handle] object: CUuserObject,
    #[raw] count: c_uint,
);

/// Makes an object that calls a closure once its last reference is given back.
#[driver(cuUserObjectCreate, home = none)]
pub fn user_object_create(
    #[out] object @ object_out: *mut CUuserObject,
    #[data(destroy)] data @ ptr: *mut c_void,
    #[callback] destroy: CUhostFn,
    #[value] references @ initialRefcount: c_uint,
    #[from(1)] flags: c_uint,
);

/// Takes references to a user object.
#[driver(cuUserObjectRetain, home = none)]
pub fn user_object_retain(#[handle] object: CUuserObject, #[value] count: c_uint);

/// Gives references to a user object back.
///
/// # Safety
///
/// The caller holds so many references.
#[driver(cuUserObjectRelease, home = none)]
pub unsafe fn user_object_release(#[raw] object: CUuserObject, #[value] references @ count: c_uint);

/// Gives memory back that graphs of a device hold and do not use.
#[driver(cuDeviceGraphMemTrim, home = none)]
pub fn device_graph_mem_trim(#[handle] device: CUdevice);

/// Asks for an attribute of a device's memory for graphs.
#[driver(cuDeviceGetGraphMemAttribute, home = none)]
pub fn device_get_graph_mem_attribute(
    #[handle] device: CUdevice,
    #[attribute(GraphMemoryAttribute)] attribute @ attr: CUgraphMem_attribute,
    #[out(attribute)] value: *mut c_void,
);

/// Sets an attribute of a device's memory for graphs back.
#[driver(cuDeviceSetGraphMemAttribute, home = none)]
pub fn device_set_graph_mem_attribute(
    #[handle] device: CUdevice,
    #[attribute(GraphMemoryAttribute)] attribute @ attr: CUgraphMem_attribute,
    #[value(attribute)] value: *mut c_void,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPH_CREATE,
    &GRAPH_CLONE,
    &GRAPH_DESTROY,
    &GRAPH_GET_ID,
    &GRAPH_GET_NODES,
    &GRAPH_GET_ROOT_NODES,
    &GRAPH_GET_EDGES,
    &GRAPH_GET_EDGES_V1,
    &GRAPH_ADD_DEPENDENCIES,
    &GRAPH_ADD_DEPENDENCIES_V1,
    &GRAPH_REMOVE_DEPENDENCIES,
    &GRAPH_REMOVE_DEPENDENCIES_V1,
    &GRAPH_DEBUG_DOT_PRINT,
    &GRAPH_CONDITIONAL_HANDLE_CREATE,
    &GRAPH_RETAIN_USER_OBJECT,
    &GRAPH_RELEASE_USER_OBJECT,
    &USER_OBJECT_CREATE,
    &USER_OBJECT_RETAIN,
    &USER_OBJECT_RELEASE,
    &DEVICE_GRAPH_MEM_TRIM,
    &DEVICE_GET_GRAPH_MEM_ATTRIBUTE,
    &DEVICE_SET_GRAPH_MEM_ATTRIBUTE,
];
