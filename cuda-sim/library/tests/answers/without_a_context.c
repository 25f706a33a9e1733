/* Calls that name everything they need, in a thread without a current context. Each is asked in a
 * process of its own, since some end it. */

#include "answers.h"

#include <sys/wait.h>
#include <unistd.h>

static CUgraph graph, inner, with_memory;
static CUgraphExec executable;
static CUgraphNode empty, filling, copying, running, recording, waiting, child, allocating, refused;
static CUstream stream;
static CUevent event;
static CUdeviceptr memory, ordered;
static CUmemoryPool pool;
static CUlibrary library;
static CUkernel found;

static CUDA_MEMSET_NODE_PARAMS fill;
static CUDA_MEMCPY3D copy;
static CUDA_KERNEL_NODE_PARAMS run_one;
static CUDA_HOST_NODE_PARAMS call_one;
static CUDA_MEM_ALLOC_NODE_PARAMS allocation;
static CUmemPoolProps in_the_device;
static CUgraphExecUpdateResultInfo update;
static unsigned count;
static int value;
static cuuint64_t number;

/* Stands in questions, which are printed as the preprocessor leaves them. */
static void *const nothing = NULL;

static void describe(void)
{
    fill = (CUDA_MEMSET_NODE_PARAMS){ .dst = memory, .value = 1, .elementSize = 1, .width = 16, .height = 1 };
    copy = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = memory + 64, .WidthInBytes = 16, .Height = 1, .Depth = 1,
    };
    run_one = (CUDA_KERNEL_NODE_PARAMS){
        .func = kernel("empty"), .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
        .blockDimZ = 1,
    };
    call_one = (CUDA_HOST_NODE_PARAMS){ .fn = ask_from_inside };
    in_the_device = (CUmemPoolProps){
        .allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
    };
    allocation = (CUDA_MEM_ALLOC_NODE_PARAMS){ .poolProps = in_the_device, .bytesize = PAGE };
}

/* Makes everything in a context, and leaves the context. */
static void make_all(void)
{
    begin_with_module();
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    NEED(cuMemAlloc(&memory, PAGE));
    describe();
    NEED(cuMemPoolCreate(&pool, &in_the_device));
    NEED(cuMemAllocFromPoolAsync(&ordered, PAGE, pool, stream));
    NEED(cuLibraryLoadData(&library, KERNELS, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&found, library, "empty"));
    NEED(cuGraphCreate(&graph, 0));
    NEED(cuGraphCreate(&inner, 0));
    NEED(cuGraphCreate(&with_memory, 0));
    NEED(cuGraphAddEmptyNode(&refused, inner, NULL, 0));
    NEED(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    NEED(cuGraphAddMemsetNode(&filling, graph, NULL, 0, &fill, primary));
    NEED(cuGraphAddMemcpyNode(&copying, graph, NULL, 0, &copy, primary));
    NEED(cuGraphAddKernelNode(&running, graph, NULL, 0, &run_one));
    NEED(cuGraphAddEventRecordNode(&recording, graph, NULL, 0, event));
    NEED(cuGraphAddEventWaitNode(&waiting, graph, NULL, 0, event));
    NEED(cuGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    NEED(cuGraphAddMemAllocNode(&allocating, with_memory, NULL, 0, &allocation));
    NEED(cuGraphInstantiate(&executable, graph, 0));
    NEED(cuStreamSynchronize(stream));
    NEED(cuCtxSetCurrent(NULL));
}

#define QUESTIONS(ask) \
    ask(cuGraphCreate(&graph, 0)) \
    ask(cuGraphAddEmptyNode(&refused, graph, nothing, 0)) \
    ask(cuGraphAddMemsetNode(&refused, graph, nothing, 0, &fill, primary)) \
    ask(cuGraphAddMemcpyNode(&refused, graph, nothing, 0, &copy, primary)) \
    ask(cuGraphAddKernelNode(&refused, graph, nothing, 0, &run_one)) \
    ask(cuGraphAddHostNode(&refused, graph, nothing, 0, &call_one)) \
    ask(cuGraphAddEventRecordNode(&refused, graph, nothing, 0, event)) \
    ask(cuGraphAddEventWaitNode(&refused, graph, nothing, 0, event)) \
    ask(cuGraphAddChildGraphNode(&refused, graph, nothing, 0, inner)) \
    ask(cuGraphAddMemAllocNode(&refused, graph, nothing, 0, &allocation)) \
    ask(cuGraphAddMemFreeNode(&refused, with_memory, &allocating, 1, allocation.dptr)) \
    ask(cuGraphMemsetNodeSetParams(filling, &fill)) \
    ask(cuGraphMemcpyNodeSetParams(copying, &copy)) \
    ask(cuGraphKernelNodeSetParams(running, &run_one)) \
    ask(cuGraphKernelNodeGetParams(running, &run_one)) \
    ask(cuGraphKernelNodeCopyAttributes(running, running)) \
    ask(cuGraphEventRecordNodeSetEvent(recording, event)) \
    ask(cuGraphEventWaitNodeSetEvent(waiting, event)) \
    ask(cuGraphAddDependencies(graph, &empty, &filling, nothing, 1)) \
    ask(cuGraphDestroyNode(running)) \
    ask(cuGraphClone(&inner, graph)) \
    ask(cuGraphInstantiate(&executable, graph, 0)) \
    ask(cuGraphExecGetFlags(executable, &number)) \
    ask(cuGraphExecMemsetNodeSetParams(executable, filling, &fill, primary)) \
    ask(cuGraphExecMemcpyNodeSetParams(executable, copying, &copy, primary)) \
    ask(cuGraphExecKernelNodeSetParams(executable, running, &run_one)) \
    ask(cuGraphExecEventRecordNodeSetEvent(executable, recording, event)) \
    ask(cuGraphExecEventWaitNodeSetEvent(executable, waiting, event)) \
    ask(cuGraphExecChildGraphNodeSetParams(executable, child, inner)) \
    ask(cuGraphExecUpdate(executable, graph, &update)) \
    ask(cuGraphNodeSetEnabled(executable, filling, 0)) \
    ask(cuGraphNodeGetEnabled(executable, filling, &count)) \
    ask(cuGraphUpload(executable, stream)) \
    ask(cuGraphLaunch(executable, stream)) \
    ask(cuGraphExecDestroy(executable)) \
    ask(cuGraphDestroy(graph)) \
    ask(cuDeviceGraphMemTrim(device)) \
    ask(cuMemPoolCreate(&pool, &in_the_device)) \
    ask(cuMemPoolTrimTo(pool, 0)) \
    ask(cuMemAllocFromPoolAsync(&ordered, PAGE, pool, stream)) \
    ask(cuMemAllocAsync(&ordered, PAGE, stream)) \
    ask(cuMemFreeAsync(ordered, stream)) \
    ask(cuLibraryLoadData(&library, KERNELS, nothing, nothing, 0, nothing, nothing, 0)) \
    ask(cuLibraryGetKernel(&found, library, "empty")) \
    ask(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, found, device)) \
    ask(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, found, device)) \
    ask(cuLibraryUnload(library)) \
    ask(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, run_one.func)) \
    ask(cuMemsetD8Async(memory, 1, 16, stream)) \
    ask(cuLaunchKernel(run_one.func, 1, 1, 1, 1, 1, 1, 0, stream, nothing, nothing)) \
    ask(cuLaunchHostFunc(stream, ask_from_inside, stream)) \
    ask(cuEventRecord(event, stream)) \
    ask(cuEventQuery(event)) \
    ask(cuEventSynchronize(event)) \
    ask(cuStreamWaitEvent(stream, event, 0)) \
    ask(cuStreamQuery(stream)) \
    ask(cuStreamSynchronize(stream)) \
    ask(cuMemFree(memory)) \
    ask(cuModuleUnload(module)) \
    ask(cuEventDestroy(event)) \
    ask(cuStreamDestroy(stream))

/* Runs a question in a process of its own. */
#define ASK_ALONE(call) \
    { \
        pid_t process = fork(); \
        if (process == 0) { \
            make_all(); \
            ASK(call); \
            _exit(0); \
        } \
        int status = 0; \
        if (process > 0 && waitpid(process, &status, 0) == process && WIFSIGNALED(status)) \
            print_value(#call, "signal %d", WTERMSIG(status)); \
    }

void without_a_context(void)
{
    QUESTIONS(ASK_ALONE)
}
