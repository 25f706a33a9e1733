//! Contexts and threads.

use std::thread;

use cuda_safe::shim::Handle as _;
use cuda_safe::sys::{CUdevice, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRetain};
use cuda_safe::{Context, Device, DeviceBuffer, Event, PinnedBuffer, Stream, call};
use cuda_sim::{Config, is_on_device, isolated};
use cuda_sys::CUresult;

use crate::common::{calls, context, lazy};

/// Returns every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = orders(count - 1);
    let with_last = |order: &Vec<usize>| {
        let order = order.clone();
        (0..count).map(move |place| {
            let mut order = order.clone();
            order.insert(place, count - 1);
            order
        })
    };
    shorter.iter().flat_map(with_last).collect()
}

#[test]
fn row_86_everything_is_dropped_in_any_order() {
    isolated!(Config::new(), || {
        let device = Device::get(0).unwrap();
        // A context takes a device a tenth of a second.
        let step = if is_on_device() { 45 } else { 1 };
        for order in orders(6).into_iter().step_by(step) {
            let (own, primary) = (Context::create(device).unwrap(), device.context().unwrap());
            let stream = Stream::new(&own).unwrap();
            let event = Event::new(&own).unwrap();
            let mut here = DeviceBuffer::<u8>::allocate(&own, 64).unwrap();
            let there = DeviceBuffer::<u8>::allocate(&primary, 64).unwrap();
            here.fill(1, &stream).unwrap();
            event.record(&stream).unwrap();
            let mut things: [Option<Box<dyn Send>>; 6] = [
                Some(Box::new(own)),
                Some(Box::new(primary)),
                Some(Box::new(stream)),
                Some(Box::new(event)),
                Some(Box::new(here)),
                Some(Box::new(there)),
            ];
            for index in order {
                things[index] = None;
            }
        }
        assert_eq!(device.context().unwrap().reported_errors(), 0);
    });
}

#[test]
fn row_87_every_thread_may_use_and_drop_everything() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let event = Event::new(&context).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let pinned = PinnedBuffer::filled(&context, 64, 5_u8).unwrap();
        let used = thread::spawn(move || {
            assert!(call::ctx_get_current().unwrap().is_null());
            call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
            event.record(&stream).unwrap();
            event.synchronize().unwrap();
            assert!(call::ctx_get_current().unwrap().is_null());
            (stream, event, buffer, pinned)
        });
        let used = used.join().unwrap();
        let other = Context::create(Device::get(0).unwrap()).unwrap();
        let dropped = thread::spawn(move || {
            other
                .run(|| {
                    let before = call::ctx_get_current()?;
                    drop(used);
                    assert_eq!(call::ctx_get_current()?, before);
                    Ok(())
                })
                .unwrap();
            assert!(call::ctx_get_current().unwrap().is_null());
        });
        dropped.join().unwrap();
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn row_88_the_context_is_the_primary_one() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the call writes one handle.
        let retained = unsafe { cuDevicePrimaryCtxRetain(&raw mut raw, CUdevice(0)) };
        assert_eq!((retained, raw), (CUresult::CUDA_SUCCESS, context.raw()));
        // Using it does not make it the thread's.
        drop(DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap());
        assert!(call::ctx_get_current().unwrap().is_null());
        // SAFETY: it was retained above.
        assert_eq!(unsafe { cuDevicePrimaryCtxRelease_v2(CUdevice(0)) }, CUresult::CUDA_SUCCESS);
        stream.synchronize().unwrap();
    });
}

#[test]
fn row_89_a_context_is_released_as_often_as_retained() {
    isolated!(Config::new().log(true), || {
        let device = Device::get(0).unwrap();
        for _ in 0..10 {
            let context = device.context().unwrap();
            let again = (device.context().unwrap(), context.clone());
            let stream = Stream::new(&context).unwrap();
            drop((context, again));
            stream.synchronize().unwrap();
            drop(stream);
            drop(Context::create(device).unwrap());
        }
        let count = |function| calls(function).len();
        assert_eq!(count("cuDevicePrimaryCtxRetain"), 10);
        assert_eq!(count("cuDevicePrimaryCtxRelease_v2"), 10);
        assert_eq!((count("cuCtxCreate_v2"), count("cuCtxDestroy_v2")), (10, 10));
        assert_eq!(count("cuDevicePrimaryCtxReset_v2"), 0);
    });
}

#[test]
fn row_96_a_copy_is_made_in_its_streams_context() {
    isolated!(lazy(), || {
        let (here, _stream) = context();
        let there = Context::create(Device::get(0).unwrap()).unwrap();
        let stream = Stream::new(&there).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&there, 64).unwrap();
        let source = PinnedBuffer::filled(&there, 64, 5_u8).unwrap();
        let mut home = [0_u8; 64];
        here.run(|| {
            let before = call::ctx_get_current()?;
            assert_eq!(before, here.raw());
            call::memcpy_htod_async(&mut buffer, &source, &stream)?;
            stream.synchronize()?;
            call::memcpy_dtoh(&mut home, &buffer)?;
            assert_eq!(call::ctx_get_current()?, before);
            Ok(())
        })
        .unwrap();
        assert_eq!(home, [5; 64]);
    });
}
