/* Arrays: which can be made, copies from and to them, and mipmapped ones. */

#include "answers.h"

static char host[4096];

static CUarray ask_for_arrays(void)
{
    CUarray array, refused;
    CUDA_ARRAY_DESCRIPTOR right = {
        .Width = 16, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4
    };
    ASK(cuArrayCreate(&array, &right));
    CUDA_ARRAY_DESCRIPTOR of_three = right, of_none = right, of_no_width = right, of_no_format = right,
                          too_wide = right;
    of_three.NumChannels = 3;
    ASK(cuArrayCreate(&refused, &of_three));
    of_none.NumChannels = 0;
    ASK(cuArrayCreate(&refused, &of_none));
    of_no_width.Width = 0;
    ASK(cuArrayCreate(&refused, &of_no_width));
    of_no_format.Format = 99;
    ASK(cuArrayCreate(&refused, &of_no_format));
    too_wide.Width = MEBIBYTE;
    ASK(cuArrayCreate(&refused, &too_wide));
    return array;
}

static void ask_for_copies_of_rows(CUarray array)
{
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array, .WidthInBytes = 64, .Height = 4,
    };
    CUDA_MEMCPY2D too_wide = copy, too_high = copy, beside = copy, to_the_edge = copy, askew = copy,
                  part_of_an_element = copy, below = copy, to_none = copy;
    ASK(cuMemcpy2D(&copy));
    too_wide.WidthInBytes = 65;
    ASK(cuMemcpy2D(&too_wide));
    too_high.Height = 5;
    ASK(cuMemcpy2D(&too_high));
    beside.dstXInBytes = 4;
    ASK(cuMemcpy2D(&beside));
    to_the_edge.dstXInBytes = 4;
    to_the_edge.WidthInBytes = 60;
    ASK(cuMemcpy2D(&to_the_edge));
    askew.dstXInBytes = 1;
    askew.WidthInBytes = 4;
    ASK(cuMemcpy2D(&askew));
    part_of_an_element.WidthInBytes = 3;
    ASK(cuMemcpy2D(&part_of_an_element));
    below.WidthInBytes = 4;
    below.dstY = 4;
    below.Height = 1;
    ASK(cuMemcpy2D(&below));
    to_none.dstArray = NULL;
    ASK(cuMemcpy2D(&to_none));
}

static void ask_for_copies_of_elements(CUarray array)
{
    CUarray line;
    CUDA_ARRAY_DESCRIPTOR described = {
        .Width = 16, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1
    };
    ASK(cuMemcpyAtoH(host, array, 0, 64));
    ASK(cuMemcpyAtoH(host, array, 60, 8));
    ASK(cuMemcpyAtoH(host, array, 0, 256));
    ASK(cuMemcpyAtoH(host, array, 2, 4));
    NEED(cuArrayCreate(&line, &described));
    ASK(cuMemcpyHtoA(line, 0, host, 64));
    ASK(cuMemcpyHtoA(line, 4, host, 64));
    ASK(cuMemcpyHtoA(line, 2, host, 4));
    ASK(cuMemcpyHtoA(line, 0, host, 65));
    ASK(cuMemcpyAtoA(line, 0, line, 32, 32));
}

static void ask_what_arrays_are(CUarray array)
{
    CUDA_ARRAY_DESCRIPTOR flat;
    CUDA_ARRAY3D_DESCRIPTOR deep;
    ASK(cuArrayGetDescriptor(&flat, array));
    print_value("width, height, format, channels", "%zu %zu %d %u", flat.Width, flat.Height,
                (int)flat.Format, flat.NumChannels);
    ASK(cuArray3DGetDescriptor(&deep, array));
    print_value("width, height, depth, flags", "%zu %zu %zu %u", deep.Width, deep.Height, deep.Depth,
                deep.Flags);
    ASK(cuArrayDestroy(array));
}

static void ask_for_arrays_of_images(void)
{
    CUarray array, level;
    CUmipmappedArray mipmapped;
    CUDA_ARRAY3D_DESCRIPTOR three_faces = {
        .Width = 8, .Height = 8, .Depth = 3, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1,
        .Flags = CUDA_ARRAY3D_CUBEMAP,
    };
    CUDA_ARRAY3D_DESCRIPTOR cube = three_faces, no_layer = three_faces, plain = three_faces;
    ASK(cuArray3DCreate(&array, &three_faces));
    cube.Depth = 6;
    ASK(cuArray3DCreate(&array, &cube));
    no_layer.Flags = CUDA_ARRAY3D_LAYERED;
    no_layer.Depth = 0;
    ASK(cuArray3DCreate(&array, &no_layer));
    plain.Flags = 0;
    plain.Depth = 0;
    ASK(cuMipmappedArrayCreate(&mipmapped, &plain, 4));
    ASK(cuMipmappedArrayGetLevel(&level, mipmapped, 3));
    ASK(cuMipmappedArrayGetLevel(&level, mipmapped, 4));
    ASK(cuArrayDestroy(level));
    ASK(cuMipmappedArrayDestroy(mipmapped));
    ASK(cuMipmappedArrayCreate(&mipmapped, &plain, 99));
}

void arrays(void)
{
    begin();
    CUarray array = ask_for_arrays();
    ask_for_copies_of_rows(array);
    ask_for_copies_of_elements(array);
    ask_what_arrays_are(array);
    ask_for_arrays_of_images();
}
