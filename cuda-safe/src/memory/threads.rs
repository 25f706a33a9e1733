//! What passes to other threads, asserted; the tables are the module's and the crate's.

use super::{
    AddressRange, Advice, DeviceAccess, DeviceBuffer, Location, ManagedBuffer, MemoryPool, OnBoth,
    OnDevice, OnHost, PhysicalMemory, PinnedBuffer, PoolProperties, Registered, RegisteredHost,
    Slice, SliceMut, WriteCombinedBuffer,
};

const fn passes<T: Send + Sync>() {}

const _: () = {
    passes::<DeviceBuffer<u8>>();
    passes::<ManagedBuffer<u8>>();
    passes::<PinnedBuffer<u8>>();
    passes::<WriteCombinedBuffer<u8>>();
    passes::<RegisteredHost<u8>>();
    passes::<Registered<'static, u8>>();
    passes::<Slice<'static, u8, OnDevice>>();
    passes::<SliceMut<'static, u8, OnHost>>();
    passes::<SliceMut<'static, u8, OnBoth>>();
    passes::<MemoryPool>();
    passes::<AddressRange<u8>>();
    passes::<PhysicalMemory>();
    passes::<DeviceAccess>();
    passes::<(PoolProperties, Location, Advice)>();
};

/// Is an element that only one thread may have: nothing that holds it passes to another.
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// #[repr(transparent)]
/// struct Mine(core::marker::PhantomData<*const u8>);
/// unsafe impl bytemuck::Zeroable for Mine {}
/// unsafe impl bytemuck::Pod for Mine {}
/// fn passes<T: Send>() {}
/// passes::<cuda_safe::PinnedBuffer<Mine>>();
/// ```
#[cfg(doctest)]
struct OfOneThread;
