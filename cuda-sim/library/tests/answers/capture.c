/* Capture: which streams, what ends it, and what was captured. */

#include "answers.h"

static void ask_which_streams(CUstream stream)
{
    CUgraph graph;
    ASK(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    ASK(cuStreamBeginCapture(stream, 9));
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
}

static void ask_what_is_captured(CUstream stream, CUstream joining, CUdeviceptr memory)
{
    CUgraph graph;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    const CUgraphNode *nodes;
    size_t count = 9;
    ASK(cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
    print_value("status and dependencies", "%d %zu", (int)status, count);
    NEED(cuMemsetD8Async(memory, 1, 16, stream));
    ASK(cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count));
    print_value("dependencies", "%zu", count);
    ASK(cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    ASK(cuStreamUpdateCaptureDependencies(joining, NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    ASK(cuStreamGetCaptureInfo_v2(joining, &status, NULL, NULL, NULL, NULL));
    print_value("status of another stream", "%d", (int)status);
    ASK(cuStreamEndCapture(joining, &graph));
}

static void ask_for_streams_that_join(CUstream stream, CUstream joining, CUdeviceptr memory)
{
    CUgraph graph = NULL;
    CUevent fork, join;
    CUstream third;
    size_t count;
    NEED(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    NEED(cuEventRecord(fork, stream));
    NEED(cuStreamWaitEvent(joining, fork, 0));
    ASK(cuStreamBeginCapture(joining, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    ASK(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuMemsetD8Async(memory, 1, 16, joining));
    NEED(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    NEED(cuEventRecord(join, joining));
    ASK(cuStreamWaitEvent(stream, join, 0));
    ASK(cuStreamEndCapture(stream, &graph));
    print_value("there is a graph", "%d", graph != NULL);
    NEED(cuGraphGetNodes(graph, NULL, &count));
    print_value("nodes", "%zu", count);
    ASK(cuStreamEndCapture(third, &graph));
}

static void ask_for_memory_and_copies(CUstream stream, CUdeviceptr memory)
{
    CUgraph graph = NULL;
    CUdeviceptr captured;
    CUstreamCaptureStatus status;
    size_t count;
    char host[16];
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ASK(cuMemAllocAsync(&captured, 64, stream));
    ASK(cuMemsetD8Async(captured, 0, 64, stream));
    ASK(cuMemFreeAsync(captured, stream));
    ASK(cuStreamEndCapture(stream, &graph));
    NEED(cuGraphGetNodes(graph, NULL, &count));
    print_value("nodes", "%zu", count);
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuMemcpyHtoDAsync(memory, host, 16, stream));
    ASK(cuMemcpyDtoHAsync(host, memory, 16, stream));
    ASK(cuMemcpyDtoHAsync(host, memory, 0, stream));
    ASK(cuMemcpyDtoHAsync(host, memory, 8192, stream));
    ASK(cuStreamIsCapturing(stream, &status));
    print_value("status", "%d", (int)status);
    ASK(cuStreamEndCapture(stream, &graph));
    print_value("there is a graph", "%d", graph != NULL);
}

void capture(void)
{
    begin();
    CUstream stream, joining;
    CUdeviceptr memory;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamCreate(&joining, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    ask_which_streams(stream);
    ask_what_is_captured(stream, joining, memory);
    ask_for_streams_that_join(stream, joining, memory);
    ASK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamDestroy(stream));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ask_for_memory_and_copies(stream, memory);
}
