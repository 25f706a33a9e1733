/* Two contexts of one device: whose streams, events and memory serve in which, and what is left when
 * one is destroyed. */

#include "answers.h"

void contexts(void)
{
    begin();
    CUcontext second, current;
    CUstream stream, stream_of_second;
    CUevent event, event_of_second;
    CUdeviceptr memory, memory_of_second, pooled;
    unsigned long long id;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    NEED(cuMemAlloc(&memory, PAGE));
    ASK(cuCtxCreate(&second, NULL, 0, device));
    NEED(cuStreamCreate(&stream_of_second, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event_of_second, CU_EVENT_DISABLE_TIMING));
    NEED(cuMemAlloc(&memory_of_second, PAGE));

    NEED(cuCtxSetCurrent(primary));
    ASK(cuMemsetD8Async(memory, 1, 16, stream_of_second));
    ASK(cuMemsetD8Async(memory_of_second, 1, 16, stream));
    ASK(cuMemcpyDtoDAsync(memory, memory_of_second, 16, stream));
    ASK(cuMemcpyDtoD(memory, memory_of_second, 16));
    ASK(cuEventRecord(event_of_second, stream));
    ASK(cuEventRecord(event, stream));
    ASK(cuStreamWaitEvent(stream_of_second, event, 0));
    ASK(cuStreamSynchronize(stream_of_second));
    ASK(cuStreamQuery(stream_of_second));
    ASK(cuMemFree(memory_of_second));
    ASK(cuEventQuery(event_of_second));
    ASK(cuEventDestroy(event_of_second));
    ASK(cuStreamDestroy(stream_of_second));
    ASK(cuMemAllocAsync(&pooled, 64, stream));
    NEED(cuCtxSynchronize());

    NEED(cuCtxSetCurrent(second));
    ASK(cuMemFreeAsync(pooled, stream));
    ASK(cuMemFreeAsync(pooled, NULL));
    ASK(cuCtxDestroy(second));
    ASK(cuCtxSynchronize());
    ASK(cuCtxGetCurrent(&current));
    print_value("current is", "null %d, primary %d, destroyed %d", current == NULL, current == primary,
                current == second);
    ASK(cuCtxSetCurrent(second));
    ASK(cuCtxGetId(second, &id));
}
