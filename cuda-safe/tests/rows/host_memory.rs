//! Page-locked memory of the host, and what is only borrowed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cuda_safe::layout::{Order, StridedLayout};
use cuda_safe::shim::Memory as _;
use cuda_safe::sys::{CUdeviceptr, cuMemHostUnregister};
use cuda_safe::{
    DeviceBuffer, External, PinnedBuffer, RegisteredHost, View, WriteCombinedBuffer, call, copy,
    registered,
};
use cuda_sim::{Config, is_on_device, isolated};
use cuda_sys::{CU_MEMHOSTALLOC_WRITECOMBINED, CUresult};

use crate::common::{argument, calls, context, hold_up, lazy, read};

#[test]
fn row_23_a_queued_copy_is_waited_for() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut source = PinnedBuffer::filled(&context, 1 << 20, 1_u8).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 1 << 20).unwrap();
        let held = hold_up(&stream);
        call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
        let release = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        // Waits for the copy.
        *source.as_mut_slice().unwrap().last_mut().unwrap() = 9;
        release.join().unwrap();
        assert!(read(&buffer, &stream).iter().all(|byte| *byte == 1));
    });
}

#[test]
fn row_25_page_locked_memory_is_cached() {
    isolated!(lazy(), || {
        let (context, _stream) = context();
        let pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let combined = WriteCombinedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let bit = |flags: u32| flags & CU_MEMHOSTALLOC_WRITECOMBINED;
        assert_eq!(bit(call::mem_host_get_flags(&context, &pinned).unwrap()), 0);
        assert_ne!(bit(call::mem_host_get_flags(&context, &combined).unwrap()), 0);
    });
}

#[test]
fn row_26_what_is_borrowed_is_done_on_return() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let layout = StridedLayout::dense(&[64], 1, Order::C).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let mut slice = [5_u8; 64];
        copy(&View::of_slice(&slice, layout).unwrap(), &mut buffer.view_mut().unwrap(), &stream)
            .unwrap();
        assert!(stream.is_done().unwrap());
        slice.fill(0);
        // What is page-locked is left to the stream.
        let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        let held = hold_up(&stream);
        copy(&buffer.view().unwrap(), &mut pinned.view_mut().unwrap(), &stream).unwrap();
        assert!(!stream.is_done().unwrap());
        drop(held);
        assert_eq!(pinned.as_slice().unwrap(), [5; 64]);
        assert_eq!(slice, [0; 64]);
    });
}

#[test]
fn row_27_a_registration_is_undone_as_it_was_made() {
    isolated!(lazy()).answers_only().run(|| {
        let (context, _stream) = context();
        let memory = RegisteredHost::new(&context, vec![0_u8; 3 * 4096]).unwrap();
        let base = memory.as_slice().unwrap().as_ptr().cast_mut();
        let other = Box::into_raw(Box::new(0_u8));
        let undo = |address: *mut u8| {
            let undone = context.run(|| {
                // SAFETY: what is refused changes nothing.
                Ok(unsafe { cuMemHostUnregister(address.cast()) })
            });
            undone.unwrap()
        };
        let (within, elsewhere) = (undo(base.wrapping_add(4096)), undo(other));
        assert_ne!(within, CUresult::CUDA_SUCCESS);
        assert_eq!(elsewhere, CUresult::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        // SAFETY: it came from a box.
        drop(unsafe { Box::from_raw(other) });
        // The whole is registered all the same, and its owner undoes that.
        assert_eq!(memory.into_inner().unwrap().len(), 3 * 4096);
    });
}

#[test]
fn row_28_what_others_registered_is_refused() {
    isolated!(lazy()).answers_only().run(|| {
        let (context, stream) = context();
        let mut memory = vec![7_u8; 4096];
        let address = memory.as_mut_ptr();
        // SAFETY: the memory stays until it is unregistered.
        unsafe { call::mem_host_register(&context, address.cast(), 4096, 0) }.unwrap();
        let refused = registered(&context, &mut memory, |_| ()).unwrap_err();
        let code = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        assert_eq!((refused.call, refused.code()), ("cuMemHostRegister_v2", Some(code)));
        // The error stays with that call, and the others' registration with the memory.
        let mut buffer = DeviceBuffer::<u8>::zeroed(&stream, 4096).unwrap();
        call::memcpy_htod(&mut buffer, &memory).unwrap();
        // SAFETY: it is registered, and nothing uses it.
        unsafe { call::mem_host_unregister(&context, address.cast()) }.unwrap();
    });
}

/// Tells whether the watched address was freed.
struct Watching;

static WATCHED: AtomicUsize = AtomicUsize::new(0);
static FREED: AtomicBool = AtomicBool::new(false);

// SAFETY: the system's allocator does everything.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if memory.addr() == WATCHED.load(Ordering::Relaxed) {
            FREED.store(true, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Watches memory from here on.
fn watch(memory: &[u8]) {
    WATCHED.store(memory.as_ptr().addr(), Ordering::Relaxed);
    FREED.store(false, Ordering::Relaxed);
}

#[test]
fn row_29_memory_that_stays_registered_is_kept() {
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    let config = Config::new().fail("cuMemHostUnregister", 1, code);
    isolated!(config.fail("cuMemHostUnregister", 2, code), || {
        let (context, _stream) = context();
        let register = || {
            let memory = vec![0_u8; 4096].into_boxed_slice();
            watch(&memory);
            RegisteredHost::new(&context, memory).unwrap()
        };
        let error = register().into_inner().unwrap_err();
        assert_eq!((error.call, error.code()), ("cuMemHostUnregister", Some(code)));
        assert!(!FREED.load(Ordering::Relaxed), "it is still registered");
        drop(register());
        assert!(!FREED.load(Ordering::Relaxed), "it is still registered");
        assert_eq!(context.reported_errors(), 1);
        drop(register());
        assert!(FREED.load(Ordering::Relaxed));
    });
}

#[test]
fn row_30_memory_that_a_callback_drops_is_freed_later() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 1000).unwrap();
        let mut most = 0;
        for round in 0..1000 {
            let source = PinnedBuffer::<u8>::zeroed(&context, 1000).unwrap();
            call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
            stream.call(move || drop(source)).unwrap();
            if round % 10 == 9 {
                stream.synchronize().unwrap();
            }
            most = most.max(context.uncollected());
        }
        assert!(most <= 20, "{most} buffers are not freed");
        stream.synchronize().unwrap();
        assert_eq!((context.uncollected(), context.reported_errors()), (0, 0));
    });
}

#[test]
fn row_31_no_alignment_is_asked_for() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let buffer = DeviceBuffer::filled(&stream, 99, 3_u8).unwrap();
        let mut memory = vec![0_u8; 4096];
        let odd = 1 + memory.as_ptr().addr() % 2;
        let part = memory.get_mut(odd..odd + 99).unwrap();
        registered(&context, part, |part| call::memcpy_dtoh_async(part, &buffer, &stream))
            .unwrap()
            .unwrap();
        assert_eq!(memory[odd..odd + 99], [3; 99]);
        let before = cuda_sim::call_count();
        assert!(registered(&context, &mut [0_u8; 0], |empty| empty.is_empty()).unwrap());
        drop(RegisteredHost::<u8>::new(&context, vec![]).unwrap());
        assert_eq!(cuda_sim::call_count(), before);
    });
}

#[test]
fn row_37_page_locked_memory_is_the_hosts() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64).unwrap();
        pinned.as_mut_slice().unwrap().fill(4);
        assert!(pinned.region().kind().is_host());
        assert_eq!(pinned.view().unwrap().as_slice().unwrap(), [4; 64]);
        // Also by what the driver says of its address.
        let address = pinned.as_slice().unwrap().as_ptr().addr() as u64;
        let owner = Arc::new(pinned);
        // SAFETY: the owner is kept, and reads only.
        let found = unsafe { External::new(&context, CUdeviceptr(address), 64, owner) }.unwrap();
        assert!(found.kind().is_host());
        let whole = View::<u8>::new(&found, StridedLayout::dense(&[64], 1, Order::C).unwrap());
        assert_eq!(whole.unwrap().as_slice().unwrap(), [4; 64]);
        stream.synchronize().unwrap();
        if !is_on_device() {
            let flags = calls("cuMemHostAlloc");
            assert_eq!(argument(flags.first().unwrap(), "flags"), "3");
        }
    });
}
