/* Two devices: copies between them, access to each other's memory, and an error on one. */

#include "answers.h"

#include <stdio.h>

static CUcontext other;
static CUdeviceptr memory, memory_of_other;
static CUstream stream_of_other;

static void prepare(void)
{
    begin();
    NEED(cuDevicePrimaryCtxRetain(&other, 1));
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuCtxSetCurrent(other));
    NEED(cuMemAlloc(&memory_of_other, PAGE));
    NEED(cuMemsetD8(memory_of_other, 3, PAGE));
    NEED(cuStreamCreate(&stream_of_other, CU_STREAM_NON_BLOCKING));
    NEED(cuCtxSynchronize());
    NEED(cuCtxSetCurrent(primary));
}

static void ask_what_devices_can(void)
{
    int can;
    ASK(cuDeviceCanAccessPeer(&can, 0, 1));
    print_value("access is possible", "%d", can);
    for (int attribute = 1; attribute <= 5; attribute++) {
        CUresult answer = cuDeviceGetP2PAttribute(&can, attribute, 0, 1);
        char label[64];
        snprintf(label, sizeof label, "attribute %d", attribute);
        print_value(label, "%d %d", answer, can);
    }
}

static void ask_without_access(void)
{
    char host[16];
    int ordinal = 9;
    ASK(cuMemcpyDtoD(memory, memory_of_other, 16));
    ASK(cuMemcpy(memory, memory_of_other, 16));
    ASK(cuMemcpyPeer(memory, primary, memory_of_other, other, 16));
    ASK(cuMemcpyPeer(memory, other, memory_of_other, primary, 16));
    ASK(cuMemcpyPeer(memory, primary, memory_of_other, other, 8192));
    ASK(cuMemsetD8(memory_of_other, 1, 16));
    ASK(cuMemsetD8Async(memory_of_other, 1, 16, NULL));
    ASK(cuCtxSynchronize());
    ASK(cuMemcpyDtoH(host, memory_of_other, 16));
    ASK(cuMemcpyHtoD(memory_of_other, host, 16));
    ASK(cuMemFree(memory_of_other));
    NEED(cuCtxSetCurrent(other));
    NEED(cuMemAlloc(&memory_of_other, PAGE));
    NEED(cuCtxSetCurrent(primary));
    ASK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory_of_other));
    print_value("device of the memory", "%d", ordinal);
    ASK(cuMemsetD8Async(memory, 1, 16, stream_of_other));
}

static void ask_for_access(void)
{
    ASK(cuCtxEnablePeerAccess(other, 1));
    ASK(cuCtxEnablePeerAccess(other, 0));
    ASK(cuCtxEnablePeerAccess(other, 0));
    ASK(cuMemsetD8(memory_of_other, 1, 16));
    ASK(cuCtxSynchronize());
    ASK(cuCtxDisablePeerAccess(other));
    ASK(cuCtxDisablePeerAccess(other));
}

static void ask_for_an_error(void)
{
    CUdeviceptr more;
    NEED(cuModuleLoadData(&module, KERNELS));
    void *parameters[] = { &memory_of_other };
    ASK(launch(kernel("store"), 1, 1, 0, parameters, NULL));
    ASK(cuCtxSynchronize());
    ASK(cuMemAlloc(&more, 16));
    NEED(cuCtxSetCurrent(other));
    ASK(cuMemAlloc(&more, 16));
    ASK(cuCtxSynchronize());
}

void peers(void)
{
    int count = 0;
    NEED(cuInit(0));
    NEED(cuDeviceGetCount(&count));
    print_value("devices", "%d", count);
    if (count < 2)
        return;
    prepare();
    ask_what_devices_can();
    ask_without_access();
    ask_for_access();
    ask_for_an_error();
}
