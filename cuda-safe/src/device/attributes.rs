//! What a device tells of itself, typed: a number, or whether it has something.
//!
//! None of it needs a context. What a driver does not know yet is none, not an error.

use cuda_sys::{CUdevice_attribute as Attribute, CUresult};

use super::Device;
use crate::error::Result;

/// Is the type of an attribute's value.
trait Value {
    fn of(value: i32) -> Self;
}

impl Value for bool {
    fn of(value: i32) -> Self {
        value != 0
    }
}

impl Value for u32 {
    fn of(value: i32) -> Self {
        Self::try_from(value).unwrap_or(0)
    }
}

macro_rules! attributes {
    ($($(#[$meta:meta])* $name:ident: $ty:ty = $code:ident;)*) => {
        impl Device {
            $(
                $(#[$meta])*
                ///
                /// None from drivers that do not know the attribute.
                ///
                #[doc = concat!(
                    " Driver: [`cuDeviceGetAttribute`](crate::call::device_get_attribute), `",
                    stringify!($code),
                    "`.",
                )]
                ///
                /// # Errors
                ///
                /// As the driver answers.
                pub fn $name(self) -> Result<Option<$ty>> {
                    let value = self.known_attribute(Attribute::$code)?;
                    Ok(value.map(<$ty as Value>::of))
                }
            )*
        }
    };
}

attributes! {
    /// Returns how many multiprocessors it has.
    multiprocessors: u32 = CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    /// Returns how many threads run in step.
    warp_size: u32 = CU_DEVICE_ATTRIBUTE_WARP_SIZE;
    /// Returns how many threads a block may have.
    max_threads_per_block: u32 = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    /// Returns how many threads a multiprocessor holds at once.
    max_threads_per_multiprocessor: u32 = CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR;
    /// Returns how many bytes of shared memory a block may have without asking.
    shared_memory_per_block: u32 = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK;
    /// Returns how many bytes of shared memory a block may have if its kernel
    /// [asks](crate::Function::allow_shared).
    max_shared_memory_per_block: u32 = CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    /// Returns how many bytes of cache lie before its memory.
    l2_cache_size: u32 = CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE;
    /// Returns how many bits wide the way to its memory is.
    memory_bus_width: u32 = CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH;
    /// Returns how many engines copy beside running kernels.
    copy_engines: u32 = CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT;
    /// Returns how many bytes may lie between the rows of a copy.
    max_pitch: u32 = CU_DEVICE_ATTRIBUTE_MAX_PITCH;
    /// Tells whether its memory is the host's.
    is_integrated: bool = CU_DEVICE_ATTRIBUTE_INTEGRATED;
    /// Tells whether host and devices have one address space.
    has_unified_addressing: bool = CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING;
    /// Tells whether it has memory in the order of streams, from pools.
    has_memory_pools: bool = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    /// Tells whether physical memory can be mapped at addresses of one's own.
    has_virtual_memory: bool = CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    /// Tells whether it has managed memory.
    has_managed_memory: bool = CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY;
    /// Tells whether host and device may touch managed memory at the same time.
    has_concurrent_managed_access: bool = CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS;
    /// Tells whether it reaches ordinary memory of the host.
    has_pageable_access: bool = CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    /// Tells whether memory of the host can be registered.
    has_host_register: bool = CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED;
    /// Tells whether events can be shared with other processes.
    has_shared_events: bool = CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED;
    /// Tells whether blocks of a kernel may wait for each other.
    has_cooperative_launch: bool = CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    /// Tells whether its memory corrects errors.
    has_error_correction: bool = CU_DEVICE_ATTRIBUTE_ECC_ENABLED;
}

impl Device {
    /// Returns its compute capability, major and minor: which instructions it has.
    ///
    /// Driver: [`cuDeviceGetAttribute`](crate::call::device_get_attribute),
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `…_MINOR`.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn compute_capability(self) -> Result<(u32, u32)> {
        let major = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((Value::of(major), Value::of(minor)))
    }

    /// Returns an attribute; none from drivers that do not know it.
    ///
    /// Driver: [`cuDeviceGetAttribute`](crate::call::device_get_attribute).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn known_attribute(self, attribute: Attribute) -> Result<Option<i32>> {
        match self.attribute(attribute) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
