/* Copies in batches. */

#include "answers.h"

static CUresult copy(CUdeviceptr memory, size_t last_size, size_t count, unsigned order, size_t first,
                     CUstream stream)
{
    CUdeviceptr to[] = { memory + 1024, memory + 2048 }, from[] = { memory, memory + 64 };
    size_t sizes[] = { 16, last_size }, firsts[] = { first };
    CUmemcpyAttributes attributes = { .srcAccessOrder = order };
    return cuMemcpyBatchAsync_v2(to, from, sizes, count, &attributes, firsts, 1, stream);
}

void batch_copies(void)
{
    begin();
    CUdeviceptr memory;
    CUstream stream;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuMemsetD8(memory, 0, PAGE));
    ASK(copy(memory, 16, 2, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 0, stream));
    ASK(copy(memory, 16, 0, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 0, stream));
    ASK(copy(memory, 16, 2, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 0, NULL));
    ASK(copy(memory, 16, 2, CU_MEMCPY_SRC_ACCESS_ORDER_INVALID, 0, stream));
    ASK(copy(memory, 16, 2, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 1, stream));
    ASK(copy(memory, 8192, 2, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 0, stream));
    ASK(cuStreamSynchronize(stream));
}
