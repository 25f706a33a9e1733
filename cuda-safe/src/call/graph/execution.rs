//! Executable graphs. Which memory a launch uses is its caller's to order.

use core::ffi::{c_char, c_uint, c_ulonglong};

use cuda_codegen::driver;
use cuda_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo,
    CUgraphNode, CUgraphNodeParams, CUstream, cuuint64_t,
};

/// Makes an executable graph; whoever makes it destroys it.
#[driver(cuGraphInstantiateWithFlags, home = given)]
pub fn graph_instantiate_with_flags(
    #[out] graph_exec @ phGraphExec: *mut CUgraphExec,
    #[handle] graph @ hGraph: CUgraph,
    #[value] flags: c_ulonglong,
);

/// Makes an executable graph, as the parameters say, and writes to them how it went.
///
/// # Safety
///
/// The parameters point to one record, and the stream that they name is alive.
#[driver(cuGraphInstantiateWithParams, home = given)]
pub unsafe fn graph_instantiate_with_params(
    #[out] graph_exec @ phGraphExec: *mut CUgraphExec,
    #[handle] graph @ hGraph: CUgraph,
    #[raw] parameters @ instantiateParams: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
);

/// Makes an executable graph, and a log; for drivers before CUDA 11.4.
#[driver(cuGraphInstantiate_v2, home = given)]
pub fn graph_instantiate(
    #[out] graph_exec @ phGraphExec: *mut CUgraphExec,
    #[handle] graph @ hGraph: CUgraph,
    #[out] error_node @ phErrorNode: *mut CUgraphNode,
    #[text(1024)] log @ logBuffer: *mut c_char,
    #[from(log.len)] buffer_size @ bufferSize: usize,
);

/// Destroys an executable graph.
///
/// # Safety
///
/// The graph is alive, not used any more, and nothing of it waits to run.
#[driver(cuGraphExecDestroy, home = none)]
pub unsafe fn graph_exec_destroy(#[raw] graph @ hGraphExec: CUgraphExec);

/// Asks for an executable graph's flags.
#[driver(cuGraphExecGetFlags, home = none)]
pub fn graph_exec_get_flags(
    #[handle] graph @ hGraphExec: CUgraphExec,
    #[out] flags: *mut cuuint64_t,
);

/// Asks for a number that no other executable graph of the process has.
#[driver(cuGraphExecGetId, home = none)]
pub fn graph_exec_get_id(
    #[handle] graph @ hGraphExec: CUgraphExec,
    #[out] id @ graphId: *mut c_uint,
);

/// Changes an executable graph to what a graph of the same shape says.
#[driver(cuGraphExecUpdate_v2, home = none)]
pub fn graph_exec_update(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] graph @ hGraph: CUgraph,
    #[out] result @ resultInfo: *mut CUgraphExecUpdateResultInfo,
);

/// Runs an executable graph, in the order of `stream`.
///
/// # Safety
///
/// The graph is alive, and nothing else uses what it writes, or writes what it reads, until the
/// stream has passed.
#[driver(cuGraphLaunch, order = stream)]
pub unsafe fn graph_launch(
    #[raw] graph @ hGraph: CUgraphExec,
    #[stream] stream @ hStream: CUstream,
);

/// Makes an executable graph ready to run, in the order of `stream`.
#[driver(cuGraphUpload, order = stream)]
pub fn graph_upload(#[handle] graph @ hGraph: CUgraphExec, #[stream] stream @ hStream: CUstream);

/// Sets the parameters of a node of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecNodeSetParams, home = given)]
pub unsafe fn graph_exec_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *mut CUgraphNodeParams,
);

/// Sets the parameters of a kernel node of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecKernelNodeSetParams_v2, home = given)]
pub unsafe fn graph_exec_kernel_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_KERNEL_NODE_PARAMS,
);

/// Sets the parameters of a copy node of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecMemcpyNodeSetParams, home = none)]
pub unsafe fn graph_exec_memcpy_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ copyParams: *const CUDA_MEMCPY3D,
    #[handle] owner @ ctx: CUcontext,
);

/// Sets the parameters of a fill node of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecMemsetNodeSetParams, home = none)]
pub unsafe fn graph_exec_memset_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ memsetParams: *const CUDA_MEMSET_NODE_PARAMS,
    #[handle] owner @ ctx: CUcontext,
);

/// Sets the parameters of a host node of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecHostNodeSetParams, home = none)]
pub unsafe fn graph_exec_host_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_HOST_NODE_PARAMS,
);

/// Sets the parameters of a node of memory operations of an executable graph.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecBatchMemOpNodeSetParams, home = none)]
pub unsafe fn graph_exec_batch_mem_op_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_BATCH_MEM_OP_NODE_PARAMS,
);

/// Sets the graph of a node of an executable graph.
#[driver(cuGraphExecChildGraphNodeSetParams, home = none)]
pub fn graph_exec_child_graph_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[handle] child_graph @ childGraph: CUgraph,
);

/// Sets the event of a node of an executable graph.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphExecEventRecordNodeSetEvent, home = none)]
pub unsafe fn graph_exec_event_record_node_set_event(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] event: CUevent,
);

/// Sets the event of a node of an executable graph.
///
/// # Safety
///
/// The event is alive while the graph may run.
#[driver(cuGraphExecEventWaitNodeSetEvent, home = none)]
pub unsafe fn graph_exec_event_wait_node_set_event(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] event: CUevent,
);

/// Sets the parameters of a node of an executable graph that signals.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecExternalSemaphoresSignalNodeSetParams, home = none)]
pub unsafe fn graph_exec_external_semaphores_signal_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
);

/// Sets the parameters of a node of an executable graph that waits.
///
/// # Safety
///
/// What the parameters name is alive, and what they do does no harm, while the graph may run.
#[driver(cuGraphExecExternalSemaphoresWaitNodeSetParams, home = none)]
pub unsafe fn graph_exec_external_semaphores_wait_node_set_params(
    #[handle] exec @ hGraphExec: CUgraphExec,
    #[handle] node @ hNode: CUgraphNode,
    #[raw] parameters @ nodeParams: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &GRAPH_INSTANTIATE_WITH_FLAGS,
    &GRAPH_INSTANTIATE_WITH_PARAMS,
    &GRAPH_INSTANTIATE,
    &GRAPH_EXEC_DESTROY,
    &GRAPH_EXEC_GET_FLAGS,
    &GRAPH_EXEC_GET_ID,
    &GRAPH_EXEC_UPDATE,
    &GRAPH_LAUNCH,
    &GRAPH_UPLOAD,
    &GRAPH_EXEC_NODE_SET_PARAMS,
    &GRAPH_EXEC_KERNEL_NODE_SET_PARAMS,
    &GRAPH_EXEC_MEMCPY_NODE_SET_PARAMS,
    &GRAPH_EXEC_MEMSET_NODE_SET_PARAMS,
    &GRAPH_EXEC_HOST_NODE_SET_PARAMS,
    &GRAPH_EXEC_BATCH_MEM_OP_NODE_SET_PARAMS,
    &GRAPH_EXEC_CHILD_GRAPH_NODE_SET_PARAMS,
    &GRAPH_EXEC_EVENT_RECORD_NODE_SET_EVENT,
    &GRAPH_EXEC_EVENT_WAIT_NODE_SET_EVENT,
    &GRAPH_EXEC_EXTERNAL_SEMAPHORES_SIGNAL_NODE_SET_PARAMS,
    &GRAPH_EXEC_EXTERNAL_SEMAPHORES_WAIT_NODE_SET_PARAMS,
];
