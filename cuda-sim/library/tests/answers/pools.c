/* Memory pools: which can be made, what they say of themselves, who may use them, and handles for
 * others. */

#include "answers.h"

#include <stdio.h>

static CUmemPoolProps pinned(void)
{
    return (CUmemPoolProps){
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
    };
}

static void ask_for_pools_with_a_limit(void)
{
    CUmemPoolProps of_no_type = pinned(), of_no_device = pinned(), of_no_handle_type = pinned(),
                   limited = pinned();
    CUmemoryPool pool;
    CUdeviceptr memory, other;
    of_no_type.allocType = 0;
    of_no_device.location.id = 9;
    of_no_handle_type.handleTypes = CU_MEM_HANDLE_TYPE_WIN32_KMT;
    limited.maxSize = MEBIBYTE;
    ASK(cuMemPoolCreate(&pool, &of_no_type));
    ASK(cuMemPoolCreate(&pool, &of_no_device));
    ASK(cuMemPoolCreate(&pool, &of_no_handle_type));
    ASK(cuMemPoolCreate(&pool, &limited));
    ASK(cuMemAllocFromPoolAsync(&memory, 64 << 20, pool, NULL));
    ASK(cuMemAllocFromPoolAsync(&memory, MEBIBYTE, pool, NULL));
    ASK(cuMemAllocFromPoolAsync(&other, 33 << 20, pool, NULL));
    ASK(cuMemFreeAsync(memory, NULL));
    ASK(cuMemPoolDestroy(pool));
    ASK(cuMemPoolDestroy(pool));
}

static void ask_for_attributes(CUmemoryPool pool, int first, const char *when)
{
    for (int attribute = first; attribute <= 8; attribute++) {
        unsigned long long value = 0;
        CUresult answer = cuMemPoolGetAttribute(pool, attribute, &value);
        char label[64];
        snprintf(label, sizeof label, "attribute %d %s", attribute, when);
        print_value(label, "%d %llu", answer, value);
    }
}

static void ask_what_pools_say(void)
{
    CUmemPoolProps properties = pinned();
    CUmemoryPool pool;
    CUdeviceptr memory;
    unsigned long long value = 5;
    ASK(cuMemPoolCreate(&pool, &properties));
    ask_for_attributes(pool, 1, "of a new pool");
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &value));
    value = 0;
    ASK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &value));
    ASK(cuMemPoolSetAttribute(pool, 99, &value));
    ASK(cuMemPoolGetAttribute(pool, 99, &value));
    ASK(cuMemAllocFromPoolAsync(&memory, PAGE, pool, NULL));
    NEED(cuCtxSynchronize());
    ask_for_attributes(pool, 5, "with memory");
    ASK(cuMemFreeAsync(memory, NULL));
    ASK(cuCtxSynchronize());
    ask_for_attributes(pool, 5, "after free and wait");
    ASK(cuMemPoolTrimTo(pool, 0));

    CUmemAccessDesc access = { .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 }, .flags = 0 };
    CUmemAccess_flags flags;
    int descriptor;
    ASK(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemPoolSetAccess(pool, &access, 1));
    ASK(cuMemPoolGetAccess(&flags, pool, &access.location));
    print_value("access", "%d", (int)flags);
    ASK(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static CUmemoryPool ask_for_handles_for_others(void)
{
    CUmemPoolProps properties = pinned();
    CUmemoryPool pool, imported;
    CUmemPoolPtrExportData data;
    CUdeviceptr memory, found, plain;
    int descriptor;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    NEED(cuMemPoolCreate(&pool, &properties));
    NEED(cuMemAllocFromPoolAsync(&memory, PAGE, pool, NULL));
    ASK(cuMemPoolExportPointer(&data, memory));
    ASK(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ASK(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    ASK(cuMemPoolExportPointer(&data, memory));
    ASK(cuMemPoolExportPointer(&data, memory + 16));
    ASK(cuMemPoolImportFromShareableHandle(&imported, (void *)(long)descriptor, 1, 0));
    ASK(cuMemPoolImportPointer(&found, imported, &data));
    ASK(cuMemAllocFromPoolAsync(&found, 64, imported, NULL));
    ASK(cuMemPoolImportFromShareableHandle(&imported, (void *)0L, 1, 0));
    NEED(cuMemAlloc(&plain, 64));
    ASK(cuMemPoolExportPointer(&data, plain));
    ASK(cuMemFree(memory));
    ASK(cuMemFree(memory));
    return pool;
}

static void ask_for_frees_and_reuse(void)
{
    CUdeviceptr memory, again;
    CUstream stream;
    NEED(cuMemAllocAsync(&memory, PAGE, NULL));
    ASK(cuMemFreeAsync(memory + 16, NULL));
    ASK(cuMemFreeAsync(0, NULL));
    NEED(cuMemFreeAsync(memory, NULL));
    ASK(cuMemcpyDtoD(memory, memory, 16));
    ASK(cuMemsetD8Async(memory, 0, 16, NULL));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAllocAsync(&again, PAGE, NULL));
    print_value("the same stream is given the same memory", "%d", memory == again);
    NEED(cuMemFreeAsync(again, NULL));
    NEED(cuMemAllocAsync(&memory, PAGE, stream));
    print_value("an idle stream is given the same memory", "%d", memory == again);
}

void pools(void)
{
    begin();
    CUmemoryPool default_pool, current;
    CUdeviceptr memory;
    NEED(cuDeviceGetDefaultMemPool(&default_pool, device));
    ASK(cuMemPoolDestroy(default_pool));
    ASK(cuMemAllocAsync(&memory, 0, NULL));
    ask_for_pools_with_a_limit();
    ask_what_pools_say();
    CUmemoryPool pool = ask_for_handles_for_others();
    ASK(cuDeviceSetMemPool(device, pool));
    ASK(cuMemPoolDestroy(pool));
    ASK(cuDeviceGetMemPool(&current, device));
    print_value("the device's pool is", "default %d, destroyed %d", current == default_pool,
                current == pool);
    ask_for_frees_and_reuse();
}
