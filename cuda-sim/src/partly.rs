//! Which simulated functions lack something that the manual gives them, and what.

const COMPILES: &str = "PTX is read for what launches need, and not compiled";
const REGISTERS: &str = "the registers of a kernel of PTX are a guess";
const RUNS: &str = "does what is registered for the kernel's name";

/// Lists the simulated functions that lack something, each with what it is. A `_ptsz` or `_ptds` twin
/// lacks the same and isn't listed.
///
/// ```
/// let (name, missing) = cuda_sim::PARTLY[0];
/// assert!(cuda_sim::SIMULATED.contains(&name) && !missing.is_empty());
/// ```
pub const PARTLY: &[(&str, &str)] = &[
    ("cuGetExportTable", "finds no table, so that programs on the CUDA runtime don't run"),
    ("cuCtxCreate_v3", "no execution affinity"),
    ("cuCtxCreate_v4", "no execution affinity, no parameters of graphics"),
    ("cuCtxSetLimit", "a limit is kept and limits nothing"),
    ("cuCtxSetCacheConfig", "kept, without effect"),
    ("cuCtxSetSharedMemConfig", "kept, without effect"),
    ("cuCtxResetPersistingL2Cache", "there is no cache"),
    ("cuCtxGetExecAffinity", "no execution affinity"),
    ("cuProfilerStart", "there is no profiler"),
    ("cuProfilerStop", "there is no profiler"),
    ("cuStreamCreateWithPriority", "priorities order nothing"),
    ("cuStreamSetAttribute", "kept, without effect"),
    ("cuMemAdvise", "kept, without effect"),
    ("cuMemAdvise_v2", "kept, without effect"),
    ("cuArray3DCreate_v2", "no sparse arrays, no formats of blocks or planes"),
    ("cuArrayGetPlane", "no formats of planes"),
    ("cuArrayGetSparseProperties", "no sparse arrays"),
    ("cuMipmappedArrayCreate", "no sparse arrays, no formats of blocks or planes"),
    ("cuMipmappedArrayGetSparseProperties", "no sparse arrays"),
    ("cuMemCreate", "no managed allocations, no handles but file descriptors, no compression"),
    ("cuMemPoolCreate", "no handles but file descriptors"),
    ("cuMemExportToShareableHandle", "file descriptors only"),
    ("cuMemImportFromShareableHandle", "file descriptors only"),
    ("cuMemPoolExportToShareableHandle", "file descriptors only"),
    ("cuMemPoolImportFromShareableHandle", "file descriptors only"),
    ("cuStreamBatchMemOp", "no flush of remote writes"),
    ("cuStreamBatchMemOp_v2", "no flush of remote writes"),
    ("cuMemGetHandleForAddressRange", "checks, and refuses: no DMA buffers"),
    ("cuFlushGPUDirectRDMAWrites", "checks, and refuses: no other device writes memory"),
    ("cuMemcpyBatchAsync", "not in captures"),
    ("cuMemcpyBatchAsync_v2", "not in captures"),
    ("cuMemcpy3DBatchAsync", "not in captures"),
    ("cuMemcpy3DBatchAsync_v2", "not in captures"),
    ("cuMemcpyWithAttributesAsync", "not in captures"),
    ("cuMemcpy3DWithAttributesAsync", "not in captures"),
    ("cuModuleLoad", COMPILES),
    ("cuModuleLoadData", COMPILES),
    ("cuModuleLoadDataEx", COMPILES),
    ("cuModuleLoadFatBinary", COMPILES),
    ("cuLibraryLoadData", COMPILES),
    ("cuLibraryLoadFromFile", COMPILES),
    ("cuLinkComplete", "joins names only"),
    ("cuModuleGetTexRef", "finds none"),
    ("cuModuleGetSurfRef", "finds none"),
    ("cuFuncGetAttribute", REGISTERS),
    ("cuKernelGetAttribute", REGISTERS),
    ("cuFuncSetCacheConfig", "without effect"),
    ("cuFuncSetSharedMemConfig", "without effect"),
    ("cuKernelSetCacheConfig", "without effect"),
    ("cuLaunchKernel", RUNS),
    ("cuLaunchCooperativeKernel", RUNS),
    ("cuLaunchKernelEx", "does what is registered for the kernel's name; no attributes of events"),
    ("cuGraphAddNode", "no conditions, external semaphores, or batches of copies"),
    ("cuGraphAddNode_v2", "no conditions, external semaphores, or batches of copies"),
    ("cuGraphAddNode_v3", "no conditions, external semaphores, or batches of copies"),
    ("cuGraphAddBatchMemOpNode", "no flush of remote writes"),
    ("cuGraphBatchMemOpNodeSetParams", "no flush of remote writes"),
    ("cuGraphExecBatchMemOpNodeSetParams", "no flush of remote writes"),
    ("cuGraphInstantiateWithFlags", "no launches by the device; priorities order nothing"),
    ("cuGraphInstantiateWithParams", "no launches by the device; priorities order nothing"),
    ("cuGraphDebugDotPrint", "kinds of nodes, and edges, whatever the flags ask for"),
    ("cuDeviceGetAttribute", "attributes that nobody measured answer zero"),
];
