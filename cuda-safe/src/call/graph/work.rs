//! Nodes that name memory: they keep their parameters, and nobody is asked about them.
//!
//! What may be given a kernel takes a context: a kernel that is named by its function, in a thread
//! without a current context, crashes the driver (measured on an H200).

use cuda_codegen::driver;
use cuda_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUgraph, CUgraphEdgeData, CUgraphNode,
    CUgraphNodeParams,
};

/// Adds a node of any type.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddNode_v3, home = given)]
pub unsafe fn graph_add_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[items(count, value, optional)] edges @ dependencyData: *const CUgraphEdgeData,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *mut CUgraphNodeParams,
);

/// Adds a node that runs a kernel.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddKernelNode_v2, home = given)]
pub unsafe fn graph_add_kernel_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
);

/// Adds a node that copies a box.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddMemcpyNode, home = none)]
pub unsafe fn graph_add_memcpy_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ copyParams: *const CUDA_MEMCPY3D,
    #[handle] owner @ ctx: CUcontext,
);

/// Adds a node that fills rows.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddMemsetNode, home = none)]
pub unsafe fn graph_add_memset_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    #[handle] owner @ ctx: CUcontext,
);

/// Adds a node that calls a function of the host.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddHostNode, home = none)]
pub unsafe fn graph_add_host_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *const CUDA_HOST_NODE_PARAMS,
);

/// Adds a node that waits for or writes single values.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddBatchMemOpNode, home = none)]
pub unsafe fn graph_add_batch_mem_op_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
);

/// Adds a node that allocates memory; the parameters then say where.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddMemAllocNode, home = none)]
pub unsafe fn graph_add_mem_alloc_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
);

/// Adds a node that frees memory.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddMemFreeNode, home = none)]
pub unsafe fn graph_add_mem_free_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] memory @ dptr: CUdeviceptr,
);

/// Adds a node that signals semaphores of another interface.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddExternalSemaphoresSignalNode, home = none)]
pub unsafe fn graph_add_external_semaphores_signal_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
);

/// Adds a node that waits for semaphores of another interface.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphAddExternalSemaphoresWaitNode, home = none)]
pub unsafe fn graph_add_external_semaphores_wait_node(
    #[out] node @ phGraphNode: *mut CUgraphNode,
    #[handle] graph @ hGraph: CUgraph,
    #[items(count, handle)] dependencies: *const CUgraphNode,
    #[from(dependencies.count)] count @ numDependencies: usize,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
);

/// Asks for the parameters of a node of any type.
#[driver(cuGraphNodeGetParams, home = none)]
pub fn graph_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams: *mut CUgraphNodeParams,
);

/// Sets the parameters of a node of any type.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphNodeSetParams_v2, home = given)]
pub unsafe fn graph_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *mut CUgraphNodeParams,
);

/// Asks for the parameters of a kernel node, which the node keeps.
#[driver(cuGraphKernelNodeGetParams_v2, home = none)]
pub fn graph_kernel_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams: *mut CUDA_KERNEL_NODE_PARAMS,
);

/// Sets the parameters of a kernel node.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphKernelNodeSetParams_v2, home = given)]
pub unsafe fn graph_kernel_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
);

/// Asks for the parameters of a copy node.
#[driver(cuGraphMemcpyNodeGetParams, home = none)]
pub fn graph_memcpy_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams: *mut CUDA_MEMCPY3D,
);

/// Sets the parameters of a copy node.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphMemcpyNodeSetParams, home = none)]
pub unsafe fn graph_memcpy_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_MEMCPY3D,
);

/// Asks for the parameters of a fill node.
#[driver(cuGraphMemsetNodeGetParams, home = none)]
pub fn graph_memset_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams: *mut CUDA_MEMSET_NODE_PARAMS,
);

/// Sets the parameters of a fill node.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphMemsetNodeSetParams, home = none)]
pub unsafe fn graph_memset_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_MEMSET_NODE_PARAMS,
);

/// Asks for the parameters of a host node.
#[driver(cuGraphHostNodeGetParams, home = none)]
pub fn graph_host_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams: *mut CUDA_HOST_NODE_PARAMS,
);

/// Sets the parameters of a host node.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphHostNodeSetParams, home = none)]
pub unsafe fn graph_host_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_HOST_NODE_PARAMS,
);

/// Asks for the parameters of a node of memory operations.
#[driver(cuGraphBatchMemOpNodeGetParams, home = none)]
pub fn graph_batch_mem_op_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ nodeParams_out: *mut CUDA_BATCH_MEM_OP_NODE_PARAMS,
);

/// Sets the parameters of a node of memory operations.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphBatchMemOpNodeSetParams, home = none)]
pub unsafe fn graph_batch_mem_op_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
);

/// Asks for the parameters of an allocation node.
#[driver(cuGraphMemAllocNodeGetParams, home = none)]
pub fn graph_mem_alloc_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ params_out: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
);

/// Asks for the address that a node frees.
#[driver(cuGraphMemFreeNodeGetParams, home = none)]
pub fn graph_mem_free_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] memory @ dptr_out: *mut CUdeviceptr,
);

/// Asks for the parameters of a node that signals.
#[driver(cuGraphExternalSemaphoresSignalNodeGetParams, home = none)]
pub fn graph_external_semaphores_signal_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ params_out: *mut CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
);

/// Sets the parameters of a node that signals.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExternalSemaphoresSignalNodeSetParams, home = none)]
pub unsafe fn graph_external_semaphores_signal_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
);

/// Asks for the parameters of a node that waits.
#[driver(cuGraphExternalSemaphoresWaitNodeGetParams, home = none)]
pub fn graph_external_semaphores_wait_node_get_params(
    #[handle] node @ hNode: CUgraphNode,
    #[out] parameters @ params_out: *mut CUDA_EXT_SEM_WAIT_NODE_PARAMS,
);

/// Sets the parameters of a node that waits.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExternalSemaphoresWaitNodeSetParams, home = none)]
pub unsafe fn graph_external_semaphores_wait_node_set_params(
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPH_ADD_NODE,
    &GRAPH_ADD_KERNEL_NODE,
    &GRAPH_ADD_MEMCPY_NODE,
    &GRAPH_ADD_MEMSET_NODE,
    &GRAPH_ADD_HOST_NODE,
    &GRAPH_ADD_BATCH_MEM_OP_NODE,
    &GRAPH_ADD_MEM_ALLOC_NODE,
    &GRAPH_ADD_MEM_FREE_NODE,
    &GRAPH_ADD_EXTERNAL_SEMAPHORES_SIGNAL_NODE,
    &GRAPH_ADD_EXTERNAL_SEMAPHORES_WAIT_NODE,
    &GRAPH_NODE_GET_PARAMS,
    &GRAPH_NODE_SET_PARAMS,
    &GRAPH_KERNEL_NODE_GET_PARAMS,
    &GRAPH_KERNEL_NODE_SET_PARAMS,
    &GRAPH_MEMCPY_NODE_GET_PARAMS,
    &GRAPH_MEMCPY_NODE_SET_PARAMS,
    &GRAPH_MEMSET_NODE_GET_PARAMS,
    &GRAPH_MEMSET_NODE_SET_PARAMS,
    &GRAPH_HOST_NODE_GET_PARAMS,
    &GRAPH_HOST_NODE_SET_PARAMS,
    &GRAPH_BATCH_MEM_OP_NODE_GET_PARAMS,
    &GRAPH_BATCH_MEM_OP_NODE_SET_PARAMS,
    &GRAPH_MEM_ALLOC_NODE_GET_PARAMS,
    &GRAPH_MEM_FREE_NODE_GET_PARAMS,
    &GRAPH_EXTERNAL_SEMAPHORES_SIGNAL_NODE_GET_PARAMS,
    &GRAPH_EXTERNAL_SEMAPHORES_SIGNAL_NODE_SET_PARAMS,
    &GRAPH_EXTERNAL_SEMAPHORES_WAIT_NODE_GET_PARAMS,
    &GRAPH_EXTERNAL_SEMAPHORES_WAIT_NODE_SET_PARAMS,
];
