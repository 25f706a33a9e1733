/* Modules: which are refused, what is found in them, and what is told of it; and libraries of kernels,
 * linked ones too. */

#include "answers.h"

#include <stdio.h>

#define HEADER(version, target) ".version " version "\n.target " target "\n.address_size 64\n"
#define EMPTY ".visible .entry x(){ret;}\n"

static void ask_for_refused_modules(void)
{
    static const char unknown_instruction[] = HEADER("7.0", "sm_70") ".visible .entry x(){ foo bar; }\n";
    static const char newer_version[] = HEADER("99.0", "sm_70") EMPTY;
    static const char unknown_target[] = HEADER("7.0", "sm_999") EMPTY;
    static const char own_target[] = HEADER("8.0", "sm_90a") EMPTY;
    static const char newer_target[] = HEADER("8.7", "sm_100") EMPTY;
    static const char damaged_cubin[] =
        "\x7f" "ELF garbage................................................................";
    CUmodule loaded;
    ASK(cuModuleLoadData(&loaded, "garbage"));
    ASK(cuModuleLoadData(&loaded, ""));
    ASK(cuModuleLoadData(&loaded, NULL));
    ASK(cuModuleLoadData(&loaded, unknown_instruction));
    ASK(cuModuleLoadData(&loaded, newer_version));
    ASK(cuModuleLoadData(&loaded, unknown_target));
    ASK(cuModuleLoadData(&loaded, own_target));
    ASK(cuModuleLoadData(&loaded, newer_target));
    ASK(cuModuleLoadData(&loaded, damaged_cubin));
    ASK(cuModuleLoad(&loaded, "/nonexistent"));
}

static void ask_what_is_found(void)
{
    CUfunction function;
    CUdeviceptr global;
    size_t size;
    unsigned count;
    ASK(cuModuleGetFunction(&function, module, "nope"));
    ASK(cuModuleGetFunction(&function, module, NULL));
    ASK(cuModuleGetGlobal(&global, &size, module, "numbers"));
    print_value("size of a variable", "%zu", size);
    ask_pointer_attributes("a variable", global);
    ASK(cuModuleGetGlobal(&global, &size, module, "constant"));
    print_value("size of a constant", "%zu", size);
    ASK(cuModuleGetGlobal(&global, &size, module, "nope"));
    ASK(cuMemFree(global));
    ASK(cuModuleGetFunctionCount(&count, module));
    print_value("functions", "%u", count);
}

static void ask_for_parameters(CUfunction function)
{
    const char *name;
    size_t offset, size;
    ASK(cuFuncGetName(&name, function));
    print_value("name", "%s", name);
    ASK(cuFuncGetParamInfo(function, 0, &offset, &size));
    print_value("offset and size", "%zu %zu", offset, size);
    ASK(cuFuncGetParamInfo(function, 1, &offset, &size));
    print_value("offset and size", "%zu %zu", offset, size);
    ASK(cuFuncGetParamInfo(function, 2, &offset, &size));
    print_value("offset and size", "%zu %zu", offset, size);
    ASK(cuFuncGetParamInfo(function, 3, &offset, &size));
}

static void ask_for_attributes(CUfunction empty)
{
    int value;
    for (int attribute = 0; attribute < 16; attribute++) {
        CUresult answer = cuFuncGetAttribute(&value, attribute, empty);
        char label[64];
        snprintf(label, sizeof label, "attribute %d", attribute);
        print_value(label, "%d %d", answer, value);
    }
    CUfunction limited = kernel("limited");
    ASK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, limited));
    print_value("threads of a limited kernel", "%d", value);
    ASK(cuFuncGetAttribute(&value, 99, empty));
    ASK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    ASK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000));
    ASK(cuFuncSetAttribute(empty, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 3));
    ASK(cuFuncSetCacheConfig(empty, 9));
}

void modules(void)
{
    begin_with_module();
    ask_for_refused_modules();
    ask_what_is_found();
    ask_for_parameters(kernel("parameters"));
    ask_for_attributes(kernel("empty"));
}

void libraries(void)
{
    begin();
    CUlibrary library;
    CUkernel found;
    CUdeviceptr global;
    CUlinkState link;
    CUmodule loaded;
    void *cubin = NULL;
    size_t size = 0;
    ASK(cuLibraryLoadData(&library, KERNELS, NULL, NULL, 0, NULL, NULL, 0));
    ASK(cuLibraryGetKernel(&found, library, "nope"));
    ASK(cuLibraryGetKernel(&found, library, "empty"));
    ASK(cuLaunchKernel((CUfunction)found, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ASK(cuCtxSynchronize());
    ASK(cuLibraryGetGlobal(&global, &size, library, "numbers"));
    ASK(cuLibraryGetManaged(&global, &size, library, "numbers"));
    ASK(cuLibraryUnload(library));
    ASK(cuLinkCreate(0, NULL, NULL, &link));
    ASK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)"garbage", 8, "x", 0, NULL, NULL));
    ASK(cuLinkComplete(link, &cubin, &size));
    ASK(cuLinkDestroy(link));
    ASK(cuLinkCreate(0, NULL, NULL, &link));
    ASK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)KERNELS, strlen(KERNELS) + 1, "x", 0, NULL, NULL));
    ASK(cuLinkComplete(link, &cubin, &size));
    print_value("the cubin is there", "%d", cubin != NULL && size > 0);
    ASK(cuModuleLoadData(&loaded, cubin));
    ASK(cuLinkDestroy(link));
}
