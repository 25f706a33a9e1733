//! The table of functions: which are simulated, and what the others answer.
//!
//! Each simulated function is checked by type against `cuda-sys`'s signature of its name. None of
//! them is exported as a C symbol.

#![expect(unsafe_code, reason = "a C function is unsafe to call")]

use std::ffi::c_void;
use std::ptr::NonNull;

use cuda_sys::Version;

/// Is a function of the table with its address.
struct Entry {
    name: &'static str,
    address: *const c_void,
}

macro_rules! simulated {
    ($($(#[$attribute:meta])* $module:ident { $($name:ident),* $(,)? })*) => {
        /// Is a simulated function.
        #[expect(
            non_camel_case_types,
            clippy::enum_variant_names,
            reason = "functions have the names of C"
        )]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Function { $($($name),*),* }

        /// Lists the functions that are simulated, by their exact names. All others of the driver
        /// exist, and answer `CUDA_ERROR_NOT_SUPPORTED`.
        ///
        /// ```
        /// assert!(cuda_sim::SIMULATED.contains(&"cuMemAlloc_v2"));
        /// assert!(!cuda_sim::SIMULATED.contains(&"cuTexRefCreate"));
        /// ```
        pub const SIMULATED: &[&str] = &[$($(stringify!($name)),*),*];

        fn simulated() -> Vec<Entry> {
            vec![$($({
                let function: cuda_sys::signature::$name = crate::driver::$module::$name;
                Entry { name: stringify!($name), address: function as *const c_void }
            }),*),*]
        }
    };
}

simulated! {
    initialization {
        cuInit, cuDriverGetVersion, cuGetErrorName, cuGetErrorString, cuGetProcAddress,
        cuGetProcAddress_v2, cuGetExportTable,
    }
    device {
        cuDeviceGet, cuDeviceGetCount, cuDeviceGetName, cuDeviceGetUuid, cuDeviceGetUuid_v2,
        cuDeviceTotalMem_v2, cuDeviceGetAttribute, cuDeviceCanAccessPeer, cuDeviceGetPCIBusId,
    }
    device_properties {
        cuDeviceGetByPCIBusId, cuDeviceComputeCapability, cuDeviceGetProperties, cuDeviceTotalMem,
        cuDeviceGetExecAffinitySupport, cuDeviceGetTexture1DLinearMaxWidth,
        cuFlushGPUDirectRDMAWrites,
    }
    peer {
        cuCtxEnablePeerAccess, cuCtxDisablePeerAccess, cuDeviceGetP2PAttribute,
        cuDeviceGetP2PAtomicCapabilities, cuDeviceGetHostAtomicCapabilities, cuMemcpyPeer,
        cuMemcpyPeer_ptds, cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz, cuMemcpy3DPeer,
        cuMemcpy3DPeer_ptds, cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz,
    }
    primary_context {
        cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2,
        cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxGetState,
        cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,
    }
    context {
        cuCtxCreate_v2, cuCtxCreate_v3, cuCtxCreate_v4, cuCtxDestroy_v2, cuCtxGetCurrent,
        cuCtxSetCurrent, cuCtxPushCurrent_v2, cuCtxPopCurrent_v2, cuCtxGetDevice, cuCtxGetId,
        cuCtxGetFlags, cuCtxGetApiVersion, cuCtxSynchronize, cuCtxGetStreamPriorityRange,
    }
    context_settings {
        cuCtxGetLimit, cuCtxSetLimit, cuCtxGetCacheConfig, cuCtxSetCacheConfig,
        cuCtxGetSharedMemConfig, cuCtxSetSharedMemConfig, cuCtxSetFlags, cuCtxGetExecAffinity,
        cuCtxResetPersistingL2Cache, cuCtxAttach, cuCtxDetach, cuCtxRecordEvent, cuCtxWaitEvent,
        cuCtxGetDevice_v2, cuCtxSynchronize_v2, cuProfilerStart, cuProfilerStop,
    }
    stream_attribute {
        cuStreamGetAttribute, cuStreamGetAttribute_ptsz, cuStreamSetAttribute,
        cuStreamSetAttribute_ptsz, cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz,
        cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz, cuStreamGetDevice, cuStreamGetDevice_ptsz,
        cuStreamAddCallback, cuStreamAddCallback_ptsz, cuLaunchHostFunc_v2,
        cuLaunchHostFunc_v2_ptsz,
    }
    stream {
        cuStreamCreate, cuStreamCreateWithPriority, cuStreamDestroy_v2, cuStreamQuery, cuStreamQuery_ptsz,
        cuStreamSynchronize, cuStreamSynchronize_ptsz, cuStreamWaitEvent, cuStreamWaitEvent_ptsz, cuStreamGetCtx, cuStreamGetCtx_ptsz, cuStreamGetFlags, cuStreamGetFlags_ptsz,
        cuStreamGetPriority, cuStreamGetPriority_ptsz, cuStreamGetId, cuStreamGetId_ptsz,
    }
    capture {
        cuStreamBeginCapture, cuStreamBeginCapture_ptsz, cuStreamBeginCapture_v2,
        cuStreamBeginCapture_v2_ptsz, cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz,
        cuStreamEndCapture, cuStreamEndCapture_ptsz, cuStreamIsCapturing, cuStreamIsCapturing_ptsz,
        cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo_v2,
        cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz,
        cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz,
        cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz,
        cuThreadExchangeStreamCaptureMode,
    }
    graph {
        cuGraphCreate, cuGraphDestroy, cuGraphClone, cuGraphGetNodes, cuGraphGetRootNodes,
        cuGraphGetId, cuGraphGetEdges, cuGraphGetEdges_v2, cuGraphAddDependencies,
        cuGraphAddDependencies_v2, cuGraphRemoveDependencies, cuGraphRemoveDependencies_v2,
        cuGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2, cuGraphNodeGetDependentNodes,
        cuGraphNodeGetDependentNodes_v2, cuGraphAddEmptyNode, cuGraphDestroyNode,
        cuGraphNodeGetType, cuGraphNodeFindInClone, cuGraphNodeGetContainingGraph,
        cuGraphNodeGetLocalId, cuGraphNodeGetToolsId, cuGraphAddMemsetNode,
        cuGraphMemsetNodeGetParams, cuGraphMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, cuGraphAddBatchMemOpNode,
        cuGraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeSetParams,
        cuGraphExecBatchMemOpNodeSetParams,
        cuGraphAddKernelNode, cuGraphAddKernelNode_v2, cuGraphKernelNodeGetParams,
        cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2,
        cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,
        cuGraphKernelNodeGetAttribute, cuGraphKernelNodeSetAttribute,
        cuGraphKernelNodeCopyAttributes,
        cuGraphAddMemcpyNode, cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeSetParams,
        cuGraphExecMemcpyNodeSetParams, cuGraphAddHostNode, cuGraphHostNodeGetParams,
        cuGraphHostNodeSetParams, cuGraphExecHostNodeSetParams, cuGraphAddEventRecordNode,
        cuGraphAddEventWaitNode, cuGraphEventRecordNodeGetEvent, cuGraphEventWaitNodeGetEvent,
        cuGraphEventRecordNodeSetEvent, cuGraphEventWaitNodeSetEvent,
        cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
        cuGraphAddChildGraphNode, cuGraphChildGraphNodeGetGraph,
        cuGraphExecChildGraphNodeSetParams, cuGraphAddMemAllocNode, cuGraphAddMemFreeNode,
        cuGraphMemAllocNodeGetParams, cuGraphMemFreeNodeGetParams, cuDeviceGetGraphMemAttribute,
        cuDeviceSetGraphMemAttribute, cuDeviceGraphMemTrim, cuGraphAddNode, cuGraphAddNode_v2,
        cuGraphAddNode_v3, cuGraphNodeSetParams_v2, cuGraphNodeSetParams, cuGraphNodeGetParams, cuGraphExecNodeSetParams, cuGraphInstantiate,
        cuGraphInstantiate_v2, cuGraphInstantiateWithFlags, cuGraphInstantiateWithParams,
        cuGraphInstantiateWithParams_ptsz, cuGraphExecDestroy, cuGraphExecGetFlags,
        cuGraphExecGetId, cuGraphUpload, cuGraphUpload_ptsz, cuGraphLaunch, cuGraphLaunch_ptsz,
        cuGraphNodeSetEnabled, cuGraphNodeGetEnabled, cuGraphExecUpdate, cuGraphExecUpdate_v2,
        cuGraphDebugDotPrint, cuUserObjectCreate, cuUserObjectRetain, cuUserObjectRelease,
        cuGraphRetainUserObject, cuGraphReleaseUserObject,
    }
    event {
        cuEventCreate, cuEventRecord, cuEventRecord_ptsz, cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz, cuEventQuery, cuEventSynchronize,
        cuEventElapsedTime, cuEventElapsedTime_v2, cuEventDestroy_v2,
    }
    host_function { cuLaunchHostFunc, cuLaunchHostFunc_ptsz }
    memory {
        cuMemAlloc_v2, cuMemAllocPitch_v2, cuMemFree_v2, cuMemGetInfo_v2, cuMemGetAddressRange_v2,
    }
    managed {
        cuMemAllocManaged, cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz, cuMemPrefetchAsync,
        cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz,
        cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz, cuMemDiscardBatchAsync,
        cuMemDiscardBatchAsync_ptsz, cuMemDiscardAndPrefetchBatchAsync,
        cuMemDiscardAndPrefetchBatchAsync_ptsz,
    }
    managed_advice {
        cuMemAdvise, cuMemAdvise_v2, cuMemRangeGetAttribute, cuMemRangeGetAttributes,
    }
    stream_memory {
        cuMemAllocAsync, cuMemAllocAsync_ptsz, cuMemAllocFromPoolAsync,
        cuMemAllocFromPoolAsync_ptsz, cuMemFreeAsync, cuMemFreeAsync_ptsz,
    }
    pool {
        cuDeviceGetDefaultMemPool, cuDeviceGetMemPool, cuDeviceSetMemPool, cuMemGetDefaultMemPool,
        cuMemGetMemPool, cuMemSetMemPool, cuMemPoolCreate, cuMemPoolDestroy,
        cuMemPoolGetAttribute, cuMemPoolSetAttribute, cuMemPoolTrimTo, cuMemPoolSetAccess,
        cuMemPoolGetAccess,
    }
    virtual_memory {
        cuMemGetAllocationGranularity, cuMemCreate, cuMemRelease, cuMemRetainAllocationHandle,
        cuMemGetAllocationPropertiesFromHandle, cuMemAddressReserve, cuMemAddressFree, cuMemMap,
        cuMemUnmap, cuMemSetAccess, cuMemGetAccess, cuMemGetHandleForAddressRange,
    }
    virtual_sharing { cuMemExportToShareableHandle, cuMemImportFromShareableHandle }
    pool_sharing {
        cuMemPoolExportToShareableHandle, cuMemPoolImportFromShareableHandle,
        cuMemPoolExportPointer, cuMemPoolImportPointer,
    }
    host_memory {
        cuMemHostAlloc, cuMemAllocHost_v2, cuMemFreeHost, cuMemHostGetDevicePointer_v2,
        cuMemHostGetFlags, cuMemHostRegister_v2, cuMemHostUnregister,
    }
    fill { cuMemsetD8_v2, cuMemsetD8_v2_ptds, cuMemsetD8Async, cuMemsetD8Async_ptsz, cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz, cuMemsetD16_v2, cuMemsetD16_v2_ptds, cuMemsetD16Async, cuMemsetD16Async_ptsz, cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz, cuMemsetD32_v2, cuMemsetD32_v2_ptds, cuMemsetD32Async, cuMemsetD32Async_ptsz, cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz }
    linear_copy {
        cuMemcpy, cuMemcpy_ptds, cuMemcpyAsync, cuMemcpyAsync_ptsz, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds,
        cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz,
    }
    array {
        cuArrayCreate_v2, cuArray3DCreate_v2, cuArrayGetDescriptor_v2, cuArray3DGetDescriptor_v2,
        cuArrayDestroy, cuArrayGetMemoryRequirements, cuArrayGetSparseProperties, cuArrayGetPlane,
        cuMipmappedArrayCreate, cuMipmappedArrayGetLevel, cuMipmappedArrayDestroy,
        cuMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetSparseProperties,
    }
    array_copy {
        cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds, cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds,
        cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds, cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz,
        cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds, cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz,
        cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds,
    }
    texture_object {
        cuTexObjectCreate, cuTexObjectDestroy, cuTexObjectGetResourceDesc,
        cuTexObjectGetTextureDesc, cuTexObjectGetResourceViewDesc, cuSurfObjectCreate,
        cuSurfObjectDestroy, cuSurfObjectGetResourceDesc,
    }
    box_copy {
        cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz, cuMemcpy3D_v2, cuMemcpy3D_v2_ptds,
        cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz,
    }
    batch_copy {
        cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync_v2,
        cuMemcpyBatchAsync_v2_ptsz, cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_ptsz,
        cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2_ptsz, cuMemcpyWithAttributesAsync,
        cuMemcpyWithAttributesAsync_ptsz, cuMemcpy3DWithAttributesAsync,
        cuMemcpy3DWithAttributesAsync_ptsz,
    }
    memory_operations {
        cuStreamWaitValue32, cuStreamWaitValue32_ptsz, cuStreamWaitValue64,
        cuStreamWaitValue64_ptsz, cuStreamWriteValue32, cuStreamWriteValue32_ptsz,
        cuStreamWriteValue64, cuStreamWriteValue64_ptsz, cuStreamBatchMemOp,
        cuStreamBatchMemOp_ptsz, cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz,
        cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz, cuStreamWriteValue32_v2,
        cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz,
        cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz,
    }
    pointer { cuPointerSetAttribute, cuPointerGetAttribute, cuPointerGetAttributes }
    module {
        cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx, cuModuleLoadFatBinary, cuModuleUnload,
        cuModuleGetFunction, cuModuleGetFunctionCount, cuModuleEnumerateFunctions,
        cuModuleGetGlobal_v2, cuModuleGetTexRef, cuModuleGetSurfRef, cuModuleGetLoadingMode,
    }
    library {
        cuLibraryLoadData, cuLibraryLoadFromFile, cuLibraryUnload, cuLibraryGetKernel,
        cuLibraryGetKernelCount, cuLibraryEnumerateKernels, cuLibraryGetModule, cuLibraryGetGlobal,
        cuLibraryGetManaged, cuLibraryGetUnifiedFunction, cuKernelGetFunction, cuKernelGetLibrary,
        cuKernelGetAttribute, cuKernelSetAttribute, cuKernelSetCacheConfig, cuKernelGetName,
        cuKernelGetParamInfo, cuKernelGetParamCount,
    }
    function {
        cuFuncGetAttribute, cuFuncSetAttribute, cuFuncSetCacheConfig, cuFuncSetSharedMemConfig,
        cuFuncGetModule, cuFuncGetName, cuFuncGetParamInfo, cuFuncGetParamCount, cuFuncIsLoaded,
        cuFuncLoad,
    }
    launch {
        cuLaunchKernel, cuLaunchKernel_ptsz, cuLaunchKernelEx, cuLaunchKernelEx_ptsz,
        cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz,
    }
    link {
        cuLinkCreate, cuLinkCreate_v2, cuLinkAddData, cuLinkAddData_v2, cuLinkAddFile,
        cuLinkAddFile_v2, cuLinkComplete, cuLinkDestroy,
    }
    occupancy {
        cuOccupancyMaxActiveBlocksPerMultiprocessor,
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxPotentialBlockSize,
        cuOccupancyMaxPotentialBlockSizeWithFlags, cuOccupancyAvailableDynamicSMemPerBlock,
        cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxActiveClusters,
    }
    ipc {
        cuIpcGetMemHandle, cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2, cuIpcCloseMemHandle, cuIpcGetEventHandle,
        cuIpcOpenEventHandle,
    }
}

impl Function {
    /// How many there are.
    pub(crate) const COUNT: usize = SIMULATED.len();

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn name(self) -> &'static str {
        SIMULATED.get(self.index()).copied().unwrap_or("a driver call")
    }

    /// Tells whether it answers `CUDA_ERROR_NOT_INITIALIZED` before `cuInit`.
    pub(crate) const fn needs_init(self) -> bool {
        !matches!(
            self,
            Self::cuInit
                | Self::cuDriverGetVersion
                | Self::cuGetErrorName
                | Self::cuGetErrorString
                | Self::cuGetProcAddress
                | Self::cuGetProcAddress_v2
                | Self::cuGetExportTable
        )
    }

    /// Tells whether it asks if a stream is done.
    pub(crate) const fn is_stream_query(self) -> bool {
        matches!(self, Self::cuStreamQuery | Self::cuStreamQuery_ptsz)
    }

    /// Tells whether it ends a context, which an error of a kernel does not make fail (measured).
    pub(crate) const fn ends_context(self) -> bool {
        matches!(
            self,
            Self::cuDevicePrimaryCtxRelease
                | Self::cuDevicePrimaryCtxRelease_v2
                | Self::cuDevicePrimaryCtxReset
                | Self::cuDevicePrimaryCtxReset_v2
                | Self::cuCtxDestroy_v2
        )
    }

    /// Tells whether it frees or destroys, which it does even where a fault makes it fail.
    pub(crate) const fn ends_something(self) -> bool {
        matches!(
            self,
            Self::cuDevicePrimaryCtxRelease
                | Self::cuDevicePrimaryCtxRelease_v2
                | Self::cuDevicePrimaryCtxReset
                | Self::cuDevicePrimaryCtxReset_v2
                | Self::cuCtxDestroy_v2
                | Self::cuCtxPopCurrent_v2
                | Self::cuStreamDestroy_v2
                | Self::cuEventDestroy_v2
                | Self::cuStreamEndCapture
                | Self::cuStreamEndCapture_ptsz
                | Self::cuGraphDestroy
                | Self::cuGraphDestroyNode
                | Self::cuGraphExecDestroy
                | Self::cuUserObjectRelease
                | Self::cuGraphReleaseUserObject
                | Self::cuMemFree_v2
                | Self::cuMemFreeAsync
                | Self::cuMemFreeAsync_ptsz
                | Self::cuMemPoolDestroy
                | Self::cuMemRelease
                | Self::cuMemAddressFree
                | Self::cuMemUnmap
                | Self::cuMemFreeHost
                | Self::cuModuleUnload
                | Self::cuLibraryUnload
                | Self::cuLinkDestroy
                | Self::cuMemHostUnregister
                | Self::cuIpcCloseMemHandle
                | Self::cuArrayDestroy
                | Self::cuCtxDetach
                | Self::cuMipmappedArrayDestroy
                | Self::cuTexObjectDestroy
                | Self::cuCtxDisablePeerAccess
                | Self::cuSurfObjectDestroy
        )
    }
}

/// Returns the function of a name, if a driver of that version has it.
pub(crate) fn symbol(name: &str, version: Version) -> Option<NonNull<c_void>> {
    let known =
        cuda_sys::SYMBOLS.iter().find(|symbol| symbol.name.to_bytes() == name.as_bytes())?;
    if known.since > version {
        return None;
    }
    let find = |entries: Vec<Entry>| entries.into_iter().find(|entry| entry.name == name);
    let entry = find(simulated()).or_else(|| find(unsupported::all()))?;
    NonNull::new(entry.address.cast_mut())
}

/// Functions that only say that they are not supported.
mod unsupported {
    use std::ffi::*;

    use cuda_sys::*;

    use super::Entry;

    macro_rules! unsupported {
        ($([$header:literal $since:literal $deprecated:literal]
            $name:ident($($parameter:ident: $ty:ty),*) -> $output:ty;)*) => {
            pub(super) fn all() -> Vec<Entry> {
                vec![$({
                    unsafe extern "system" fn refuse($(_: $ty),*) -> $output {
                        CUresult::CUDA_ERROR_NOT_SUPPORTED
                    }
                    let function: signature::$name = refuse;
                    Entry { name: stringify!($name), address: function as *const c_void }
                }),*]
            }
        };
    }

    cuda_sys::for_each_driver_function!(unsupported);
}

#[cfg(test)]
mod tests {
    use cuda_sys::Version;

    use super::{SIMULATED, symbol};

    #[test]
    fn every_symbol_of_the_driver_exists_in_its_version() {
        for known in cuda_sys::SYMBOLS {
            let name = known.name.to_str().unwrap();
            assert!(symbol(name, Version::new(99, 0)).is_some(), "{name}");
            let before = Version::from_number(known.since.number() - 10);
            assert!(symbol(name, before).is_none(), "{name}");
        }
        assert_eq!(symbol("cuNothing", Version::new(99, 0)), None);
    }

    #[test]
    fn every_simulated_name_is_a_symbol_and_stands_once() {
        for name in SIMULATED {
            assert!(
                cuda_sys::SYMBOLS.iter().any(|known| known.name.to_str() == Ok(name)),
                "{name}"
            );
            assert_eq!(SIMULATED.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }
}
