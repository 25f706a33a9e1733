/* Host memory, which of its sizes and flags are taken, and attributes that can be set. */

#include "answers.h"

void host_memory(void)
{
    begin();
    CUdeviceptr memory, rows, mapped;
    void *host, *other;
    unsigned flags;
    size_t pitch;
    NEED(cuMemAlloc(&memory, PAGE));
    NEED(cuMemHostAlloc(&host, PAGE, 0));
    char *registered = aligned_alloc(PAGE, PAGE);
    memset(registered, 1, PAGE);
    NEED(cuMemHostRegister(registered, PAGE, 0));

    ASK(cuMemHostGetFlags(&flags, host));
    print_value("flags of host memory", "%u", flags);
    ASK(cuMemHostGetFlags(&flags, registered));
    print_value("flags of registered memory", "%u", flags);
    ASK(cuMemHostGetFlags(&flags, &flags));
    ASK(cuMemHostGetDevicePointer(&mapped, host, 1));
    ASK(cuMemHostGetDevicePointer(&mapped, &mapped, 0));
    ASK(cuMemHostAlloc(&other, 0, 0));
    ASK(cuMemHostAlloc(&other, 16, 8));
    ASK(cuMemHostAlloc(&other, 16, 255));
    ASK(cuMemHostRegister(registered + PAGE, 0, 0));
    ASK(cuMemHostRegister(NULL, PAGE, 0));
    ASK(cuMemHostRegister(registered, PAGE, 64));

    unsigned set = 1;
    ASK(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    ASK(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)&set));
    ASK(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    ASK(cuMemAllocPitch(&rows, &pitch, 100, 2, 5));
    ASK(cuMemAllocPitch(&rows, &pitch, 0, 2, 4));
    ASK(cuMemAllocPitch(&rows, &pitch, 100, 0, 4));
}
