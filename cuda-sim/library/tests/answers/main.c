/* Asks a driver many questions, and prints what it answers. Each topic is a process of its own. */

#define _GNU_SOURCE
#include "answers.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a topic may take, in seconds. */
enum { PATIENCE = 60 };

CUdevice device;
CUcontext primary;
CUmodule module;

static const char *current_topic;

const char KERNELS[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 p){.reg .u64 %a;ld.param.u64 %a,[p];st.global.u32 [%a],1;ret;}\n"
    ".visible .entry store_askew(.param .u64 p)"
    "{.reg .u64 %a;ld.param.u64 %a,[p];add.u64 %a,%a,1;st.global.u32 [%a],1;ret;}\n"
    ".visible .entry trapped(){trap;}\n"
    ".visible .entry empty(){ret;}\n"
    ".visible .entry parameters(.param .u32 a,.param .align 8 .b8 s[24],.param .u8 c){ret;}\n"
    ".visible .entry limited().maxntid 64,1,1{ret;}\n"
    ".global .align 4 .u32 numbers[4]={1,2,3,4};\n"
    ".const .align 4 .u32 constant=7;\n";

void print_answer(const char *call, CUresult answer)
{
    printf("%s: %s -> %d\n", current_topic, call, answer);
    fflush(stdout);
}

void print_failure(const char *call, CUresult answer)
{
    if (answer != CUDA_SUCCESS) {
        printf("%s: needed: %s -> %d\n", current_topic, call, answer);
        fflush(stdout);
    }
}

void print_value(const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    printf("%s: %s = ", current_topic, name);
    vprintf(format, values);
    printf("\n");
    va_end(values);
    fflush(stdout);
}

void begin(void)
{
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&primary, device));
    NEED(cuCtxSetCurrent(primary));
}

void begin_with_module(void)
{
    begin();
    NEED(cuModuleLoadData(&module, KERNELS));
}

CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    NEED(cuModuleGetFunction(&function, module, name));
    return function;
}

CUresult launch(CUfunction function, unsigned blocks, unsigned threads, unsigned shared, void **parameters,
                void **extra)
{
    return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, NULL, parameters, extra);
}

static const struct {
    const char *name;
    void (*ask)(void);
} ALL[] = {
#define LIST(topic) { #topic, topic },
    TOPICS(LIST)
#undef LIST
};

/* Runs a topic in a process of its own, and says if it didn't come to its end. */
static bool run(const char *name, void (*ask)(void))
{
    char spaced[64];
    snprintf(spaced, sizeof spaced, "%s", name);
    for (char *at = spaced; *at != '\0'; at++)
        if (*at == '_')
            *at = ' ';
    current_topic = spaced;
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        ask();
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (status != 0)
        print_value("ended by", "%s %d", WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return status == 0;
}

/* Asks about the topics that are named; about all, if none is. */
int main(int count, char **names)
{
    bool well = true;
    for (size_t at = 0; at < sizeof ALL / sizeof *ALL; at++) {
        bool wanted = count < 2;
        for (int name = 1; name < count; name++)
            wanted = wanted || strcmp(names[name], ALL[at].name) == 0;
        if (wanted)
            well = run(ALL[at].name, ALL[at].ask) && well;
    }
    return well ? 0 : 1;
}
