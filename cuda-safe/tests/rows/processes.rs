//! Processes that end or fork while they have memory.

use std::cell::RefCell;
use std::ffi::c_int;
use std::process::{Command, exit};
use std::sync::{Arc, Mutex};
use std::thread;

use cuda_safe::{Context, DeviceBuffer, Event, PinnedBuffer, Stream, call};
use cuda_sim::{Config, isolated, peer, role};

use crate::common::{context, read};

static KEPT: Mutex<Option<(Context, Stream, DeviceBuffer<u8>)>> = Mutex::new(None);

thread_local! {
    static OWN: RefCell<Option<DeviceBuffer<u8>>> = const { RefCell::new(None) };
}

/// Ends the process in one of many ways, with memory that nobody has dropped.
fn end(role: &str) {
    let (context, stream) = context();
    let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
    buffer.fill(1, &stream).unwrap();
    match role {
        "static" => *KEPT.lock().unwrap() = Some((context, stream, buffer)),
        "thread-local" => {
            let make = move || OWN.with(|own| *own.borrow_mut() = Some(buffer));
            thread::spawn(make).join().unwrap();
            OWN.with(|own| *own.borrow_mut() = DeviceBuffer::zeroed(&stream, 8).ok());
        }
        "leaked" => std::mem::forget(Arc::new((buffer, PinnedBuffer::filled(&context, 8, 1_u8)))),
        _ => {
            let running = thread::spawn(move || {
                let _buffer = buffer;
                exit(0);
            });
            running.join().unwrap();
        }
    }
    exit(0);
}

#[test]
fn row_91_a_process_ends_quietly() {
    isolated!(Config::new(), || {
        if let Some(role) = role() {
            end(&role);
        }
        for role in ["static", "thread-local", "leaked", "exit in a thread"] {
            let mut command: Command = peer(role).unwrap();
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{role}");
        }
    });
}

unsafe extern "C" {
    safe fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    safe fn _exit(status: c_int) -> !;
}

#[test]
fn row_92_a_forked_child_makes_no_call() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 64).unwrap();
        let plain = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let pinned = PinnedBuffer::filled(&context, 64, 1_u8).unwrap();
        let event = Event::new(&context).unwrap();
        buffer.fill(3, &stream).unwrap();
        let process = fork();
        if process == 0 {
            let before = cuda_sim::call_count();
            let fails = DeviceBuffer::<u8>::allocate(&context, 64).is_err()
                && Stream::new(&context).is_err()
                && call::memcpy_htod_async(&mut buffer, &pinned, &stream).is_err();
            let asked = cuda_sim::call_count();
            drop((buffer, plain, pinned, event, stream, context));
            let is_right = fails && asked >= before && cuda_sim::call_count() == asked;
            _exit(if is_right { 0 } else { 1 });
        }
        let mut status = 0;
        // SAFETY: the call writes one number.
        assert_eq!(unsafe { waitpid(process, &raw mut status, 0) }, process);
        assert_eq!(status, 0);
        assert_eq!(read(&buffer, &stream), [3; 64]);
        drop((plain, pinned, event));
        assert_eq!(context.reported_errors(), 0);
    });
}
