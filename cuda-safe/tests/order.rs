//! Memory in use: waits between streams, host access, drops, on a simulator that puts work off for
//! as long as it may and reports every race.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::time::Duration;

use cuda_safe::shim::{Area, Device, Extent, Kind, Memory, Region, Steady};
use cuda_safe::{Context, DeviceBuffer, Event, PinnedBuffer, Stream, call};
use cuda_sim::{Config, Scheduler, for_each_failure, is_on_device, isolated};
use cuda_sys::CUresult;

fn lazy() -> Config {
    let config = Config::new().scheduler(Scheduler::Lazy);
    // Only the simulator keeps a log, and asking for one keeps a test off a device.
    if is_on_device() { config } else { config.log(true) }
}

fn context() -> Context {
    cuda_safe::Device::get(0).unwrap().context().unwrap()
}

/// Fails unless these functions were called so often, as far as the log tells.
fn expect_calls(functions: &[&str], expected: usize) {
    if is_on_device() {
        return;
    }
    let calls = cuda_sim::calls();
    let calls = calls.iter().filter(|call| functions.contains(&call.function));
    assert_eq!(calls.count(), expected, "{functions:?}");
}

/// Is one half of a buffer, split as a view would be.
struct Half<'a>(Region<'a>);

impl<'a> Half<'a> {
    fn both(buffer: &'a mut DeviceBuffer<u8>) -> [Self; 2] {
        // SAFETY: the address is only passed to calls of this crate.
        let address = usize::try_from(unsafe { buffer.as_device_ptr() }.0).unwrap();
        let half = buffer.len() / 2;
        [0, half].map(|offset| {
            let region = Region::new(address + offset, half, Kind::Alloc);
            Self(region.with_home(buffer.context()).within(buffer.allocation(), offset))
        })
    }
}

// SAFETY: the two halves share no byte, and borrow the buffer mutably.
unsafe impl Memory for Half<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}
// SAFETY: the buffer's record is named.
unsafe impl Steady for Half<'_> {}
// SAFETY: the buffer is on the device.
unsafe impl Device for Half<'_> {}

#[test]
fn a_second_stream_waits_once() {
    isolated!(lazy(), || {
        let context = context();
        let (first, second) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
        let source = PinnedBuffer::from_slice(&context, &[7_u8; 64]).unwrap();
        let mut target = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memcpy_htod_async(&mut buffer, &source, &first).unwrap();
        // One stream needs no event.
        expect_calls(&["cuEventRecord"], 0);
        call::memcpy_dtoh_async(&mut target, &buffer, &second).unwrap();
        call::memcpy_dtoh_async(&mut target, &buffer, &second).unwrap();
        // It is behind the first stream's use by now.
        expect_calls(&["cuStreamWaitEvent"], 1);
        assert_eq!(target.as_slice().unwrap(), [7; 64]);
        assert_eq!(source.as_slice().unwrap(), [7; 64]);
    });
}

#[test]
fn two_halves_do_not_wait_for_each_other() {
    isolated!(lazy(), || {
        let context = context();
        let streams = [Stream::new(&context).unwrap(), Stream::new(&context).unwrap()];
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 128).unwrap();
        std::thread::scope(|scope| {
            for (mut half, stream) in Half::both(&mut buffer).into_iter().zip(&streams) {
                scope.spawn(move || {
                    for byte in 0..100 {
                        call::memset_d8_async(&mut half, byte, stream).unwrap();
                    }
                });
            }
        });
        expect_calls(&["cuStreamWaitEvent", "cuEventRecord"], 0);
        let mut bytes = [0_u8; 128];
        call::memcpy_dtoh(&mut bytes, &buffer).unwrap();
        // The default stream waits for both.
        expect_calls(&["cuStreamWaitEvent"], 2);
        assert_eq!(bytes, [99; 128]);
    });
}

#[test]
fn an_image_is_read_behind_the_copies_to_it() {
    const PTX: &[u8] =
        b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\0";
    isolated!(lazy(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let source = PinnedBuffer::from_slice(&context, PTX).unwrap();
        let mut image = PinnedBuffer::<u8>::zeroed(&context, PTX.len()).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, PTX.len()).unwrap();
        call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
        call::memcpy_dtoh_async(&mut image, &buffer, &stream).unwrap();
        // SAFETY: by then the memory holds PTX that ends with a zero byte.
        let module = unsafe { call::module_load_data(&context, &image) }.unwrap();
        // SAFETY: nothing of the module is used.
        unsafe { call::module_unload(&context, module) }.unwrap();
    });
}

#[test]
fn pinned_memory_is_read_and_written_by_the_cpu_behind_its_copies() {
    isolated!(lazy(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let mut pinned = PinnedBuffer::from_slice(&context, &[1_u32, 2, 3, 4]).unwrap();
        let mut buffer = DeviceBuffer::<u32>::allocate(&context, 4).unwrap();
        call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
        // The copy only reads it, and so may the CPU.
        assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3, 4]);
        expect_calls(&["cuEventSynchronize"], 0);
        pinned.as_mut_slice().unwrap().fill(9);
        expect_calls(&["cuEventSynchronize"], 1);
        call::memcpy_dtoh_async(&mut pinned, &buffer, &stream).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn drops_with_a_copy_in_flight() {
    isolated!(lazy(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let pinned = PinnedBuffer::from_slice(&context, &[1_u8; 4096]).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 4096).unwrap();
        call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
        drop(pinned);
        drop(buffer);
        // A device may have done the copy by now; the simulator puts it off.
        assert!(is_on_device() || context.uncollected() == 2);
        expect_calls(&["cuMemFree_v2", "cuMemFreeHost"], 0);
        stream.synchronize().unwrap();
        assert_eq!(context.uncollected(), 0);
        expect_calls(&["cuMemFree_v2", "cuMemFreeHost"], 2);
        assert_eq!(context.reported_errors(), 0);
    });
}

#[test]
fn drops_in_any_order() {
    isolated!(lazy(), || {
        for order in 0..24_usize {
            let context = context();
            let stream = Stream::new(&context).unwrap();
            let pinned = PinnedBuffer::from_slice(&context, &[1_u8; 4096]).unwrap();
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 4096).unwrap();
            let event = Event::new(&context).unwrap();
            call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
            event.record(&stream).unwrap();
            let mut parts: Vec<Option<Box<dyn std::any::Any>>> = vec![
                Some(Box::new(context)),
                Some(Box::new(stream)),
                Some(Box::new(pinned)),
                Some(Box::new((buffer, event))),
            ];
            // The order's digits say which goes next.
            for base in [4, 3, 2, 1] {
                let mut left: Vec<_> = parts.iter_mut().filter(|part| part.is_some()).collect();
                *left[order % base] = None;
            }
        }
        expect_calls(&["cuDevicePrimaryCtxRelease_v2"], 24);
    });
}

#[test]
fn what_is_forgotten_leaks_and_nothing_else() {
    isolated!(lazy()).unchecked().run(|| {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let pinned = PinnedBuffer::from_slice(&context, &[1_u8; 4096]).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 4096).unwrap();
        call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
        std::mem::forget(pinned);
        std::mem::forget(buffer);
        drop(stream);
        let report = cuda_sim::report();
        assert!(report.is_clean(), "{report}");
    });
}

#[test]
fn a_stream_may_go_before_what_it_uses() {
    isolated!(lazy(), || {
        let context = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let stream = Stream::new(&context).unwrap();
        call::memset_d8_async(&mut buffer, 5, &stream).unwrap();
        drop(stream);
        let other = Stream::new(&context).unwrap();
        let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        call::memcpy_dtoh_async(&mut pinned, &buffer, &other).unwrap();
        expect_calls(&["cuStreamWaitEvent"], 1);
        assert_eq!(pinned.as_slice().unwrap(), [5; 64]);
    });
}

#[test]
fn rows_between_all_places() {
    isolated!(lazy(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let mut image = DeviceBuffer::<u8>::allocate_pitched(&context, 100, 20).unwrap();
        assert!(image.pitch() >= 100);
        call::memset_d2d8_async(&mut image, 3, &stream).unwrap();
        let mut dense = PinnedBuffer::<u8>::zeroed(&context, 2000).unwrap();
        {
            let mut rows = Rows { buffer: &mut dense, pitch: 100 };
            let extent = Extent { width: 100, height: 20 };
            call::memcpy_2d_async(&image, &mut rows, extent, &stream).unwrap();
        }
        assert_eq!(dense.as_slice().unwrap(), [3; 2000]);
    });
}

/// Is pinned memory read as rows.
struct Rows<'a> {
    buffer: &'a mut PinnedBuffer<u8>,
    pitch: usize,
}

// SAFETY: the buffer's own region, divided into rows.
unsafe impl Memory for Rows<'_> {
    fn region(&self) -> Region<'_> {
        let rows = self.buffer.len() / self.pitch;
        self.buffer.region().with_rows(self.pitch, self.pitch, rows)
    }
}
// SAFETY: the buffer is.
unsafe impl Steady for Rows<'_> {}

#[test]
fn a_later_waiter_does_not_wait_for_what_blocks_the_stream() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static GO: AtomicBool = AtomicBool::new(false);

    fn wait_for_the_flag() {
        while !GO.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let pinned = PinnedBuffer::from_slice(&context, &[1_u8; 64]).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memcpy_htod_async(&mut buffer, &pinned, &stream).unwrap();
        call::launch_host_func(&stream, wait_for_the_flag).unwrap();
        // Would hang, did it wait for an event recorded now.
        let mut pinned = pinned;
        pinned.as_mut_slice().unwrap().fill(2);
        GO.store(true, Ordering::Release);
        stream.synchronize().unwrap();
    });
}

#[test]
fn waits_end_with_their_time() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static GO: AtomicBool = AtomicBool::new(false);

    fn wait_for_the_flag() {
        while !GO.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let event = Event::new(&context).unwrap();
        assert_eq!(event.is_done(), Ok(true));
        call::launch_host_func(&stream, wait_for_the_flag).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        call::memset_d8_async(&mut buffer, 1, &stream).unwrap();
        event.record(&stream).unwrap();
        let limit = Duration::from_millis(20);
        assert_eq!(event.wait_timeout(limit), Ok(false));
        assert_eq!(stream.wait_timeout(limit), Ok(false));
        let all = Area::bytes(0, 64);
        assert_eq!(buffer.allocation().wait_timeout(all, limit), Ok(false));
        GO.store(true, Ordering::Release);
        let limit = Duration::from_secs(20);
        assert_eq!(buffer.allocation().wait_timeout(all, limit), Ok(true));
        assert_eq!(event.wait_timeout(limit), Ok(true));
        assert_eq!(stream.wait_timeout(limit), Ok(true));
    });
}

#[test]
fn memory_that_is_still_in_use_is_waited_for_before_there_is_none() {
    isolated!(lazy().memory(8 << 20), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        for _ in 0..8 {
            // Two of them don't fit.
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 5 << 20).unwrap();
            call::memset_d8_async(&mut buffer, 1, &stream).unwrap();
        }
    });
}

#[test]
fn the_callers_context_is_restored() {
    isolated!(Config::new().devices(2), || {
        let here = context();
        let there = cuda_safe::Device::get(1).unwrap().context().unwrap();
        assert!(call::ctx_get_current().unwrap().is_null());
        let mut buffer = DeviceBuffer::<u8>::allocate(&there, 64).unwrap();
        call::memset_d8(&mut buffer, 1).unwrap();
        assert!(call::ctx_get_current().unwrap().is_null());
        here.make_current().unwrap();
        let current = call::ctx_get_current().unwrap();
        call::memset_d8(&mut buffer, 1).unwrap();
        drop(buffer);
        assert_eq!(call::ctx_get_current(), Ok(current));
        assert_eq!(here, context(), "a device has one context");
    });
}

#[test]
fn every_call_may_fail() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let context = cuda_safe::Device::get(0)?.context()?;
        let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
        let source = PinnedBuffer::from_slice(&context, &[7_u8; 64])?;
        let mut target = PinnedBuffer::<u8>::zeroed(&context, 64)?;
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
        call::memcpy_htod_async(&mut buffer, &source, &first)?;
        drop(source);
        call::memcpy_dtoh_async(&mut target, &buffer, &second)?;
        drop(first);
        let event = Event::new(&context)?;
        event.record(&second)?;
        assert_eq!(target.as_slice()?, [7; 64]);
        event.synchronize()?;
        second.synchronize()?;
        context.synchronize()
    });
}
