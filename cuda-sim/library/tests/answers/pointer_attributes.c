/* What the driver knows of addresses, by the kind of memory. */

#include "answers.h"

#include <stdio.h>

/* Is how the value of an attribute is shown. */
enum shown { AS_NUMBER, AS_ADDRESS, AS_CONTEXT, AS_HANDLE, AS_NOTHING };

static const struct {
    const char *name;
    CUpointer_attribute attribute;
    enum shown shown;
} ATTRIBUTES[] = {
    { "HOST_POINTER", CU_POINTER_ATTRIBUTE_HOST_POINTER, AS_ADDRESS },
    { "DEVICE_POINTER", CU_POINTER_ATTRIBUTE_DEVICE_POINTER, AS_ADDRESS },
    { "SYNC_MEMOPS", CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, AS_NUMBER },
    { "MAPPED", CU_POINTER_ATTRIBUTE_MAPPED, AS_NUMBER },
    { "IS_GPU_DIRECT_RDMA_CAPABLE", CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, AS_NUMBER },
    { "ACCESS_FLAGS", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, AS_NUMBER },
    { "MEMPOOL_HANDLE", CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, AS_HANDLE },
    { "MAPPING_SIZE", CU_POINTER_ATTRIBUTE_MAPPING_SIZE, AS_NUMBER },
    { "MAPPING_BASE_ADDR", CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, AS_ADDRESS },
    { "MEMORY_BLOCK_ID", CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, AS_HANDLE },
    { "CONTEXT", CU_POINTER_ATTRIBUTE_CONTEXT, AS_CONTEXT },
    { "P2P_TOKENS", CU_POINTER_ATTRIBUTE_P2P_TOKENS, AS_NOTHING },
    { "IS_HW_DECOMPRESS_CAPABLE", CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, AS_NUMBER },
    { "MEMORY_TYPE", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, AS_NUMBER },
    { "RANGE_SIZE", CU_POINTER_ATTRIBUTE_RANGE_SIZE, AS_NUMBER },
};

static void show(char *text, size_t size, enum shown shown, unsigned long long value, CUdeviceptr address)
{
    switch (shown) {
    case AS_NUMBER:
        snprintf(text, size, " %#llx", value);
        break;
    case AS_ADDRESS:
        snprintf(text, size, value == address ? " the address" : value == 0 ? " null" : " another address");
        break;
    case AS_CONTEXT:
        snprintf(text, size, value == 0 ? " null" : value == (size_t)primary ? " the context" : " another");
        break;
    case AS_HANDLE:
        snprintf(text, size, value == 0 ? " null" : " one");
        break;
    case AS_NOTHING:
        break;
    }
}

void ask_pointer_attributes(const char *name, CUdeviceptr address)
{
    for (size_t at = 0; at < sizeof ATTRIBUTES / sizeof *ATTRIBUTES; at++) {
        /* As long as the longest of them. */
        unsigned long long value[8] = { 0 };
        CUresult answer = cuPointerGetAttribute(value, ATTRIBUTES[at].attribute, address);
        char text[64] = "";
        if (answer == CUDA_SUCCESS)
            show(text, sizeof text, ATTRIBUTES[at].shown, value[0], address);
        char label[64];
        snprintf(label, sizeof label, "%s of %s", ATTRIBUTES[at].name, name);
        print_value(label, "%d%s", answer, text);
    }
}

void pointer_attributes(void)
{
    begin();
    CUdeviceptr memory, managed_memory, pooled;
    void *host;
    NEED(cuMemAlloc(&memory, PAGE));
    ask_pointer_attributes("device memory", memory);
    NEED(cuMemHostAlloc(&host, PAGE, 0));
    ask_pointer_attributes("host memory", (CUdeviceptr)host);
    char *registered = aligned_alloc(PAGE, PAGE);
    memset(registered, 1, PAGE);
    NEED(cuMemHostRegister(registered, PAGE, 0));
    ask_pointer_attributes("registered memory", (CUdeviceptr)registered);
    NEED(cuMemAllocManaged(&managed_memory, PAGE, CU_MEM_ATTACH_GLOBAL));
    ask_pointer_attributes("managed memory", managed_memory);
    NEED(cuMemAllocAsync(&pooled, PAGE, NULL));
    ask_pointer_attributes("pool memory", pooled);
}
