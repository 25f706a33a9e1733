//! What a device can lack.

use crate::listed::listed;

listed! {
    /// Is what a device can lack: the driver's calls and attributes then answer as one that never had
    /// it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    enum Feature {
        /// Stream-ordered allocation and memory pools.
        MemoryPools = "memory_pools",
        /// Legacy handles of memory and events for other processes.
        Ipc = "ipc",
        /// One address space for host and devices.
        UnifiedAddressing = "unified_addressing",
        /// Registration of host memory.
        HostRegister = "host_register",
        /// Registered host memory that the device reaches by the host's address.
        HostPointerForRegisteredMemory = "host_pointer_for_registered_memory",
        /// Virtual memory management.
        VirtualMemory = "virtual_memory",
        /// File descriptors for memory and pools.
        FileDescriptors = "file_descriptors",
        /// Managed memory.
        ManagedMemory = "managed_memory",
        /// Managed memory that host and device touch at the same time.
        ConcurrentManagedAccess = "concurrent_managed_access",
        /// Launches of blocks that wait for each other.
        CooperativeLaunch = "cooperative_launch",
    }

    /// Returns the name that a configuration's text has.
    pub fn name
}

impl Feature {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|feature| feature.name() == name)
    }
}
