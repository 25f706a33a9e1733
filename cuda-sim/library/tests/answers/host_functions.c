/* Driver calls inside of a host function. */

#include "answers.h"

#include <stdatomic.h>
#include <unistd.h>

/* Is what was answered inside; written there, and read once `done` is set. */
static struct {
    CUresult allocate, current, count, query, memory, version, synchronize, init;
} inside;
static atomic_bool done;

void CUDA_CB ask_from_inside(void *stream)
{
    CUdeviceptr memory;
    CUcontext context;
    int number;
    size_t free, total;
    inside.allocate = cuMemAlloc(&memory, 16);
    inside.current = cuCtxGetCurrent(&context);
    inside.count = cuDeviceGetCount(&number);
    inside.query = cuStreamQuery(stream);
    inside.memory = cuMemGetInfo(&free, &total);
    inside.version = cuDriverGetVersion(&number);
    inside.synchronize = cuCtxSynchronize();
    inside.init = cuInit(0);
    atomic_store(&done, true);
}

void print_from_inside(void)
{
    for (int turn = 0; turn < 1000 && !atomic_load(&done); turn++)
        usleep(1000);
    print_answer("inside: cuMemAlloc", inside.allocate);
    print_answer("inside: cuCtxGetCurrent", inside.current);
    print_answer("inside: cuDeviceGetCount", inside.count);
    print_answer("inside: cuStreamQuery", inside.query);
    print_answer("inside: cuMemGetInfo", inside.memory);
    print_answer("inside: cuDriverGetVersion", inside.version);
    print_answer("inside: cuCtxSynchronize", inside.synchronize);
    print_answer("inside: cuInit", inside.init);
}

void host_functions(void)
{
    begin();
    CUstream stream;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK(cuLaunchHostFunc(stream, ask_from_inside, stream));
    ASK(cuStreamSynchronize(stream));
    print_from_inside();
    ASK(cuLaunchHostFunc(stream, NULL, NULL));
}
