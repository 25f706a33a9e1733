//! Devices, and the driver's start.

use cuda_safe::sys::CUdevice_attribute;
use cuda_safe::{Device, initialize};

#[test]
fn devices_are_found() {
    each_call_fails!(
        [
            initialize,
            Device::count,
            Device::get,
            Device::all,
            Device::at_bus_address,
            Device::bus_address,
            Device::name,
            Device::uuid,
            Device::total_memory,
            Device::can_reach,
            Device::compute_capability,
            Device::attribute,
            Device::known_attribute,
        ],
        |_given| {
            initialize()?;
            assert_eq!(Device::count()?, 1);
            let device = Device::get(0)?;
            assert_eq!(Device::all()?, [device]);
            assert_eq!(Device::at_bus_address(&device.bus_address()?)?, device);
            device.name()?;
            device.uuid()?;
            device.total_memory()?;
            device.can_reach(device)?;
            device.compute_capability()?;
            let warp = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE;
            assert_eq!(device.attribute(warp)?, 32);
            assert_eq!(device.known_attribute(warp)?, Some(32));
            Ok(())
        }
    );
}

#[test]
fn devices_are_described() {
    each_call_fails!(
        [
            Device::multiprocessors,
            Device::warp_size,
            Device::max_threads_per_block,
            Device::max_threads_per_multiprocessor,
            Device::shared_memory_per_block,
            Device::max_shared_memory_per_block,
            Device::l2_cache_size,
            Device::memory_bus_width,
            Device::copy_engines,
            Device::max_pitch,
            Device::is_integrated,
            Device::has_unified_addressing,
            Device::has_memory_pools,
            Device::has_virtual_memory,
            Device::has_managed_memory,
            Device::has_concurrent_managed_access,
            Device::has_pageable_access,
            Device::has_host_register,
            Device::has_shared_events,
            Device::has_cooperative_launch,
            Device::has_error_correction,
        ],
        |_given| {
            let device = Device::get(0)?;
            let numbers = [
                device.multiprocessors()?,
                device.warp_size()?,
                device.max_threads_per_block()?,
                device.max_threads_per_multiprocessor()?,
                device.shared_memory_per_block()?,
                device.max_shared_memory_per_block()?,
                device.l2_cache_size()?,
                device.memory_bus_width()?,
                device.copy_engines()?,
                device.max_pitch()?,
            ];
            assert!(numbers.iter().all(|number| *number > Some(0)), "{numbers:?}");
            let answers = [
                device.is_integrated()?,
                device.has_unified_addressing()?,
                device.has_memory_pools()?,
                device.has_virtual_memory()?,
                device.has_managed_memory()?,
                device.has_concurrent_managed_access()?,
                device.has_pageable_access()?,
                device.has_host_register()?,
                device.has_shared_events()?,
                device.has_cooperative_launch()?,
                device.has_error_correction()?,
            ];
            assert!(answers.iter().all(Option::is_some), "{answers:?}");
            Ok(())
        }
    );
}

#[test]
fn a_device_knows_its_number() {
    asks_no_driver!([Device::ordinal], |_given| Device::get(0), |device| {
        assert_eq!(device.ordinal(), 0);
        Ok(())
    });
}
