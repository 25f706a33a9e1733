//! The attributes of devices.

use std::ffi::c_int;

use cuda_sys::CUdevice_attribute;

use crate::config::Feature;
use crate::engine::image::format;
use crate::engine::state::State;

impl State {
    /// Returns the value of a device's attribute; none if no header has such an attribute.
    pub(crate) fn device_attribute(
        &self,
        attribute: CUdevice_attribute,
        device: usize,
    ) -> Option<c_int> {
        if attribute == CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID {
            return c_int::try_from(self.physical(device)).ok();
        }
        if attribute == CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES {
            let has = |feature| c_int::from(self.has(device, feature));
            return Some(has(Feature::MemoryPools) * (8 + has(Feature::FileDescriptors)));
        }
        match feature(attribute) {
            Some(feature) => Some(c_int::from(self.has(device, feature))),
            None => format::limit(attribute).or_else(|| constant(attribute)),
        }
    }
}

/// Returns the feature that an attribute asks for, if it asks for one.
fn feature(attribute: CUdevice_attribute) -> Option<Feature> {
    use CUdevice_attribute as A;
    Some(match attribute {
        A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING => Feature::UnifiedAddressing,
        A::CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED => Feature::HostRegister,
        A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM => {
            Feature::HostPointerForRegisteredMemory
        }
        A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY => Feature::ManagedMemory,
        A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS => Feature::ConcurrentManagedAccess,
        A::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED => Feature::Ipc,
        A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH => Feature::CooperativeLaunch,
        A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED => Feature::MemoryPools,
        A::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED => Feature::VirtualMemory,
        A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
        | A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED => Feature::FileDescriptors,
        _ => return None,
    })
}

/// Returns an attribute's value, those of an H200; an attribute that no header has is none.
///
/// *Measured*: event and file-descriptor sharing, pool handle types, host pointers of registered
/// memory, pageable and managed access, unified addressing, DMA-BUF, the greatest pitch. What the
/// simulator lacks is zero. The rest is *manual*.
fn constant(attribute: CUdevice_attribute) -> Option<c_int> {
    use CUdevice_attribute as A;
    let known = A::CONSTANTS.iter().any(|&(_, value)| value == attribute.0);
    let value = match attribute {
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        | A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X
        | A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => 1024,
        A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => 64,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => c_int::MAX,
        A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y | A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => 65535,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => 49152,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 232_448,
        A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => 233_472,
        A::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 65536,
        A::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
        A::CU_DEVICE_ATTRIBUTE_MAX_PITCH => 2_147_483_647,
        A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
        | A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => 65536,
        A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE => 1_980_000,
        A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => 3_201_000,
        A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 6144,
        A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 62_914_560,
        A::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT => 512,
        A::CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT => 32,
        A::CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT => 512,
        A::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE => 39_321_600,
        A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE => 134_213_632,
        A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 132,
        A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => 2048,
        A::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => 3,
        A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
        A::CU_DEVICE_ATTRIBUTE_GPU_OVERLAP
        | A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS
        | A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
        | A::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR
        | A::CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED => 1,
        _ if known => 0,
        _ => return None,
    };
    Some(value)
}
