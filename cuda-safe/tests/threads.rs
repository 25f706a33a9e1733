//! Which types other threads may have and share: the table of the crate's first page.
#![cfg(feature = "driver")]

use cuda_safe::shim::Adopted;
use cuda_safe::{
    AddressRange, Advice, Context, Device, DeviceAccess, DeviceBuffer, Error, Event, EventOptions,
    External, Function, Global, LaunchShape, Location, ManagedBuffer, MemoryPool, Module, OnDevice,
    PhysicalMemory, PinnedBuffer, PoolProperties, Registered, RegisteredHost, Slice, SliceMut,
    Stream, StreamOptions, TimedEvent, View, ViewMut, WriteCombinedBuffer,
};

const fn is_sent<T: Send>() {}
const fn is_shared<T: Send + Sync>() {}

const _: () = {
    is_shared::<Context>();
    is_shared::<Device>();
    is_shared::<Error>();
    is_shared::<Stream>();
    is_shared::<StreamOptions>();
    is_shared::<Event>();
    is_shared::<EventOptions>();
    is_shared::<TimedEvent>();
    is_shared::<Module>();
    is_shared::<Function>();
    is_shared::<Global<f32>>();
    is_shared::<LaunchShape>();
    is_shared::<DeviceBuffer<f32>>();
    is_shared::<PinnedBuffer<f32>>();
    is_shared::<WriteCombinedBuffer<f32>>();
    is_shared::<ManagedBuffer<f32>>();
    is_shared::<Registered<'static, f32>>();
    is_shared::<RegisteredHost<f32>>();
    is_shared::<Slice<'static, f32, OnDevice>>();
    is_shared::<SliceMut<'static, f32, OnDevice>>();
    is_shared::<AddressRange<f32>>();
    is_shared::<PhysicalMemory>();
    is_shared::<DeviceAccess>();
    is_shared::<MemoryPool>();
    is_shared::<PoolProperties>();
    is_shared::<Location>();
    is_shared::<Advice>();
    is_shared::<View<'static, f32>>();
    is_shared::<ViewMut<'static, f32>>();
    is_shared::<Adopted<u32>>();
    is_sent::<External<std::cell::Cell<u8>>>();
};

/// Every type that the table names is asserted above, and the other way round.
#[test]
fn the_table_is_what_is_asserted() {
    let asserted: Vec<&str> = include_str!("threads.rs")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("is_shared::<"))
        .filter_map(|line| line.split(['<', '>']).next())
        .filter(|name| *name != "Adopted")
        .collect();
    let (_, table) = include_str!("../src/driver.md").split_once("# Threads").unwrap_or_default();
    let told: Vec<&str> = table
        .lines()
        .filter(|line| line.ends_with("| yes | yes |"))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect();
    assert!(told.len() > 12, "{told:?}");
    assert_eq!(asserted, told);
}
