//! Which simulated functions lack something that the manual gives them, and what.

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
    ("cuDeviceGetAttribute", "attributes that nobody measured answer zero"),
];
