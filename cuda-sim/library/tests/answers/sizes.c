/* No bytes, where allocations lie, events and flags. */

#include "answers.h"

#include <stdio.h>

static void ask_for_no_bytes(void)
{
    CUdeviceptr memory = 1, base;
    size_t size;
    void *host = &size;
    NEED(cuMemAllocAsync(&memory, 0, NULL));
    print_value("pool memory of no bytes is null", "%d", memory == 0);
    ASK(cuMemGetAddressRange(&base, &size, memory));
    ASK(cuMemFreeAsync(memory, NULL));
    NEED(cuMemHostAlloc(&host, 0, 0));
    print_value("host memory of no bytes is null", "%d", host == NULL);
    ASK(cuMemFreeHost(host));
    host = &size;
    ASK(cuMemAllocHost(&host, 0));
    print_value("host memory of no bytes is null", "%d", host == NULL);
}

static void ask_where_allocations_lie(void)
{
    CUdeviceptr first, next, before, memory;
    NEED(cuMemAlloc(&first, 1));
    before = first;
    for (int turn = 1; turn < 6; turn++) {
        NEED(cuMemAlloc(&next, 1));
        print_value("bytes from one allocation of a byte to the next", "%lld", (long long)(next - before));
        before = next;
    }
    NEED(cuMemAlloc(&memory, MEBIBYTE + 1));
    print_value("a mebibyte and a byte lie in the same block", "%d", memory / BLOCK == first / BLOCK);
    NEED(cuMemAlloc(&memory, MEBIBYTE));
    print_value("a mebibyte lies in the same block", "%d", memory / BLOCK == first / BLOCK);
    NEED(cuMemAlloc(&memory, BLOCK));
    print_value("two mebibytes begin a block", "%d", memory % BLOCK == 0);
}

static void ask_for_events_and_contexts(void)
{
    CUevent event;
    CUcontext context;
    unsigned flags;
    ASK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    ASK(cuEventQuery(event));
    ASK(cuCtxPushCurrent(NULL));
    ASK(cuCtxPopCurrent(&context));
    ASK(cuCtxPopCurrent(&context));
    ASK(cuCtxPopCurrent(&context));
    NEED(cuCtxSetCurrent(primary));
    ASK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC));
    ASK(cuCtxGetFlags(&flags));
    print_value("flags", "%u", flags);
    ASK(cuDevicePrimaryCtxSetFlags(device, 99));
}

void sizes(void)
{
    begin();
    ask_for_no_bytes();
    ask_where_allocations_lie();
    ask_for_events_and_contexts();
}
