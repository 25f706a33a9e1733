//! Devices: pools, identity, limits.

use core::ffi::{c_char, c_int, c_uint, c_void};

use cuda_codegen::driver;
use cuda_sys::{
    CUarray_format, CUatomicOperation, CUdevice, CUexecAffinityType,
    CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUmemoryPool,
};

/// Asks for a device's locally unique identifier, and the mask of its nodes; of Windows only.
#[driver(cuDeviceGetLuid, home = none)]
pub fn device_get_luid(
    #[items(8, out)] luid: *mut c_char,
    #[out] device_node_mask @ deviceNodeMask: *mut c_uint,
    #[handle] device @ dev: CUdevice,
);

/// Asks how many elements a linear one-dimensional texture may have.
#[driver(cuDeviceGetTexture1DLinearMaxWidth, home = none)]
pub fn device_get_texture_1d_linear_max_width(
    #[out] max_width_in_elements @ maxWidthInElements: *mut usize,
    #[value] format: CUarray_format,
    #[value] num_channels @ numChannels: c_uint,
    #[handle] device @ dev: CUdevice,
);

/// Returns the device's default memory pool.
#[driver(cuDeviceGetDefaultMemPool, home = none)]
pub fn device_get_default_mem_pool(
    #[out] pool @ pool_out: *mut CUmemoryPool,
    #[handle] device @ dev: CUdevice,
);

/// Returns the device's current memory pool.
#[driver(cuDeviceGetMemPool, home = none)]
pub fn device_get_mem_pool(#[out] pool: *mut CUmemoryPool, #[handle] device @ dev: CUdevice);

/// Makes a memory pool the device's current one.
///
/// Streams keep memory of the former one, of buffers that were dropped, and hand it out to buffers of as
/// many bytes until they or their context are waited for.
#[driver(cuDeviceSetMemPool, home = none)]
pub fn device_set_mem_pool(#[handle] device @ dev: CUdevice, #[handle] pool: CUmemoryPool);

/// Asks whether a device supports a kind of execution affinity.
#[driver(cuDeviceGetExecAffinitySupport, home = none)]
pub fn device_get_exec_affinity_support(
    #[out] value @ pi: *mut c_int,
    #[value] kind @ type_: CUexecAffinityType,
    #[handle] device @ dev: CUdevice,
);

/// Asks which atomic operations a device does on the host's memory; one answer an operation.
#[driver(cuDeviceGetHostAtomicCapabilities, home = none)]
pub fn device_get_host_atomic_capabilities(
    #[items(count, out)] capabilities: *mut c_uint,
    #[items(count, value)] operations: *const CUatomicOperation,
    #[from(operations.count)] count: c_uint,
    #[handle] device @ dev: CUdevice,
);

/// Fills a list of synchronisation attributes of NvSci with those of a device.
///
/// # Safety
///
/// The list is one of NvSci's, alive, and empty.
#[driver(cuDeviceGetNvSciSyncAttributes, home = none)]
pub unsafe fn device_get_nv_sci_sync_attributes(
    #[raw] list @ nvSciSyncAttrList: *mut c_void,
    #[handle] device @ dev: CUdevice,
    #[value] flags: c_int,
);

/// Waits until what others wrote to the device by remote access is seen.
#[driver(cuFlushGPUDirectRDMAWrites, home = given)]
pub fn flush_gpu_direct_rdma_writes(
    #[value] target: CUflushGPUDirectRDMAWritesTarget,
    #[value] scope: CUflushGPUDirectRDMAWritesScope,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &DEVICE_GET_LUID,
    &DEVICE_GET_TEXTURE_1D_LINEAR_MAX_WIDTH,
    &DEVICE_GET_DEFAULT_MEM_POOL,
    &DEVICE_GET_MEM_POOL,
    &DEVICE_SET_MEM_POOL,
    &DEVICE_GET_EXEC_AFFINITY_SUPPORT,
    &DEVICE_GET_HOST_ATOMIC_CAPABILITIES,
    &DEVICE_GET_NV_SCI_SYNC_ATTRIBUTES,
    &FLUSH_GPU_DIRECT_RDMA_WRITES,
];
