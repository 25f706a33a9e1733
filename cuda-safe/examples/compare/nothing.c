/* A driver that does nothing, for what a library adds on the host:
   cc -O2 -shared -o libcuda.so.1 nothing.c && ln -s libcuda.so.1 libcuda.so */

#include <stdlib.h>

static long memory[512];

#define NOTHING(name, parameters) int name parameters { return 0; }
#define GIVES(name, parameters, what) int name parameters { what; return 0; }

NOTHING(cuInit, (unsigned flags))
GIVES(cuDriverGetVersion, (int *version), *version = 13000)
GIVES(cuDeviceGet, (int *device, int ordinal), *device = ordinal)
GIVES(cuDeviceGetCount, (int *count), *count = 1)
GIVES(cuDeviceGetAttribute, (int *value, int attribute, int device), *value = 1)
GIVES(cuDevicePrimaryCtxRetain, (void **context, int device), *context = memory)
NOTHING(cuDevicePrimaryCtxRelease_v2, (int device))
GIVES(cuCtxGetCurrent, (void **context), *context = memory)
NOTHING(cuCtxSetCurrent, (void *context))
GIVES(cuCtxGetId, (void *context, unsigned long long *id), *id = 1)
NOTHING(cuCtxSynchronize, (void))
GIVES(cuStreamCreate, (void **stream, unsigned flags), *stream = memory)
GIVES(cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority), *stream = memory)
NOTHING(cuStreamDestroy_v2, (void *stream))
NOTHING(cuStreamWaitEvent, (void *stream, void *event, unsigned flags))
NOTHING(cuStreamSynchronize, (void *stream))
GIVES(cuStreamIsCapturing, (void *stream, int *status), *status = 0)
GIVES(cuEventCreate, (void **event, unsigned flags), *event = memory)
NOTHING(cuEventRecord, (void *event, void *stream))
NOTHING(cuEventRecordWithFlags, (void *event, void *stream, unsigned flags))
NOTHING(cuEventQuery, (void *event))
NOTHING(cuEventSynchronize, (void *event))
NOTHING(cuEventDestroy_v2, (void *event))
NOTHING(cuThreadExchangeStreamCaptureMode, (int *mode))
GIVES(cuMemAlloc_v2, (unsigned long long *address, size_t size), *address = 4096)
GIVES(cuMemAllocAsync, (unsigned long long *address, size_t size, void *stream), *address = 4096)
NOTHING(cuMemFree_v2, (unsigned long long address))
NOTHING(cuMemFreeAsync, (unsigned long long address, void *stream))
GIVES(cuMemHostAlloc, (void **address, size_t size, unsigned flags), *address = calloc(1, size))
GIVES(cuMemFreeHost, (void *address), free(address))
GIVES(cuPointerGetAttribute, (void *value, int attribute, unsigned long long address),
      *(unsigned long long *)value = address)
NOTHING(cuMemcpyHtoDAsync_v2, (unsigned long long to, void *from, size_t bytes, void *stream))
NOTHING(cuMemcpyDtoHAsync_v2, (void *to, unsigned long long from, size_t bytes, void *stream))
NOTHING(cuMemsetD8Async, (unsigned long long to, unsigned char byte, size_t bytes, void *stream))
