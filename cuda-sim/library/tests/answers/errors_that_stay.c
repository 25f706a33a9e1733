/* Errors of kernels, which stay: what still answers, in the context, in others, and after a reset. */

#include "answers.h"

static void ask_in_the_context(void)
{
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUcontext current;
    unsigned long long id;
    size_t free, total;
    int count, active;
    unsigned flags;
    ASK(cuCtxSynchronize());
    ASK(cuMemAlloc(&memory, 16));
    ASK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK(cuStreamQuery(NULL));
    ASK(cuCtxGetId(primary, &id));
    ASK(cuMemGetInfo(&free, &total));
    ASK(cuStreamSynchronize(NULL));
    ASK(cuCtxGetCurrent(&current));
    ASK(cuDeviceGetCount(&count));
    ASK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    print_value("active", "%d", active);
}

static void ask_for_a_way_out(void)
{
    CUdeviceptr memory = 0;
    CUcontext second;
    ASK(cuCtxCreate(&second, NULL, 0, device));
    ASK(cuMemAlloc(&memory, 16));
    ASK(cuCtxSetCurrent(primary));
    ASK(cuDevicePrimaryCtxReset(device));
    ASK(cuDevicePrimaryCtxRetain(&primary, device));
    ASK(cuCtxSetCurrent(primary));
    ASK(cuMemAlloc(&memory, 16));
    ASK(cuMemsetD8(memory, 1, 16));
    ASK(cuCtxSynchronize());
}

/* Asks after a kernel has failed that is given an address: one of its own, if none is named. */
static void ask_after(const char *name, bool has_parameter, CUdeviceptr address)
{
    begin_with_module();
    CUdeviceptr memory, kept;
    CUstream stream;
    CUevent event;
    void *host;
    char bytes[8];
    unsigned type;
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuMemAlloc(&kept, PAGE));
    NEED(cuMemHostAlloc(&host, PAGE, 0));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    if (address == 0)
        address = memory;
    void *parameters[] = { &address };
    ASK(launch(kernel(name), 1, 1, 0, has_parameter ? parameters : NULL, NULL));
    /* Fails where the kernel has failed already. */
    cuEventRecord(event, NULL);
    ASK(cuStreamSynchronize(NULL));
    ASK(cuEventQuery(event));
    ASK(cuEventSynchronize(event));
    ASK(cuStreamQuery(stream));
    ASK(cuMemFree(memory));
    ASK(cuMemFreeHost(host));
    ASK(cuEventDestroy(event));
    ASK(cuStreamDestroy(stream));
    ASK(cuModuleUnload(module));
    ASK(cuMemcpyDtoH(bytes, kept, sizeof bytes));
    ASK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kept));
    ask_in_the_context();
    ask_for_a_way_out();
}

void illegal_address(void)
{
    ask_after("store", true, 16);
}

void misaligned_address(void)
{
    ask_after("store_askew", true, 0);
}

void trap(void)
{
    ask_after("trapped", false, 0);
}

void error_across_contexts(void)
{
    CUcontext second, of_other_device = NULL;
    CUdevice again;
    CUdeviceptr nowhere = 16, memory = 0;
    int count = 0;
    size_t total;
    NEED(cuInit(0));
    NEED(cuDeviceGetCount(&count));
    NEED(cuCtxCreate(&second, NULL, 0, 0));
    if (count > 1)
        NEED(cuDevicePrimaryCtxRetain(&of_other_device, 1));
    begin_with_module();
    void *parameters[] = { &nowhere };
    ASK(launch(kernel("store"), 1, 1, 0, parameters, NULL));
    ASK(cuCtxSynchronize());
    ASK(cuMemAlloc(&memory, 16));
    NEED(cuCtxSetCurrent(second));
    print_value("another context of the device", "%d", true);
    ASK(cuMemAlloc(&memory, 16));
    ASK(cuCtxSynchronize());
    if (of_other_device != NULL) {
        NEED(cuCtxSetCurrent(of_other_device));
        print_value("another device", "%d", true);
        ASK(cuMemAlloc(&memory, 16));
        ASK(cuCtxSynchronize());
        ASK(cuMemsetD8(memory, 1, 16));
    }
    ASK(cuDevicePrimaryCtxRelease(device));
    ASK(cuCtxDestroy(second));
    ASK(cuInit(0));
    ASK(cuDeviceGet(&again, 0));
    ASK(cuDeviceTotalMem(&total, device));
}
