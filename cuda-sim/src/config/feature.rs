//! What a device can lack.

/// Is what a device can lack: the driver's calls and attributes then answer as one that never had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Stream-ordered allocation and memory pools.
    MemoryPools,
    /// Legacy handles of memory and events for other processes.
    Ipc,
    /// One address space for host and devices.
    UnifiedAddressing,
    /// Registration of host memory.
    HostRegister,
    /// Registered host memory that the device reaches by the host's address.
    HostPointerForRegisteredMemory,
    /// Virtual memory management.
    VirtualMemory,
    /// File descriptors for memory and pools.
    FileDescriptors,
    /// Managed memory.
    ManagedMemory,
    /// Managed memory that host and device touch at the same time.
    ConcurrentManagedAccess,
    /// Launches of blocks that wait for each other.
    CooperativeLaunch,
}

impl Feature {
    /// Lists all of them with the names that a configuration's text has.
    pub(super) const ALL: &[(Self, &str)] = &[
        (Self::MemoryPools, "memory_pools"),
        (Self::Ipc, "ipc"),
        (Self::UnifiedAddressing, "unified_addressing"),
        (Self::HostRegister, "host_register"),
        (Self::HostPointerForRegisteredMemory, "host_pointer_for_registered_memory"),
        (Self::VirtualMemory, "virtual_memory"),
        (Self::FileDescriptors, "file_descriptors"),
        (Self::ManagedMemory, "managed_memory"),
        (Self::ConcurrentManagedAccess, "concurrent_managed_access"),
        (Self::CooperativeLaunch, "cooperative_launch"),
    ];

    pub(super) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(feature, _)| *feature == self).map_or("", |(_, name)| name)
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other)| *other == name).map(|(feature, _)| *feature)
    }
}
