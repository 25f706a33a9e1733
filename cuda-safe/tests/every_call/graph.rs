//! Calls of: graph_node, graph_whole.

use cuda_safe::call;
use cuda_safe::shim::attribute::GraphUsedNow;
use cuda_sys::{CUgraph, CUgraphExec, CUgraphNode, CUuserObject};

use crate::objects::{Objects, Tally, empty, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    graph_node(on, tally);
    graph_whole(on, tally);
}

fn graph_node(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuGraphAddEmptyNode",
        call::graph_add_empty_node(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)]
        )
    );
    run!(
        tally,
        "cuGraphAddChildGraphNode",
        call::graph_add_child_graph_node(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &nothing::<CUgraph>(&on.context)
        )
    );
    unchecked!(
        tally,
        "cuGraphAddEventRecordNode",
        call::graph_add_event_record_node(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            nil()
        )
    );
    unchecked!(
        tally,
        "cuGraphAddEventWaitNode",
        call::graph_add_event_wait_node(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            nil()
        )
    );
    run!(
        tally,
        "cuGraphChildGraphNodeGetGraph",
        call::graph_child_graph_node_get_graph(&nothing::<CUgraphNode>(&on.context))
    );
    unchecked!(tally, "cuGraphDestroyNode", call::graph_destroy_node(nil()));
    run!(
        tally,
        "cuGraphEventRecordNodeGetEvent",
        call::graph_event_record_node_get_event(&nothing::<CUgraphNode>(&on.context))
    );
    unchecked!(
        tally,
        "cuGraphEventRecordNodeSetEvent",
        call::graph_event_record_node_set_event(&nothing::<CUgraphNode>(&on.context), nil())
    );
    run!(
        tally,
        "cuGraphEventWaitNodeGetEvent",
        call::graph_event_wait_node_get_event(&nothing::<CUgraphNode>(&on.context))
    );
    unchecked!(
        tally,
        "cuGraphEventWaitNodeSetEvent",
        call::graph_event_wait_node_set_event(&nothing::<CUgraphNode>(&on.context), nil())
    );
    run!(
        tally,
        "cuGraphNodeFindInClone",
        call::graph_node_find_in_clone(
            &nothing::<CUgraphNode>(&on.context),
            &nothing::<CUgraph>(&on.context)
        )
    );
    run!(
        tally,
        "cuGraphNodeGetContainingGraph",
        call::graph_node_get_containing_graph(&nothing::<CUgraphNode>(&on.context))
    );
    run!(
        tally,
        "cuGraphNodeGetDependencies_v2",
        call::graph_node_get_dependencies(
            &nothing::<CUgraphNode>(&on.context),
            &mut [empty()],
            &mut [empty()]
        )
    );
    run!(
        tally,
        "cuGraphNodeGetDependencies",
        call::graph_node_get_dependencies_v1(&nothing::<CUgraphNode>(&on.context), &mut [empty()])
    );
    run!(
        tally,
        "cuGraphNodeGetDependentNodes_v2",
        call::graph_node_get_dependent_nodes(
            &nothing::<CUgraphNode>(&on.context),
            &mut [empty()],
            &mut [empty()]
        )
    );
    run!(
        tally,
        "cuGraphNodeGetDependentNodes",
        call::graph_node_get_dependent_nodes_v1(
            &nothing::<CUgraphNode>(&on.context),
            &mut [empty()]
        )
    );
    run!(
        tally,
        "cuGraphNodeGetType",
        call::graph_node_get_type(&nothing::<CUgraphNode>(&on.context))
    );
    run!(
        tally,
        "cuGraphNodeGetLocalId",
        call::graph_node_get_local_id(&nothing::<CUgraphNode>(&on.context))
    );
    run!(
        tally,
        "cuGraphNodeGetToolsId",
        call::graph_node_get_tools_id(&nothing::<CUgraphNode>(&on.context))
    );
    run!(
        tally,
        "cuGraphNodeGetEnabled",
        call::graph_node_get_enabled(
            &nothing::<CUgraphExec>(&on.context),
            &nothing::<CUgraphNode>(&on.context)
        )
    );
    run!(
        tally,
        "cuGraphNodeSetEnabled",
        call::graph_node_set_enabled(
            &nothing::<CUgraphExec>(&on.context),
            &nothing::<CUgraphNode>(&on.context),
            zero()
        )
    );
    run!(
        tally,
        "cuGraphKernelNodeCopyAttributes",
        call::graph_kernel_node_copy_attributes(
            &nothing::<CUgraphNode>(&on.context),
            &nothing::<CUgraphNode>(&on.context)
        )
    );
    run!(
        tally,
        "cuGraphKernelNodeGetAttribute",
        call::graph_kernel_node_get_attribute(&nothing::<CUgraphNode>(&on.context), zero())
    );
    unchecked!(
        tally,
        "cuGraphKernelNodeSetAttribute",
        call::graph_kernel_node_set_attribute(&nothing::<CUgraphNode>(&on.context), zero(), nil())
    );
}

fn graph_whole(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuGraphCreate", call::graph_create());
    run!(tally, "cuGraphClone", call::graph_clone(&nothing::<CUgraph>(&on.context)));
    unchecked!(tally, "cuGraphDestroy", call::graph_destroy(nil()));
    run!(tally, "cuGraphGetId", call::graph_get_id(&nothing::<CUgraph>(&on.context)));
    run!(
        tally,
        "cuGraphGetNodes",
        call::graph_get_nodes(&nothing::<CUgraph>(&on.context), &mut [empty()])
    );
    run!(
        tally,
        "cuGraphGetRootNodes",
        call::graph_get_root_nodes(&nothing::<CUgraph>(&on.context), &mut [empty()])
    );
    run!(
        tally,
        "cuGraphGetEdges_v2",
        call::graph_get_edges(
            &nothing::<CUgraph>(&on.context),
            &mut [empty()],
            &mut [empty()],
            &mut [empty()]
        )
    );
    run!(
        tally,
        "cuGraphGetEdges",
        call::graph_get_edges_v1(&nothing::<CUgraph>(&on.context), &mut [empty()], &mut [empty()])
    );
    run!(
        tally,
        "cuGraphAddDependencies_v2",
        call::graph_add_dependencies(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &[&nothing::<CUgraphNode>(&on.context)],
            &[zero()]
        )
    );
    run!(
        tally,
        "cuGraphAddDependencies",
        call::graph_add_dependencies_v1(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &[&nothing::<CUgraphNode>(&on.context)]
        )
    );
    run!(
        tally,
        "cuGraphRemoveDependencies_v2",
        call::graph_remove_dependencies(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &[&nothing::<CUgraphNode>(&on.context)],
            &[zero()]
        )
    );
    run!(
        tally,
        "cuGraphRemoveDependencies",
        call::graph_remove_dependencies_v1(
            &nothing::<CUgraph>(&on.context),
            &[&nothing::<CUgraphNode>(&on.context)],
            &[&nothing::<CUgraphNode>(&on.context)]
        )
    );
    run!(
        tally,
        "cuGraphDebugDotPrint",
        call::graph_debug_dot_print(&nothing::<CUgraph>(&on.context), c"name", zero())
    );
    run!(
        tally,
        "cuGraphConditionalHandleCreate",
        call::graph_conditional_handle_create(
            &nothing::<CUgraph>(&on.context),
            &on.context,
            zero(),
            zero()
        )
    );
    run!(
        tally,
        "cuGraphRetainUserObject",
        call::graph_retain_user_object(
            &nothing::<CUgraph>(&on.context),
            &nothing::<CUuserObject>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuGraphReleaseUserObject",
        call::graph_release_user_object(
            &nothing::<CUgraph>(&on.context),
            &nothing::<CUuserObject>(&on.context),
            nil()
        )
    );
    run!(tally, "cuUserObjectCreate", call::user_object_create(|| (), zero()));
    run!(
        tally,
        "cuUserObjectRetain",
        call::user_object_retain(&nothing::<CUuserObject>(&on.context), zero())
    );
    unchecked!(tally, "cuUserObjectRelease", call::user_object_release(nil(), zero()));
    run!(tally, "cuDeviceGraphMemTrim", call::device_graph_mem_trim(&on.device));
    run!(
        tally,
        "cuDeviceGetGraphMemAttribute",
        call::device_get_graph_mem_attribute::<GraphUsedNow>(&on.device)
    );
    run!(
        tally,
        "cuDeviceSetGraphMemAttribute",
        call::device_set_graph_mem_attribute::<GraphUsedNow>(&on.device, zero())
    );
}
