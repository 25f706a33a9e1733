/* Copies of rows and slices: which pitches, heights and offsets are taken. */

#include "answers.h"

static char host[65536];

static void ask_for_slices(CUdeviceptr memory)
{
    CUDA_MEMCPY3D low_source = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .srcPitch = 16, .srcHeight = 2,
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 16, .dstHeight = 4,
        .WidthInBytes = 16, .Height = 4, .Depth = 2,
    };
    CUDA_MEMCPY3D no_height = low_source, below = low_source, of_a_level, right, one_row, narrow, of_no_type;
    ASK(cuMemcpy3D(&low_source));
    no_height.srcHeight = 0;
    ASK(cuMemcpy3D(&no_height));
    below.srcHeight = 4;
    below.srcY = 1;
    ASK(cuMemcpy3D(&below));
    of_a_level = below;
    of_a_level.srcY = 0;
    of_a_level.srcLOD = 1;
    ASK(cuMemcpy3D(&of_a_level));
    right = of_a_level;
    right.srcLOD = 0;
    ASK(cuMemcpy3D(&right));
    one_row = right;
    one_row.srcPitch = 0;
    one_row.Height = 1;
    one_row.Depth = 1;
    ASK(cuMemcpy3D(&one_row));
    narrow = one_row;
    narrow.srcPitch = 8;
    ASK(cuMemcpy3D(&narrow));
    of_no_type = narrow;
    of_no_type.srcMemoryType = 9;
    ASK(cuMemcpy3D(&of_no_type));
}

static void ask_for_rows(CUdeviceptr memory)
{
    CUDA_MEMCPY2D no_pitch = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .srcPitch = 0,
        .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 0, .WidthInBytes = 16, .Height = 2,
    };
    CUDA_MEMCPY2D one_row = no_pitch, narrow, beside;
    ASK(cuMemcpy2D(&no_pitch));
    one_row.Height = 1;
    ASK(cuMemcpy2D(&one_row));
    narrow = one_row;
    narrow.srcPitch = 8;
    ASK(cuMemcpy2D(&narrow));
    beside = one_row;
    beside.srcPitch = 16;
    beside.srcXInBytes = 8;
    beside.Height = 2;
    ASK(cuMemcpy2D(&beside));
}

void rows(void)
{
    begin();
    CUdeviceptr memory;
    NEED(cuMemAlloc(&memory, sizeof host));
    ask_for_slices(memory);
    ask_for_rows(memory);
}
