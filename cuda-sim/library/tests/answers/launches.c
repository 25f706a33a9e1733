/* Launches: which shapes, parameters and sizes of shared memory are taken, and how many blocks fit. */

#include "answers.h"

static void ask_for_shapes(CUfunction empty, CUfunction limited)
{
    ASK(launch(empty, 0, 1, 0, NULL, NULL));
    ASK(launch(empty, 1, 0, 0, NULL, NULL));
    ASK(launch(empty, 1, 1025, 0, NULL, NULL));
    ASK(launch(limited, 1, 65, 0, NULL, NULL));
    ASK(launch(empty, 1, 1, 50000, NULL, NULL));
    ASK(launch(limited, 1, 1, 50000, NULL, NULL));
    ASK(launch(empty, 1, 1, 300000, NULL, NULL));
}

static void ask_for_parameters(void)
{
    unsigned char buffer[64] = { 0 };
    size_t eight = 8, four = 4, forty = 40;
    CUfunction store = kernel("store"), parameters = kernel("parameters");
    void *of_four[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &four,
                        CU_LAUNCH_PARAM_END };
    void *of_forty[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &forty,
                         CU_LAUNCH_PARAM_END };
    void *of_eight[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &eight,
                         CU_LAUNCH_PARAM_END };
    void *each[] = { &eight, buffer, buffer };
    ASK(launch(store, 1, 1, 0, NULL, NULL));
    ASK(launch(parameters, 1, 1, 0, NULL, of_four));
    ASK(launch(parameters, 1, 1, 0, NULL, of_forty));
    ASK(launch(parameters, 1, 1, 0, NULL, of_eight));
    ASK(launch(parameters, 1, 1, 0, each, of_eight));
    ASK(launch(NULL, 1, 1, 0, NULL, NULL));
}

static void ask_for_limits(CUfunction empty)
{
    ASK(cuLaunchKernel(empty, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ASK(cuLaunchKernel(empty, 2147483647u, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ASK(cuLaunchKernel(empty, 2147483648u, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ASK(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL));
    ASK(cuLaunchCooperativeKernel(empty, 100000, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    ASK(cuCtxSynchronize());
}

static void ask_how_many_fit(CUfunction empty)
{
    int blocks, threads;
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 256, 0));
    print_value("blocks", "%d", blocks);
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1, 0));
    print_value("blocks", "%d", blocks);
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1025, 0));
    print_value("blocks", "%d", blocks);
    ASK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 1024, 100000));
    print_value("blocks", "%d", blocks);
    ASK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, empty, NULL, 0, 0));
    print_value("blocks and threads", "%d %d", blocks, threads);
}

void launches(void)
{
    begin_with_module();
    CUfunction empty = kernel("empty");
    NEED(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    ask_for_shapes(empty, kernel("limited"));
    ask_for_parameters();
    ask_for_limits(empty);
    ask_how_many_fit(empty);
    ASK(cuModuleUnload(module));
    ASK(cuModuleUnload(module));
}
