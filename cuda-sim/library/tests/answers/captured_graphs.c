/* Captures that fail, and graphs that were captured: into another graph, with memory of the host and
 * of their own. */

#include "answers.h"

static CUstream stream;
static CUdeviceptr memory;
static CUevent event;

static void ask_for_captures_that_fail(void)
{
    CUstream joining, third;
    CUgraph graph;
    CUstreamCaptureStatus status;
    NEED(cuStreamCreate(&joining, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuEventRecord(event, stream));
    NEED(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamWaitEvent(third, event, 0));
    ASK(cuStreamIsCapturing(third, &status));
    print_value("status of the stream that waits", "%d", (int)status);
    ASK(cuStreamIsCapturing(stream, &status));
    print_value("status of the stream", "%d", (int)status);
    ASK(cuStreamEndCapture(third, &graph));
    ASK(cuStreamEndCapture(stream, &graph));
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuEventRecord(event, stream));
    NEED(cuStreamWaitEvent(joining, event, 0));
    NEED(cuMemsetD8Async(memory, 1, 16, joining));
    ASK(cuStreamEndCapture(stream, &graph));
    ASK(cuStreamIsCapturing(joining, &status));
    print_value("status of the stream that joined", "%d", (int)status);
    ASK(cuStreamIsCapturing(stream, &status));
    print_value("status of the stream", "%d", (int)status);
}

static void ask_for_a_capture_into_a_graph(void)
{
    CUgraph base, graph;
    CUgraphNode first;
    CUstreamCaptureStatus status;
    size_t edges;
    NEED(cuGraphCreate(&base, 0));
    NEED(cuGraphAddEmptyNode(&first, base, NULL, 0));
    ASK(cuStreamBeginCaptureToGraph(stream, base, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuMemsetD8Async(memory, 1, 16, stream));
    ASK(cuStreamEndCapture(stream, &graph));
    print_value("the graph is the same", "%d", graph == base);
    NEED(cuGraphGetEdges(base, NULL, NULL, NULL, &edges));
    print_value("edges", "%zu", edges);
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    ASK(cuLaunchHostFunc(stream, ask_from_inside, stream));
    ASK(cuEventRecord(event, stream));
    ASK(cuEventQuery(event));
    ASK(cuStreamIsCapturing(stream, &status));
    print_value("status after a query", "%d", (int)status);
    ASK(cuStreamEndCapture(stream, &graph));
}

static void ask_for_host_and_managed_memory(void)
{
    CUgraph graph;
    CUgraphExec executable;
    CUdeviceptr shared;
    void *host;
    int pageable;
    ASK(cuMemAllocHost(&host, 64));
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuMemAllocManaged(&shared, 64, CU_MEM_ATTACH_GLOBAL));
    ASK(cuMemcpyDtoHAsync(&pageable, memory, sizeof pageable, stream));
    ASK(cuMemcpyAsync(shared, memory, 4, stream));
    ASK(cuStreamEndCapture(stream, &graph));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphDestroy(graph));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphExecDestroy(executable));
}

static void ask_for_memory_of_a_graph(void)
{
    CUgraph graph;
    CUgraphExec executable, second;
    CUdeviceptr captured;
    cuuint64_t used;
    unsigned type;
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuMemAllocAsync(&captured, 64, stream));
    ASK(cuStreamEndCapture(stream, &graph));
    ASK(cuGraphInstantiate(&executable, graph, 0));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuMemsetD8Async(captured, 1, 16, stream));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuMemFreeAsync(captured, stream));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuGraphInstantiate(&second, graph, 0));
    ASK(cuGraphExecDestroy(executable));
    ASK(cuMemFree(captured));
    ASK(cuGraphInstantiate(&executable, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuGraphLaunch(executable, stream));
    ASK(cuStreamSynchronize(stream));
    ASK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    print_value("memory that graphs use", "%llu", (unsigned long long)used);
    ASK(cuDeviceGraphMemTrim(device));
    ASK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, captured));
}

void captured_graphs(void)
{
    begin();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ask_for_captures_that_fail();
    ask_for_a_capture_into_a_graph();
    ask_for_host_and_managed_memory();
    ask_for_memory_of_a_graph();
}
