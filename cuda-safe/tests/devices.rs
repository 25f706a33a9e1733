//! What devices tell of themselves, and contexts that are made instead of retained.
#![cfg(feature = "driver")]

use cuda_safe::sys::CUdevice_attribute;
use cuda_safe::{Context, Device, DeviceBuffer, Stream, call};
use cuda_sim::{Config, Feature, for_each_failure, is_on_device, isolated, not_run};
use cuda_sys::CUresult;

#[test]
fn what_is_asked_of_a_device_makes_no_context() {
    isolated!(Config::new(), || {
        for device in Device::all().unwrap() {
            assert!(!device.name().unwrap().is_empty());
            assert!(device.compute_capability().unwrap() >= (3, 0));
            assert!(device.total_memory().unwrap() > 0);
            assert!(device.multiprocessors().unwrap() > Some(0));
            assert_eq!(device.warp_size(), Ok(Some(32)));
            assert!(device.max_threads_per_block().unwrap() >= Some(512));
            let usual = device.shared_memory_per_block().unwrap();
            assert!(device.max_shared_memory_per_block().unwrap() >= usual);
            assert!(device.has_unified_addressing().unwrap().is_some());
            let address = device.bus_address().unwrap();
            assert_eq!(Device::at_bus_address(&address), Ok(device));
            let (_flags, active) = call::device_primary_ctx_get_state(&device).unwrap();
            assert_eq!(active, 0);
        }
        assert!(call::ctx_get_current().unwrap().is_null());
    });
}

#[test]
fn a_created_context_is_apart_from_the_primary_one() {
    isolated!(Config::new(), || {
        let device = Device::get(0).unwrap();
        let (own, primary) = (Context::create(device).unwrap(), device.context().unwrap());
        assert!(call::ctx_get_current().unwrap().is_null());
        assert_eq!((own.is_primary(), primary.is_primary()), (false, true));
        assert_ne!(own, primary);
        assert_eq!(device.context(), Ok(primary.clone()));
        let stream = Stream::new(&own).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&own, 64).unwrap();
        call::memset_d8_async(&mut buffer, 3, &stream).unwrap();
        let elsewhere = Stream::new(&primary).unwrap();
        let error = call::memset_d8_async(&mut buffer, 4, &elsewhere).unwrap_err();
        assert_eq!(error.rule(), Some(cuda_safe::Rule::Home));
        // What was made in it keeps it, in any order.
        drop(own);
        let mut bytes = [0_u8; 64];
        call::memcpy_dtoh(&mut bytes, &buffer).unwrap();
        assert_eq!(bytes, [3; 64]);
        drop((stream, buffer));
    });
}

#[test]
fn a_thread_does_not_keep_a_created_context() {
    isolated!(Config::new(), || {
        let context = Context::create(Device::get(0).unwrap()).unwrap();
        let error = context.make_current().unwrap_err();
        let text = "Context::make_current: `context` breaks Primary: needs a primary context, has a \
                    created one";
        assert_eq!(error.to_string(), text);
        let inside = context.run(|| call::ctx_get_current().map(|current| current.is_null()));
        assert_eq!(inside, Ok(false));
        assert!(call::ctx_get_current().unwrap().is_null());
    });
}

#[test]
fn every_call_of_a_created_context_may_fail() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = Context::create(Device::get(0)?)?;
        let stream = Stream::new(&context)?;
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        call::memset_d8_async(&mut buffer, 3, &stream)?;
        drop(buffer);
        stream.synchronize()?;
        context.run(|| Ok(()))
    });
}

#[test]
fn features_are_told_device_by_device() {
    if is_on_device() {
        return not_run("features_are_told_device_by_device", "a device has what it has");
    }
    let config = Config::new().devices(2).device_without(1, Feature::MemoryPools).no_peer(0, 1);
    isolated!(config, || {
        let [first, second] = [0, 1].map(|ordinal| Device::get(ordinal).unwrap());
        assert_eq!(first.has_memory_pools(), Ok(Some(true)));
        assert_eq!(second.has_memory_pools(), Ok(Some(false)));
        assert_eq!((first.can_reach(second), second.can_reach(first)), (Ok(false), Ok(true)));
        assert_ne!(first.bus_address(), second.bus_address());
    });
}

#[test]
fn what_the_driver_does_not_know_is_none() {
    isolated!(Config::new(), || {
        let device = Device::get(0).unwrap();
        let later = CUdevice_attribute(9999);
        assert_eq!(device.known_attribute(later), Ok(None));
        let error = device.attribute(later).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
        Device::at_bus_address("tea").unwrap_err();
        Device::at_bus_address("0\0").unwrap_err();
        let error = Device::get(99).unwrap_err();
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_INVALID_DEVICE));
    });
}

#[test]
fn every_question_may_fail() {
    for_each_failure!(Config::new(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let device = *Device::all()?.first().unwrap();
        device.name()?;
        device.uuid()?;
        device.compute_capability()?;
        device.has_memory_pools()?;
        device.can_reach(device)?;
        Device::at_bus_address(&device.bus_address()?).map(drop)
    });
}
