/* Virtual memory: physical memory, reserved addresses, mappings, access, and handles for others. */

#include "answers.h"

static CUmemAllocationProp pinned(void)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
    };
}

/* Are two reserved ranges, of two blocks and of one, and physical memory of one. */
static CUdeviceptr wide, narrow;
static CUmemGenericAllocationHandle physical;

static void ask_for_physical_memory(void)
{
    CUmemAllocationProp right = pinned(), of_no_device = pinned(), of_no_type = pinned(),
                        of_no_handle_type = pinned();
    of_no_device.location.id = 9;
    of_no_type.type = 9;
    of_no_handle_type.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32_KMT;
    ASK(cuMemCreate(&physical, PAGE, &right, 0));
    ASK(cuMemCreate(&physical, 0, &right, 0));
    ASK(cuMemCreate(&physical, BLOCK, &right, 1));
    ASK(cuMemCreate(&physical, BLOCK, &of_no_device, 0));
    ASK(cuMemCreate(&physical, BLOCK, &of_no_type, 0));
    ASK(cuMemCreate(&physical, BLOCK, &of_no_handle_type, 0));
    ASK(cuMemCreate(&physical, BLOCK, &right, 0));
}

static void ask_for_addresses(void)
{
    ASK(cuMemAddressReserve(&wide, PAGE, 0, 0, 0));
    ASK(cuMemAddressReserve(&wide, BLOCK, 3, 0, 0));
    ASK(cuMemAddressReserve(&wide, 2 * BLOCK, 0, 0, 0));
    ASK(cuMemAddressReserve(&narrow, BLOCK, 1ull << 30, 0, 0));
    print_value("aligned as asked", "%d", narrow % (1ull << 30) == 0);
}

static void ask_for_mappings_and_access(void)
{
    CUmemAccessDesc access = {
        .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READ,
    };
    unsigned long long flags = 9;
    char bytes[16];
    ASK(cuMemMap(wide, BLOCK, BLOCK, physical, 0));
    ASK(cuMemMap(wide, BLOCK, 0, physical, 1));
    ASK(cuMemMap(wide + PAGE, BLOCK, 0, physical, 0));
    ASK(cuMemMap(wide, BLOCK, 0, physical, 0));
    ASK(cuMemMap(wide, BLOCK, 0, physical, 0));
    ASK(cuMemsetD8(wide, 1, 16));
    ASK(cuCtxSynchronize());
    ASK(cuMemcpyDtoH(bytes, wide, 16));
    ASK(cuMemGetAccess(&flags, &access.location, wide));
    print_value("access before any is set", "%llu", flags);
    ASK(cuMemSetAccess(wide + BLOCK, BLOCK, &access, 1));
    ASK(cuMemSetAccess(wide, 2 * BLOCK, &access, 1));
    ASK(cuMemSetAccess(wide, PAGE, &access, 1));
    ASK(cuMemSetAccess(wide, BLOCK, &access, 1));
    ASK(cuMemGetAccess(&flags, &access.location, wide));
    print_value("access to read", "%llu", flags);
    ASK(cuMemsetD8(wide, 1, 16));
    ASK(cuCtxSynchronize());
    ASK(cuMemcpyDtoH(bytes, wide, 16));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemSetAccess(wide, BLOCK, &access, 1));
    ASK(cuMemsetD8(wide, 1, 16));
    ASK(cuMemGetAccess(&flags, &access.location, wide + BLOCK));
}

static void ask_what_is_known(void)
{
    CUdeviceptr base;
    size_t size;
    ASK(cuMemGetAddressRange(&base, &size, wide + 100));
    print_value("range", "base %d size %zu", base == wide, size);
    ASK(cuMemGetAddressRange(&base, &size, wide + BLOCK));
    ask_pointer_attributes("mapped addresses", wide);
    ask_pointer_attributes("reserved addresses", wide + BLOCK);
}

static void ask_for_two_mappings(void)
{
    CUmemAccessDesc access = {
        .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 },
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    CUmemGenericAllocationHandle retained;
    ASK(cuMemMap(narrow, BLOCK, 0, physical, 0));
    ASK(cuMemSetAccess(narrow, BLOCK, &access, 1));
    ASK(cuMemcpyDtoD(narrow, wide, BLOCK));
    ASK(cuMemRetainAllocationHandle(&retained, (void *)narrow));
    print_value("the retained handle is the same", "%d", retained == physical);
    ASK(cuMemRelease(retained));
    ASK(cuMemRetainAllocationHandle(&retained, (void *)(wide + BLOCK)));
}

static void ask_for_ends(void)
{
    char bytes[16];
    ASK(cuMemAddressFree(wide, 2 * BLOCK));
    ASK(cuMemAddressFree(wide, BLOCK));
    ASK(cuMemUnmap(wide, PAGE));
    ASK(cuMemUnmap(wide, 2 * BLOCK));
    ASK(cuMemUnmap(wide + BLOCK, BLOCK));
    ASK(cuMemRelease(physical));
    ASK(cuMemRelease(physical));
    ASK(cuMemcpyDtoH(bytes, wide, 16));
    ASK(cuMemUnmap(wide, BLOCK));
    ASK(cuMemUnmap(wide, BLOCK));
    ASK(cuMemsetD8(wide, 1, 1));
    ASK(cuMemUnmap(narrow, BLOCK));
    ASK(cuMemAddressFree(wide, BLOCK));
    ASK(cuMemAddressFree(wide, 2 * BLOCK));
    ASK(cuMemAddressFree(wide, 2 * BLOCK));
    ASK(cuMemRelease(physical));
}

static void ask_for_handles_for_others(void)
{
    CUmemAllocationProp properties = pinned(), told = { 0 };
    CUmemGenericAllocationHandle imported;
    int descriptor;
    NEED(cuMemCreate(&physical, BLOCK, &properties, 0));
    ASK(cuMemExportToShareableHandle(&descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    NEED(cuMemCreate(&physical, BLOCK, &properties, 0));
    ASK(cuMemExportToShareableHandle(&descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ASK(cuMemExportToShareableHandle(&descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
    ASK(cuMemExportToShareableHandle(&descriptor, physical, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    ASK(cuMemImportFromShareableHandle(&imported, (void *)(long)descriptor, 1));
    print_value("the imported handle is the same", "%d", imported == physical);
    ASK(cuMemImportFromShareableHandle(&imported, (void *)0L, 1));
    ASK(cuMemImportFromShareableHandle(&imported, (void *)999L, 1));
    ASK(cuMemGetAllocationPropertiesFromHandle(&told, physical));
    print_value("properties", "type %d handle types %d location %d %d", told.type,
                told.requestedHandleTypes, told.location.type, told.location.id);
    size_t granularity;
    ASK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    print_value("recommended granularity", "%zu", granularity);
    ASK(cuMemGetAllocationGranularity(&granularity, &properties, 2));
}

static void ask_for_handles_of_ranges(void)
{
    CUdeviceptr memory;
    int descriptor = -1;
    NEED(cuMemAlloc(&memory, PAGE));
    ASK(cuMemGetHandleForAddressRange(&descriptor, memory, PAGE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    NEED(cuMemAlloc(&memory, BLOCK));
    ASK(cuMemGetHandleForAddressRange(&descriptor, memory, BLOCK, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
}

void virtual_memory(void)
{
    begin();
    ask_for_physical_memory();
    ask_for_addresses();
    ask_for_mappings_and_access();
    ask_what_is_known();
    ask_for_two_mappings();
    ask_for_ends();
    ask_for_handles_for_others();
    ask_for_handles_of_ranges();
}
