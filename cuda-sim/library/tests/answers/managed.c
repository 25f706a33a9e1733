/* Managed memory: how it is attached, where it is to be, and what is told of that. */

#include "answers.h"

static const CUmemLocation ON_DEVICE = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 };
static const CUmemLocation ON_NO_DEVICE = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 9 };
static const CUmemLocation ON_HOST = { .type = CU_MEM_LOCATION_TYPE_HOST, .id = 0 };

static void ask_for_allocations(void)
{
    CUdeviceptr memory;
    ASK(cuMemAllocManaged(&memory, PAGE, 0));
    ASK(cuMemAllocManaged(&memory, PAGE, 3));
    ASK(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_SINGLE));
    ASK(cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL));
    ASK(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_HOST));
    NEED(cuMemFree(memory));
}

static void ask_for_advice(CUdeviceptr memory, CUdeviceptr plain)
{
    ASK(cuMemPrefetchAsync_v2(memory, 8192, ON_DEVICE, 0, NULL));
    ASK(cuMemPrefetchAsync_v2(memory, 8193, ON_DEVICE, 0, NULL));
    ASK(cuMemPrefetchAsync_v2(plain, PAGE, ON_DEVICE, 0, NULL));
    ASK(cuMemPrefetchAsync_v2(memory, 0, ON_DEVICE, 0, NULL));
    ASK(cuMemPrefetchAsync_v2(memory, 8192, ON_NO_DEVICE, 0, NULL));
    ASK(cuMemPrefetchAsync_v2(memory, 8192, ON_HOST, 0, NULL));
    ASK(cuMemPrefetchAsync_v2((CUdeviceptr)&memory, 16, ON_DEVICE, 0, NULL));
    ASK(cuMemAdvise_v2(memory, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, ON_DEVICE));
    ASK(cuMemAdvise_v2(memory, 8192, 99, ON_DEVICE));
    ASK(cuMemAdvise_v2(plain, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, ON_DEVICE));
    ASK(cuMemAdvise_v2(memory, 8193, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, ON_DEVICE));
    ASK(cuMemAdvise_v2(memory, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, ON_HOST));
    ASK(cuMemAdvise_v2(memory, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, ON_DEVICE));
}

static void ask_what_was_advised(CUdeviceptr memory, CUdeviceptr plain)
{
    int value = 77;
    int devices[3] = { 7, 7, 7 };
    ASK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 8192));
    print_value("read mostly", "%d", value);
    ASK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 8192));
    print_value("preferred location", "%d", value);
    ASK(cuMemRangeGetAttribute(devices, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 8192));
    print_value("devices that access all", "%d %d %d", devices[0], devices[1], devices[2]);
    ASK(cuMemRangeGetAttribute(devices, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE));
    print_value("devices that access a part", "%d %d %d", devices[0], devices[1], devices[2]);
    ASK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 8192));
    print_value("last prefetched to", "%d", value);
    ASK(cuMemRangeGetAttribute(&value, 2, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 8192));
    ASK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, PAGE));
    ASK(cuMemRangeGetAttribute(&value, 4, 99, memory, 8192));
}

static void ask_for_attachment(CUdeviceptr memory, CUdeviceptr plain)
{
    CUstream stream;
    ASK(cuStreamAttachMemAsync(NULL, memory, 0, CU_MEM_ATTACH_SINGLE));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
    ASK(cuStreamAttachMemAsync(stream, memory, PAGE, CU_MEM_ATTACH_GLOBAL));
    ASK(cuStreamAttachMemAsync(stream, plain, 0, CU_MEM_ATTACH_GLOBAL));
    ASK(cuStreamAttachMemAsync(stream, memory, 0, 9));
}

void managed(void)
{
    begin();
    CUdeviceptr memory, plain;
    ask_for_allocations();
    NEED(cuMemAllocManaged(&memory, 8192, CU_MEM_ATTACH_GLOBAL));
    NEED(cuMemAlloc(&plain, PAGE));
    ask_for_advice(memory, plain);
    ask_what_was_advised(memory, plain);
    ask_for_attachment(memory, plain);
    ASK(cuMemFreeAsync(memory, NULL));
    ASK(cuCtxSynchronize());
}
