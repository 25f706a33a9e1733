//! Attributes whose C parameter is `void *`: a marker type each, which says the answer's type.
#![expect(unsafe_code, reason = "says of which types the driver's answers are")]

use core::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sys::{
    CUdeviceptr, CUgraphMem_attribute, CUmem_range_attribute, CUmemPool_attribute,
    CUpointer_attribute,
};

use super::value::Output;

macro_rules! attributes {
    (
        $(#[$about:meta])* $marker:ident of $code_type:ty;
        $($(#[$meta:meta])* $name:ident = $code:ident: $value:ty;)*
    ) => {
        $(#[$about])*
        ///
        #[doc = concat!(
            " Driver: [`",
            stringify!($code_type),
            "`](crate::sys::",
            stringify!($code_type),
            ").",
        )]
        ///
        /// # Safety
        ///
        /// For [`CODE`](Self::CODE) the driver reads or writes at most the bytes of
        /// [`Value`](Self::Value).
        pub unsafe trait $marker {
            /// The driver's number for it.
            const CODE: $code_type;
            /// The type of its value.
            type Value: Output;
        }

        $(
            $(#[$meta])*
            ///
            #[doc = concat!(
                " Driver: [`",
                stringify!($code),
                "`](crate::sys::",
                stringify!($code_type),
                "::",
                stringify!($code),
                ").",
            )]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            // SAFETY: the manual says that the value is of this type.
            unsafe impl $marker for $name {
                const CODE: $code_type = <$code_type>::$code;
                type Value = $value;
            }
        )*
    };
}

attributes! {
    /// Is an attribute of a pointer: a marker type that says what the value's type is.
    PointerAttribute of CUpointer_attribute;
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
    /// Says whether synchronous calls on the memory always wait.
    SyncMemops = CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: c_uint;
}

attributes! {
    /// Is an attribute of a memory pool.
    PoolAttribute of CUmemPool_attribute;
    /// Says whether freed memory may be used again behind an event that a stream waits for.
    ReuseFollowEventDependencies = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: c_int;
    /// Says whether freed memory may be used again once its free is done.
    ReuseAllowOpportunistic = CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: c_int;
    /// Says whether a stream may be made to wait so that it can use freed memory again.
    ReuseAllowInternalDependencies = CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: c_int;
    /// Says how many bytes a pool keeps when everything is idle.
    ReleaseThreshold = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: c_ulonglong;
    /// Asks how many bytes a pool holds.
    ReservedNow = CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: c_ulonglong;
    /// Asks how many bytes a pool held at most; 0 sets it back.
    ReservedHigh = CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: c_ulonglong;
    /// Asks how many bytes of a pool are allocated.
    UsedNow = CU_MEMPOOL_ATTR_USED_MEM_CURRENT: c_ulonglong;
    /// Asks how many bytes of a pool were allocated at most; 0 sets it back.
    UsedHigh = CU_MEMPOOL_ATTR_USED_MEM_HIGH: c_ulonglong;
}

attributes! {
    /// Is an attribute of a range of managed memory.
    RangeAttribute of CUmem_range_attribute;
    /// Asks whether the range is mostly read.
    ReadMostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: c_int;
    /// Asks for the device that the range should be on.
    PreferredLocation = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: c_int;
    /// Asks for the device that the range was last moved to.
    LastPrefetchLocation = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: c_int;
}

attributes! {
    /// Is an attribute of a device's memory for graphs.
    GraphMemoryAttribute of CUgraphMem_attribute;
    /// Asks how many bytes graphs use.
    GraphUsedNow = CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: c_ulonglong;
    /// Asks how many bytes graphs used at most; 0 sets it back.
    GraphUsedHigh = CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: c_ulonglong;
    /// Asks how many bytes are held for graphs.
    GraphReservedNow = CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: c_ulonglong;
    /// Asks how many bytes were held for graphs at most; 0 sets it back.
    GraphReservedHigh = CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: c_ulonglong;
}
