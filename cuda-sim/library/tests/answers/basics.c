/* Initialisation, devices, events and what contexts are set to. */

#include "answers.h"

static void ask_before_and_of_initialization(void)
{
    int count;
    ASK(cuDeviceGetCount(&count));
    ASK(cuInit(1));
    begin();
}

static void ask_for_devices(void)
{
    CUdevice other;
    int value;
    char name[7];
    ASK(cuDeviceGet(&other, 7));
    ASK(cuDeviceGet(&other, -1));
    ASK(cuDeviceGetAttribute(&value, 9999, 0));
    ASK(cuDeviceGetAttribute(&value, 0, 0));
    ASK(cuDeviceGetName(name, sizeof name, 0));
    print_value("beginning of the name", "%s", name);
    const char *text = name;
    ASK(cuGetErrorName(12345, &text));
    print_value("text of an unknown error is null", "%d", text == NULL);
    ASK(cuGetErrorString(12345, &text));
}

static void ask_for_streams(void)
{
    int least, greatest, priority;
    CUstream stream;
    ASK(cuCtxGetStreamPriorityRange(&least, &greatest));
    print_value("least and greatest priority", "%d %d", least, greatest);
    ASK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
    ASK(cuStreamGetPriority(stream, &priority));
    print_value("priority", "%d", priority);
    ASK(cuStreamCreate(&stream, 2));
    ASK(cuStreamCreate(&stream, 3));
}

static CUevent ask_for_events(void)
{
    CUevent event, untimed;
    float milliseconds;
    ASK(cuEventCreate(&event, 8));
    ASK(cuEventCreate(&event, 16));
    ASK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    ASK(cuEventQuery(event));
    ASK(cuEventSynchronize(event));
    ASK(cuEventElapsedTime(&milliseconds, event, event));
    NEED(cuEventRecord(event, NULL));
    NEED(cuEventSynchronize(event));
    ASK(cuEventElapsedTime(&milliseconds, event, event));
    NEED(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    NEED(cuEventRecord(untimed, NULL));
    ASK(cuEventElapsedTime(&milliseconds, event, untimed));
    ASK(cuEventElapsedTime(NULL, event, event));
    return event;
}

static void ask_for_the_stack_of_contexts(void)
{
    CUcontext context;
    ASK(cuCtxPushCurrent(NULL));
    ASK(cuCtxPopCurrent(&context));
    ASK(cuCtxPopCurrent(&context));
    ASK(cuCtxPopCurrent(&context));
    NEED(cuCtxSetCurrent(primary));
    ASK(cuCtxDestroy(primary));
    ASK(cuCtxSynchronize());
}

static void ask_for_settings(void)
{
    unsigned flags;
    size_t limit;
    CUfunc_cache cache;
    ASK(cuCtxGetFlags(&flags));
    print_value("flags", "%u", flags);
    ASK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    ASK(cuCtxSetFlags(99));
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    print_value("stack size", "%zu", limit);
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_PRINTF_FIFO_SIZE));
    print_value("size of what is printed", "%zu", limit);
    ASK(cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
    print_value("heap size", "%zu", limit);
    ASK(cuCtxGetLimit(&limit, 99));
    ASK(cuCtxSetLimit(99, 1));
    ASK(cuCtxGetCacheConfig(&cache));
    print_value("cache", "%d", (int)cache);
    ASK(cuCtxSetCacheConfig(9));
}

static void ask_for_identities(void)
{
    CUuuid uuid;
    CUdevice other;
    char luid[8];
    unsigned mask;
    int major, minor;
    ASK(cuDeviceGetUuid(&uuid, 5));
    ASK(cuDeviceGetLuid(luid, &mask, 0));
    ASK(cuDeviceComputeCapability(&major, &minor, 0));
    ASK(cuDeviceGetByPCIBusId(&other, "zzz"));
    ASK(cuDeviceGetByPCIBusId(&other, "0000:ff:1f.0"));
    ASK(cuDevicePrimaryCtxRelease(5));
}

static void ask_for_flags_of_events(CUevent event)
{
    ASK(cuStreamWaitEvent(NULL, event, 2));
    ASK(cuStreamWaitEvent(NULL, event, CU_EVENT_WAIT_EXTERNAL));
    ASK(cuEventRecordWithFlags(event, NULL, CU_EVENT_RECORD_EXTERNAL));
    ASK(cuEventRecordWithFlags(event, NULL, 2));
}

void basics(void)
{
    unsigned version;
    ask_before_and_of_initialization();
    ask_for_devices();
    ask_for_streams();
    CUevent event = ask_for_events();
    ask_for_the_stack_of_contexts();
    ask_for_settings();
    ask_for_identities();
    ask_for_flags_of_events(event);
    ASK(cuCtxGetApiVersion(primary, &version));
    print_value("version of the interface", "%u", version);
    ASK(cuCtxGetApiVersion(NULL, &version));
}
