/* Attributes of streams, the profiler, and a device as its own peer. */

#include "answers.h"

void streams(void)
{
    begin();
    CUdeviceptr memory;
    CUstream stream;
    CUstreamAttrValue value;
    CUcontext context;
    int answer;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    memset(&value, 0, sizeof value);
    ASK(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    print_value("policy", "%d", (int)value.syncPolicy);
    ASK(cuStreamGetAttribute(stream, 99, &value));
    ASK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    ASK(cuStreamGetCtx(NULL, &context));
    ASK(cuProfilerStart());
    ASK(cuProfilerStop());
    ASK(cuDeviceGetP2PAttribute(&answer, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0, 0));
    ASK(cuDeviceCanAccessPeer(&answer, 0, 0));
    print_value("a device is its own peer", "%d", answer);
    ASK(cuCtxEnablePeerAccess(primary, 0));
    ASK(cuCtxDisablePeerAccess(primary));
    ASK(cuMemcpyPeer(memory, primary, memory + 64, primary, 16));
    ASK(cuStreamAddCallback(stream, NULL, NULL, 0));
}
