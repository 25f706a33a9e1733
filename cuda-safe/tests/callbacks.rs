//! Closures that the driver calls: they run once, their panics are caught, none calls the driver,
//! and those that never run are freed.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cuda_safe::shim::pending_callbacks;
use cuda_safe::{Cause, Context, DeviceBuffer, Rule, Stream, call};
use cuda_sim::{Config, isolated};
use cuda_sys::CUresult;

fn context() -> Context {
    cuda_safe::Device::get(0).unwrap().context().unwrap()
}

#[test]
fn a_closure_runs_once_and_is_freed() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let count = Arc::clone(&count);
            let closure = move || {
                count.fetch_add(1, Ordering::SeqCst);
            };
            call::launch_host_func(&stream, closure).unwrap();
        }
        stream.synchronize().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 3);
        assert_eq!((Arc::strong_count(&count), pending_callbacks()), (1, 0));
    });
}

#[test]
fn a_panic_is_caught_and_reported() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        context.on_error(move |error| hears.lock().unwrap().push(error.to_string()));
        call::launch_host_func(&stream, || panic!("out of tea")).unwrap();
        call::launch_host_func(&stream, || ()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(*heard.lock().unwrap(), ["callback: panicked: out of tea"]);
        assert_eq!(context.reported_errors(), 1);
    });
}

#[test]
fn a_callback_calls_no_driver() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let heard = Arc::new(Mutex::new(None));
        let hears = Arc::clone(&heard);
        let inside = context.clone();
        let closure = move || {
            let answer = call::mem_get_info(&inside).unwrap_err();
            *hears.lock().unwrap() = Some(answer);
            // Its memory is freed later, by another thread.
            drop(buffer);
            drop(inside);
        };
        call::launch_host_func(&stream, closure).unwrap();
        stream.synchronize().unwrap();
        let answer = heard.lock().unwrap().take().unwrap();
        let text = "cuMemGetInfo_v2: `thread` breaks Outside: needs a thread of one's own, has a \
                    callback";
        assert_eq!(answer.to_string(), text);
        assert_eq!(answer.rule(), Some(Rule::Outside));
        context.collect();
        assert_eq!(context.uncollected(), 0);
    });
}

#[test]
fn what_the_driver_does_not_take_is_freed() {
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    isolated!(Config::new().fail("cuLaunchHostFunc", 1, code), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let held = Arc::new(());
        let holds = Arc::clone(&held);
        let error = call::launch_host_func(&stream, move || drop(holds)).unwrap_err();
        assert!(matches!(error.cause, Cause::Driver(answer) if answer == code));
        assert_eq!((Arc::strong_count(&held), pending_callbacks()), (1, 0));
    });
}
