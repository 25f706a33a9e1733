/* Streams that wait for words of memory and write them. */

#include "answers.h"

void stream_memory_operations(void)
{
    begin();
    CUdeviceptr memory;
    CUstream stream;
    CUstreamBatchMemOpParams operations[2];
    int pageable;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuMemsetD8(memory, 0, PAGE));
    ASK(cuStreamWriteValue32(stream, memory, 5, 0));
    ASK(cuStreamWaitValue32(stream, memory, 5, CU_STREAM_WAIT_VALUE_EQ));
    ASK(cuStreamSynchronize(stream));
    ASK(cuStreamWriteValue32(stream, memory + 2, 5, 0));
    ASK(cuStreamWriteValue64(stream, memory + 4, 5, 0));
    ASK(cuStreamWaitValue32(stream, memory, 5, 99));
    ASK(cuStreamWriteValue32(stream, memory, 5, 99));
    ASK(cuStreamWriteValue32(stream, memory + PAGE, 5, 0));
    ASK(cuStreamWriteValue32(stream, 0, 5, 0));
    ASK(cuStreamWriteValue32(stream, (CUdeviceptr)&pageable, 5, 0));
    memset(operations, 0, sizeof operations);
    ASK(cuStreamBatchMemOp(stream, 0, operations, 0));
    ASK(cuStreamBatchMemOp(stream, 1, operations, 0));
    operations[0].operation = 99;
    ASK(cuStreamBatchMemOp(stream, 1, operations, 0));
    ASK(cuStreamBatchMemOp(stream, 257, operations, 0));
}
