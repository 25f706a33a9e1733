//! Attributes whose C parameter is `void *`: a marker type each, which says the answer's type.
#![expect(unsafe_code, reason = "says of which types the driver's answers are")]

use core::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sys::{CUdeviceptr, CUpointer_attribute};

use super::value::Output;

/// Is an attribute of a pointer: a marker type that says what the answer's type is.
///
/// # Safety
///
/// For [`CODE`](Self::CODE) the driver writes at most the bytes of [`Value`](Self::Value).
pub unsafe trait PointerAttribute {
    /// The driver's number for it.
    const CODE: CUpointer_attribute;
    /// The type of the answer.
    type Value: Output;
}

macro_rules! attributes {
    ($($(#[$meta:meta])* $name:ident = $code:ident: $value:ty;)*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        // SAFETY: the manual says that the value is of this type.
        unsafe impl PointerAttribute for $name {
            const CODE: CUpointer_attribute = CUpointer_attribute::$code;
            type Value = $value;
        }
    )* };
}

attributes! {
    /// Asks for the memory's type, as the number of a `CUmemorytype`.
    MemoryType = CU_POINTER_ATTRIBUTE_MEMORY_TYPE: c_uint;
    /// Asks for a number that no other allocation of this process has or had.
    BufferId = CU_POINTER_ATTRIBUTE_BUFFER_ID: c_ulonglong;
    /// Asks whether the memory is managed.
    IsManaged = CU_POINTER_ATTRIBUTE_IS_MANAGED: c_uint;
    /// Asks for the number of the device that the memory is of.
    DeviceOrdinal = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: c_int;
    /// Asks whether a handle of the memory can be made for other processes.
    IsLegacyIpcCapable = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: c_uint;
    /// Asks where the allocation begins.
    RangeStart = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUdeviceptr;
    /// Asks how many bytes the allocation has.
    RangeSize = CU_POINTER_ATTRIBUTE_RANGE_SIZE: usize;
}
