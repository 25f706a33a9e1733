/* What every topic asks with, and what it prints: `topic: call -> code` for a call whose answer is
 * asked for, `topic: name = value` for what it gave. No address, handle or id is printed, as no two
 * runs have the same: only how they relate. */

#ifndef ANSWERS_H
#define ANSWERS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Are in the driver, though not in this header. */
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                           CUgraph *graph, const CUgraphNode **nodes, size_t *count);
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

/* Makes a call, and prints its answer. */
#define ASK(call) print_answer(#call, (call))

/* Makes a call that later ones need, and prints its answer if it failed. */
#define NEED(call) print_failure(#call, (call))

/* Is the device that topics use, and its primary context, which `begin` makes current. */
extern CUdevice device;
extern CUcontext primary;

/* Is a module of small kernels, which `begin_with_module` loads. */
extern const char KERNELS[];
extern CUmodule module;

/* Are some bytes of a device, and of the host. */
enum { PAGE = 4096, MEBIBYTE = 1 << 20, BLOCK = 2 << 20 };

void begin(void);
void begin_with_module(void);
CUfunction kernel(const char *name);

void print_answer(const char *call, CUresult answer);
void print_failure(const char *call, CUresult answer);
void print_value(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Launches a kernel with blocks and threads in one dimension on the legacy stream. */
CUresult launch(CUfunction function, unsigned blocks, unsigned threads, unsigned shared, void **parameters,
                void **extra);

/* Asks for the attributes of an address, which the text names. */
void ask_pointer_attributes(const char *name, CUdeviceptr address);

/* Asks from inside of a host function, and keeps the answers; `print_from_inside` waits for them. */
void CUDA_CB ask_from_inside(void *stream);
void print_from_inside(void);

#define TOPICS(topic) \
    topic(basics) topic(contexts) topic(host_functions) topic(pointer_attributes) topic(host_memory) \
    topic(managed) topic(virtual_memory) topic(pools) topic(arrays) topic(modules) topic(launches) \
    topic(libraries) topic(illegal_address) topic(misaligned_address) topic(trap) \
    topic(error_across_contexts) topic(graphs) topic(graph_memory) topic(capture) topic(captured_graphs) \
    topic(sizes) topic(rows) topic(stream_memory_operations) topic(batch_copies) topic(streams) \
    topic(without_a_context) topic(peers)

#define DECLARE(topic) void topic(void);
TOPICS(DECLARE)
#undef DECLARE

#endif
