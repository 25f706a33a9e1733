/* Graphs: nodes and edges, what is instantiated, updated and cloned, and memory of graphs. */

#include "answers.h"

static CUgraph graph, other_graph;
static CUgraphExec executable;
static CUstream stream;
static CUdeviceptr memory;

static void ask_for_an_empty_graph(void)
{
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    ASK(cuGraphCreate(&graph, 1));
    ASK(cuGraphCreate(&graph, 0));
    NEED(cuGraphCreate(&other_graph, 0));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecDestroy(executable));
}

/* Returns the first node of the graph. */
static CUgraphNode ask_for_edges(void)
{
    CUgraphNode nodes[4], refused, foreign;
    for (int at = 0; at < 4; at++)
        NEED(cuGraphAddEmptyNode(&nodes[at], graph, NULL, 0));
    NEED(cuGraphAddEmptyNode(&foreign, other_graph, NULL, 0));
    ASK(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], NULL, 1));
    ASK(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], NULL, 1));
    ASK(cuGraphAddDependencies(graph, &nodes[0], &nodes[0], NULL, 1));
    ASK(cuGraphAddDependencies(graph, &nodes[0], &foreign, NULL, 1));
    ASK(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], NULL, 1));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphRemoveDependencies(graph, &nodes[2], &nodes[3], NULL, 1));
    ASK(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[0], NULL, 1));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    CUgraphNode twice[] = { nodes[0], nodes[0] };
    ASK(cuGraphAddEmptyNode(&refused, graph, twice, 2));
    ASK(cuGraphAddEmptyNode(&refused, graph, &foreign, 1));
    ASK(cuGraphAddEmptyNode(&refused, graph, NULL, 1));
    return nodes[0];
}

static void ask_for_lists(void)
{
    CUgraphNode many[16];
    size_t count = 9;
    memset(many, 1, sizeof many);
    ASK(cuGraphGetNodes(graph, NULL, &count));
    print_value("nodes", "%zu", count);
    count = 16;
    ASK(cuGraphGetNodes(graph, many, &count));
    print_value("nodes, and whether null fills the rest", "%zu %d", count, many[15] == NULL);
    count = 1;
    ASK(cuGraphGetNodes(graph, many, &count));
    print_value("nodes", "%zu", count);
}

static CUDA_MEMSET_NODE_PARAMS fill(void)
{
    return (CUDA_MEMSET_NODE_PARAMS){ .dst = memory, .value = 1, .elementSize = 1, .width = 16, .height = 1 };
}

static CUgraphNode ask_for_fills(void)
{
    CUgraphNode node, refused;
    CUgraphNodeType type;
    CUDA_MEMSET_NODE_PARAMS right = fill(), of_three_bytes = fill(), too_long = fill(), of_nothing = fill(),
                            nowhere = fill();
    of_three_bytes.elementSize = 3;
    too_long.width = 8192;
    of_nothing.width = 0;
    nowhere.dst = 16;
    ASK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &right, primary));
    ASK(cuGraphAddMemsetNode(&refused, graph, NULL, 0, &of_three_bytes, primary));
    ASK(cuGraphAddMemsetNode(&refused, graph, NULL, 0, &too_long, primary));
    ASK(cuGraphAddMemsetNode(&refused, graph, NULL, 0, &of_nothing, primary));
    ASK(cuGraphAddMemsetNode(&refused, graph, NULL, 0, &nowhere, primary));
    ASK(cuGraphAddMemsetNode(&refused, graph, NULL, 0, &right, NULL));
    ASK(cuGraphNodeGetType(node, &type));
    print_value("type", "%d", (int)type);
    return node;
}

static CUgraphNode ask_for_kernels(void)
{
    CUgraphNode node, refused;
    CUDA_KERNEL_NODE_PARAMS right = {
        .func = kernel("empty"), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
        .blockDimY = 1, .blockDimZ = 1,
    };
    CUDA_KERNEL_NODE_PARAMS too_wide = right, of_nothing = right;
    too_wide.blockDimX = 2000;
    of_nothing.func = NULL;
    ASK(cuGraphAddKernelNode(&node, graph, NULL, 0, &right));
    ASK(cuGraphAddKernelNode(&refused, graph, NULL, 0, &too_wide));
    ASK(cuGraphAddKernelNode(&refused, graph, NULL, 0, &of_nothing));
    return node;
}

static void ask_for_a_node_that_is_gone(CUgraphNode filling)
{
    CUDA_MEMSET_NODE_PARAMS right = fill();
    CUgraphExecUpdateResultInfo update;
    ASK(cuGraphExecDestroy(executable));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphDestroyNode(filling));
    ASK(cuGraphExecMemsetNodeSetParams(executable, filling, &right, primary));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecUpdate(executable, graph, &update));
    print_value("result of the update", "%d", (int)update.result);
}

static void ask_for_copies(CUgraphNode running, CUgraphNode empty)
{
    CUgraph clone, inner;
    CUgraphNode found, child;
    unsigned enabled;
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphNodeFindInClone(&found, running, clone));
    ASK(cuGraphNodeFindInClone(&found, found, graph));
    ASK(cuGraphNodeFindInClone(&found, running, other_graph));
    ASK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, other_graph));
    ASK(cuGraphChildGraphNodeGetGraph(child, &inner));
    ASK(cuGraphDestroy(inner));
    ASK(cuGraphNodeGetEnabled(executable, running, &enabled));
    print_value("enabled", "%u", enabled);
    ASK(cuGraphNodeSetEnabled(executable, running, 0));
    ASK(cuGraphNodeSetEnabled(executable, empty, 0));
}

static void ask_for_events_and_user_objects(void)
{
    CUevent event;
    CUgraphNode node;
    CUuserObject object;
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    ASK(cuGraphAddEventWaitNode(&node, graph, NULL, 0, event));
    ASK(cuUserObjectCreate(&object, NULL, ask_from_inside, 1, 0));
    ASK(cuUserObjectCreate(&object, NULL, ask_from_inside, 0, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ASK(cuUserObjectCreate(&object, NULL, ask_from_inside, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ASK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    ASK(cuUserObjectRelease(object, 1));
    print_from_inside();
    ASK(cuGraphReleaseUserObject(graph, object, 5));
}

void graphs(void)
{
    begin_with_module();
    ask_for_an_empty_graph();
    CUgraphNode empty = ask_for_edges();
    ask_for_lists();
    CUgraphNode filling = ask_for_fills();
    CUgraphNode running = ask_for_kernels();
    ask_for_a_node_that_is_gone(filling);
    ask_for_copies(running, empty);
    ask_for_events_and_user_objects();
    ASK(cuGraphDestroy(graph));
}

void graph_memory(void)
{
    begin();
    CUgraph clone;
    CUgraphExec second;
    CUgraphNode allocating, freeing;
    CUDA_MEM_ALLOC_NODE_PARAMS allocation = {
        .poolProps = {
            .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
            .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
        },
        .bytesize = PAGE,
    };
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuGraphCreate(&graph, 0));
    ASK(cuGraphAddMemAllocNode(&allocating, graph, NULL, 0, &allocation));
    print_value("there is an address", "%d", allocation.dptr != 0);
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphInstantiate(&second, graph, 0));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuMemsetD8(allocation.dptr, 1, 16));
    ASK(cuMemFree(allocation.dptr));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuMemFreeAsync(allocation.dptr, stream));
    ASK(cuGraphClone(&clone, graph));
    ASK(cuGraphDestroyNode(allocating));
    ASK(cuGraphAddMemFreeNode(&freeing, graph, &allocating, 1, allocation.dptr));
    ASK(cuGraphAddMemFreeNode(&freeing, graph, &allocating, 1, allocation.dptr));
    ASK(cuGraphAddMemFreeNode(&freeing, graph, NULL, 0, memory));
    ASK(cuGraphExecDestroy(executable));
    ASK(cuGraphExecDestroy(NULL));
    ASK(cuGraphDestroy(NULL));
    ASK(cuGraphLaunch(NULL, stream));
    ASK(cuGraphUpload(NULL, stream));
}
