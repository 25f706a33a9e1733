//! What passes by value, and what the driver writes and the caller gets.
#![expect(unsafe_code, reason = "declares which types may be made of whatever the driver wrote")]

use core::ffi::{CStr, c_char};

use cuda_sys::{
    CU_DEV_SM_RESOURCE_GROUP_PARAMS, CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_MEMORY_REQUIREMENTS,
    CUDA_ARRAY_SPARSE_PROPERTIES, CUDA_ARRAY3D_DESCRIPTOR, CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC,
    CUGLDeviceList, CUarray_format, CUatomicOperation, CUcliqueInfo, CUcoredumpSettings,
    CUdevResource, CUdevResourceType, CUdevice, CUdevice_P2PAttribute, CUdevice_attribute,
    CUdeviceptr, CUdriverProcAddressQueryResult, CUeglFrame, CUexecAffinityParam,
    CUexecAffinityType, CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget,
    CUfunc_cache, CUfunction_attribute, CUfunctionLoadingState, CUgraphConditionalHandle,
    CUgraphEdgeData, CUgraphExecUpdateResultInfo, CUgraphMem_attribute, CUgraphNodeParams,
    CUgraphNodeType, CUipcEventHandle, CUipcMem_flags, CUipcMemHandle, CUjit_option,
    CUjitInputType, CUlaunchAttributeID, CUlibraryOption, CUlimit, CUlogIterator, CUmem_advise,
    CUmem_range_attribute, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType, CUmemAllocationProp, CUmemAllocationType,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemPool_attribute, CUmemPoolProps,
    CUmemPoolPtrExportData, CUmemRangeHandleType, CUmemcpyAttributes, CUmoduleLoadingMode,
    CUmulticastGranularity_flags, CUmulticastObjectProp, CUoutput_mode, CUpointer_attribute,
    CUprocessState, CUresult, CUsharedconfig, CUstreamAttrValue, CUstreamCaptureMode,
    CUstreamCaptureStatus, CUsurfObject, CUtensorMap, CUtensorMapAllocClass, CUtensorMapDataType,
    CUtensorMapFloatOOBfill, CUtensorMapIm2ColWideMode, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle, CUtexObject, CUuuid,
};

use super::Contract;
use crate::error::{Error, Quantity, Result, Rule};

/// Is a number, an enum or a record without an address: what may be a `value` or a `record`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value",
    note = "an address is an operand: say `device`, `host`, `any` or `raw`"
)]
pub trait Plain {
    /// Tells whether it holds an address after all, in a field that this system does not need.
    fn holds_address(&self) -> bool {
        false
    }
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => { $(impl Plain for $ty {})* };
}

plain!(
    u8,
    u16,
    u32,
    u64,
    i32,
    i64,
    usize,
    f32,
    CUarray_format,
    CUatomicOperation,
    CUcoredumpSettings,
    CUdevResourceType,
    CUdevice_P2PAttribute,
    CUdevice_attribute,
    CUdriverProcAddressQueryResult,
    CUexecAffinityType,
    CUflushGPUDirectRDMAWritesScope,
    CUflushGPUDirectRDMAWritesTarget,
    CUfunc_cache,
    CUfunctionLoadingState,
    CUfunction_attribute,
    CUgraphMem_attribute,
    CUgraphNodeType,
    CUipcMem_flags,
    CUjitInputType,
    CUjit_option,
    CUlibraryOption,
    CUlaunchAttributeID,
    CUlimit,
    CUmemAccess_flags,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemPool_attribute,
    CUmemRangeHandleType,
    CUmem_advise,
    CUmem_range_attribute,
    CUmoduleLoadingMode,
    CUmulticastGranularity_flags,
    CUoutput_mode,
    CUpointer_attribute,
    CUprocessState,
    CUresult,
    CUsharedconfig,
    CUstreamCaptureMode,
    CUstreamCaptureStatus,
    CUtensorMapAllocClass,
    CUtensorMapDataType,
    CUtensorMapFloatOOBfill,
    CUtensorMapIm2ColWideMode,
    CUtensorMapInterleave,
    CUtensorMapL2promotion,
    CUtensorMapSwizzle,
    CUGLDeviceList,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    CUexecAffinityParam,
    CUgraphEdgeData,
    CUipcEventHandle,
    CUipcMemHandle,
    CUlogIterator,
    CUmemAccessDesc,
    CUmemLocation,
    CUmemPoolPtrExportData,
    CUmemcpyAttributes,
    CUmulticastObjectProp,
    CUtensorMap,
    CUuuid,
);

impl Plain for CUmemAllocationProp {
    fn holds_address(&self) -> bool {
        !self.win32HandleMetaData.is_null()
    }
}

impl Plain for CUmemPoolProps {
    fn holds_address(&self) -> bool {
        !self.win32SecurityAttributes.is_null()
    }
}

/// Lets only plain values pass. Costs nothing.
pub(crate) const fn plain<T: Plain>(_value: &T) {}

/// Lets only lists of plain values pass. Costs nothing.
pub(crate) const fn plain_items<T: Plain>(_values: &[T]) {}

/// Lets only records pass that hold no address.
pub(crate) fn plain_record<T: Plain>(
    call: &'static Contract,
    operand: &'static str,
    record: &T,
) -> Result<()> {
    if record.holds_address() {
        let (need, have) = (Quantity::Word("no address"), Quantity::Word("one"));
        return Err(Error::refused(call.symbol, operand, Rule::Plain, need, have));
    }
    Ok(())
}

/// Lets only records pass that may hold any bytes. Costs nothing.
pub(crate) const fn any_bytes<T: Output>(_record: &T) {}

/// Is what the driver writes: any bytes are a value of it.
///
/// # Safety
///
/// Every bit pattern is a value, zero among them.
pub unsafe trait Output: Copy {}

macro_rules! output {
    ($($ty:ty),* $(,)?) => { $(
        // SAFETY: a number, a raw pointer, or a record of those.
        unsafe impl Output for $ty {}
    )* };
}

output!(
    i8,
    u8,
    u16,
    u32,
    u64,
    i32,
    i64,
    usize,
    f32,
    CUarray_format,
    CUatomicOperation,
    CUcoredumpSettings,
    CUdevResourceType,
    CUdevice_P2PAttribute,
    CUdevice_attribute,
    CUdriverProcAddressQueryResult,
    CUexecAffinityType,
    CUflushGPUDirectRDMAWritesScope,
    CUflushGPUDirectRDMAWritesTarget,
    CUfunc_cache,
    CUfunctionLoadingState,
    CUfunction_attribute,
    CUgraphMem_attribute,
    CUgraphNodeType,
    CUipcMem_flags,
    CUjitInputType,
    CUjit_option,
    CUlibraryOption,
    CUlaunchAttributeID,
    CUlimit,
    CUmemAccess_flags,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemPool_attribute,
    CUmemRangeHandleType,
    CUmem_advise,
    CUmem_range_attribute,
    CUmoduleLoadingMode,
    CUmulticastGranularity_flags,
    CUoutput_mode,
    CUpointer_attribute,
    CUprocessState,
    CUresult,
    CUsharedconfig,
    CUstreamCaptureMode,
    CUstreamCaptureStatus,
    CUtensorMapAllocClass,
    CUtensorMapDataType,
    CUtensorMapFloatOOBfill,
    CUtensorMapIm2ColWideMode,
    CUtensorMapInterleave,
    CUtensorMapL2promotion,
    CUtensorMapSwizzle,
    CUGLDeviceList,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CU_DEV_SM_RESOURCE_GROUP_PARAMS,
    CUexecAffinityParam,
    CUgraphEdgeData,
    CUipcEventHandle,
    CUipcMemHandle,
    CUlogIterator,
    CUmemAccessDesc,
    CUmemLocation,
    CUmemPoolPtrExportData,
    CUmemcpyAttributes,
    CUmulticastObjectProp,
    CUtensorMap,
    CUuuid,
    CUDA_ARRAY_MEMORY_REQUIREMENTS,
    CUDA_ARRAY_SPARSE_PROPERTIES,
    CUcliqueInfo,
    CUdevice,
    CUdeviceptr,
    CUgraphConditionalHandle,
    CUgraphExecUpdateResultInfo,
    CUmemAllocationProp,
    CUmemGenericAllocationHandle,
    CUstreamAttrValue,
    CUsurfObject,
    CUtexObject,
    CUDA_RESOURCE_DESC,
    CUdevResource,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_BATCH_MEM_OP_NODE_PARAMS,
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS,
    CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUeglFrame,
    CUDA_HOST_NODE_PARAMS,
    CUgraphNodeParams,
);

// SAFETY: any bits are a raw pointer.
unsafe impl<T> Output for *mut T {}
// SAFETY: as above.
unsafe impl<T> Output for *const T {}

/// Returns the value whose bytes are zero.
pub(crate) const fn zeroed<T: Output>() -> T {
    // SAFETY: zero bytes are a value.
    unsafe { core::mem::MaybeUninit::zeroed().assume_init() }
}

/// Is text that the driver wrote.
pub type Text = String;

/// Reads text up to its first zero byte; what is not UTF-8 is replaced.
pub(crate) fn text(buffer: &[c_char]) -> Text {
    let bytes: Vec<u8> =
        buffer.iter().map(|byte| byte.to_ne_bytes()[0]).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads text that the driver keeps; null is none.
///
/// # Safety
///
/// The address is null, or the driver's, of text that ends with a zero byte.
pub(crate) unsafe fn text_at(address: *const c_char) -> Text {
    if address.is_null() {
        return Text::new();
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(address) };
    text.to_string_lossy().into_owned()
}
