//! Nodes that name no memory, and what is asked of nodes.

use core::ffi::{c_uint, c_ulonglong};

use cuda_codegen::driver;
use cuda_sys::{
    CUevent, CUgraph, CUgraphEdgeData, CUgraphExec, CUgraphNode, CUgraphNodeType,
    CUkernelNodeAttrID, CUkernelNodeAttrValue,
};

/// Adds a node that does nothing.
#[driver(cuGraphAddEmptyNode, home = none)]
pub fn graph_add_empty_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
);

/// Adds a node that is a copy of a graph.
#[driver(cuGraphAddChildGraphNode, home = none)]
pub fn graph_add_child_graph_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[handle] child_graph @ childGraph: CUgraph,
);

/// Adds a node that records an event. The event must outlive what is instantiated of the graph.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphAddEventRecordNode, home = none)]
pub unsafe fn graph_add_event_record_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] event: CUevent,
);

/// Adds a node that waits for an event.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphAddEventWaitNode, home = none)]
pub unsafe fn graph_add_event_wait_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] event: CUevent,
);

/// Returns the graph of a node, which the node keeps.
#[driver(cuGraphChildGraphNodeGetGraph, home = none)]
pub fn graph_child_graph_node_get_graph(
    #[handle] node @ hNode: CUgraphNode,
    #[out] graph @ phGraph: *mut CUgraph,
);

/// Removes a node from its graph.
///
/// # Safety
///
/// The node is in its graph, and not used any more.
#[driver(cuGraphDestroyNode, home = none)]
pub unsafe fn graph_destroy_node(#[raw] node @ hNode: CUgraphNode);

/// Asks for the event of a node.
#[driver(cuGraphEventRecordNodeGetEvent, home = none)]
pub fn graph_event_record_node_get_event(
    #[handle] node @ hNode: CUgraphNode,
    #[out] event @ event_out: *mut CUevent,
);

/// Sets the event of a node.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphEventRecordNodeSetEvent, home = none)]
pub unsafe fn graph_event_record_node_set_event(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] event: CUevent,
);

/// Asks for the event of a node.
#[driver(cuGraphEventWaitNodeGetEvent, home = none)]
pub fn graph_event_wait_node_get_event(
    #[handle] node @ hNode: CUgraphNode,
    #[out] event @ event_out: *mut CUevent,
);

/// Sets the event of a node.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphEventWaitNodeSetEvent, home = none)]
pub unsafe fn graph_event_wait_node_set_event(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] event: CUevent,
);

/// Finds a node's copy in a clone of its graph.
#[driver(cuGraphNodeFindInClone, home = none)]
pub fn graph_node_find_in_clone(
    #[out] copy @ phNode: *mut CUgraphNode,
    #[handle] node @ hOriginalNode: CUgraphNode,
    #[handle] clone @ hClonedGraph: CUgraph,
);

/// Returns the graph of a node.
#[driver(cuGraphNodeGetContainingGraph, home = none)]
pub fn graph_node_get_containing_graph(
    #[handle] node @ hNode: CUgraphNode,
    #[out] graph @ phGraph: *mut CUgraph,
);

/// Lists the nodes that a node depends on, and the kinds of its edges.
#[driver(cuGraphNodeGetDependencies_v2, home = none)]
pub fn graph_node_get_dependencies(
    #[handle] node @ hNode: CUgraphNode,
    #[items(count, out)] dependencies: *mut CUgraphNode,
    #[items(count, out)] edges @ edgeData: *mut CUgraphEdgeData,
    #[from(dependencies.count)] count @ numDependencies: *mut usize,
);

/// Lists the nodes that a node depends on; for drivers before CUDA 12.3.
#[driver(cuGraphNodeGetDependencies, home = none)]
pub fn graph_node_get_dependencies_v1(
    #[handle] node @ hNode: CUgraphNode,
    #[items(count, out)] dependencies: *mut CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: *mut usize,
);

/// Lists the nodes that depend on a node, and the kinds of their edges.
#[driver(cuGraphNodeGetDependentNodes_v2, home = none)]
pub fn graph_node_get_dependent_nodes(
    #[handle] node @ hNode: CUgraphNode,
    #[items(count, out)] dependents @ dependentNodes: *mut CUgraphNode,
    #[items(count, out)] edges @ edgeData: *mut CUgraphEdgeData,
    #[from(dependents.count)] count @ numDependentNodes: *mut usize,
);

/// Lists the nodes that depend on a node; for drivers before CUDA 12.3.
#[driver(cuGraphNodeGetDependentNodes, home = none)]
pub fn graph_node_get_dependent_nodes_v1(
    #[handle] node @ hNode: CUgraphNode,
    #[items(count, out)] dependents @ dependentNodes: *mut CUgraphNode,
    #[from(dependents.count)] count @ numDependentNodes: *mut usize,
);

/// Asks what a node does.
#[driver(cuGraphNodeGetType, home = none)]
pub fn graph_node_get_type(
    #[handle] node @ hNode: CUgraphNode,
    #[out] kind @ type_: *mut CUgraphNodeType,
);

/// Asks for a node's number in its graph.
#[driver(cuGraphNodeGetLocalId, home = none)]
pub fn graph_node_get_local_id(
    #[handle] node @ hNode: CUgraphNode,
    #[out] id @ nodeId: *mut c_uint,
);

/// Asks for the number by which tools know a node.
#[driver(cuGraphNodeGetToolsId, home = none)]
pub fn graph_node_get_tools_id(
    #[handle] node @ hNode: CUgraphNode,
    #[out] id @ toolsNodeId: *mut c_ulonglong,
);

/// Asks whether a node of an executable graph is enabled.
#[driver(cuGraphNodeGetEnabled, home = none)]
pub fn graph_node_get_enabled(
    #[handle] graph_exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[out] is_enabled @ isEnabled: *mut c_uint,
);

/// Enables or disables a node of an executable graph.
#[driver(cuGraphNodeSetEnabled, home = none)]
pub fn graph_node_set_enabled(
    #[handle] graph_exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[value] is_enabled @ isEnabled: c_uint,
);

/// Copies the attributes of a kernel node to another.
#[driver(cuGraphKernelNodeCopyAttributes, home = none)]
pub fn graph_kernel_node_copy_attributes(#[handle] dst: CUgraphNode, #[handle] src: CUgraphNode);

/// Asks for an attribute of a kernel node; which member of the answer holds it follows from the
/// attribute.
#[driver(cuGraphKernelNodeGetAttribute, home = none)]
pub fn graph_kernel_node_get_attribute(
    #[handle] node @ hNode: CUgraphNode,
    #[value] attribute @ attr: CUkernelNodeAttrID,
    #[out] value @ value_out: *mut CUkernelNodeAttrValue,
);

/// Sets an attribute of a kernel node.
///
/// # Safety
///
/// The member that the attribute asks for is set, and what it names is alive while the graph
/// may run.
#[driver(cuGraphKernelNodeSetAttribute, home = none)]
pub unsafe fn graph_kernel_node_set_attribute(
    #[handle] node @ hNode: CUgraphNode,
    #[value] attribute @ attr: CUkernelNodeAttrID,
    #[raw] value: *const CUkernelNodeAttrValue,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPH_ADD_EMPTY_NODE,
    &GRAPH_ADD_CHILD_GRAPH_NODE,
    &GRAPH_ADD_EVENT_RECORD_NODE,
    &GRAPH_ADD_EVENT_WAIT_NODE,
    &GRAPH_CHILD_GRAPH_NODE_GET_GRAPH,
    &GRAPH_DESTROY_NODE,
    &GRAPH_EVENT_RECORD_NODE_GET_EVENT,
    &GRAPH_EVENT_RECORD_NODE_SET_EVENT,
    &GRAPH_EVENT_WAIT_NODE_GET_EVENT,
    &GRAPH_EVENT_WAIT_NODE_SET_EVENT,
    &GRAPH_NODE_FIND_IN_CLONE,
    &GRAPH_NODE_GET_CONTAINING_GRAPH,
    &GRAPH_NODE_GET_DEPENDENCIES,
    &GRAPH_NODE_GET_DEPENDENCIES_V1,
    &GRAPH_NODE_GET_DEPENDENT_NODES,
    &GRAPH_NODE_GET_DEPENDENT_NODES_V1,
    &GRAPH_NODE_GET_TYPE,
    &GRAPH_NODE_GET_LOCAL_ID,
    &GRAPH_NODE_GET_TOOLS_ID,
    &GRAPH_NODE_GET_ENABLED,
    &GRAPH_NODE_SET_ENABLED,
    &GRAPH_KERNEL_NODE_COPY_ATTRIBUTES,
    &GRAPH_KERNEL_NODE_GET_ATTRIBUTE,
    &GRAPH_KERNEL_NODE_SET_ATTRIBUTE,
];
