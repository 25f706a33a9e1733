//! What the calls of the table use.

use std::ptr;

use cuda_sys::*;

use super::kernel_rows::NOTHING;
use super::memory_rows;
use crate::common::*;

/// Is a handle that passes between the threads of the test.
#[derive(Clone, Copy)]
pub(crate) struct Handle<T>(pub(crate) T);

// SAFETY: handles of the driver may be used by every thread of the process.
unsafe impl<T> Send for Handle<T> {}

// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// Is what the calls of the table use.
pub(crate) struct Scene {
    pub(crate) context: Handle<CUcontext>,
    pub(crate) captured: Handle<CUstream>,
    pub(crate) other: Handle<CUstream>,
    pub(crate) memory: CUdeviceptr,
    pub(crate) second: CUdeviceptr,
    pub(crate) pool_memory: CUdeviceptr,
    pub(crate) pinned: Handle<*mut u8>,
    /// Pageable memory.
    pub(crate) page: Vec<u8>,
    /// Memory to be registered.
    pub(crate) registered: Vec<u8>,
    /// Recorded, and done.
    pub(crate) done: Handle<CUevent>,
    /// Recorded behind work that is still queued.
    pub(crate) pending: Handle<CUevent>,
    pub(crate) unrecorded: Handle<CUevent>,
    pub(crate) interprocess: Handle<CUevent>,
    /// Recorded in the capture.
    pub(crate) inside: Handle<CUevent>,
    /// Recorded with timing.
    pub(crate) timed: [Handle<CUevent>; 2],
    pub(crate) module: Handle<CUmodule>,
    /// A kernel that does nothing.
    pub(crate) nothing: Handle<CUfunction>,
    /// A pool that other processes can have.
    pub(crate) pool: Handle<CUmemoryPool>,
    pub(crate) physical: CUmemGenericAllocationHandle,
    /// What a row makes or ends.
    pub(crate) made: CUdeviceptr,
    pub(crate) made_host: Handle<*mut std::ffi::c_void>,
    pub(crate) made_event: Handle<CUevent>,
    pub(crate) made_stream: Handle<CUstream>,
    pub(crate) made_module: Handle<CUmodule>,
    pub(crate) made_pool: Handle<CUmemoryPool>,
}

fn interprocess() -> CUevent {
    let mut event = ptr::null_mut();
    ok!(cuEventCreate(&mut event, 2 | 4));
    event
}

fn timed() -> Handle<CUevent> {
    let mut event = ptr::null_mut();
    ok!(cuEventCreate(&mut event, 0));
    Handle(event)
}

impl Scene {
    pub(crate) fn new(is_blocking: bool) -> Self {
        let context = Handle(start());
        cuda_sim::kernel::register("nothing", |_| Ok(()));
        let module = module(NOTHING);
        let (pool, physical) = memory_rows::make();
        let scene = Self {
            context,
            captured: Handle(stream(u32::from(!is_blocking))),
            other: Handle(stream(1)),
            memory: alloc(4096),
            second: alloc(4096),
            pool_memory: CUdeviceptr(0),
            pinned: Handle(pinned(4096)),
            page: vec![1; 4096],
            registered: vec![1; 8192],
            done: Handle(event()),
            pending: Handle(event()),
            unrecorded: Handle(event()),
            interprocess: Handle(interprocess()),
            inside: Handle(event()),
            timed: [timed(), timed()],
            module: Handle(module),
            nothing: Handle(function(module, c"nothing")),
            pool,
            physical,
            made: CUdeviceptr(0),
            made_host: Handle(ptr::null_mut()),
            made_event: Handle(ptr::null_mut()),
            made_stream: Handle(ptr::null_mut()),
            made_module: Handle(ptr::null_mut()),
            made_pool: Handle(ptr::null_mut()),
        };
        ok!(cuEventRecord(scene.done.0, scene.other.0));
        ok!(cuEventRecord(scene.interprocess.0, scene.other.0));
        for event in scene.timed {
            ok!(cuEventRecord(event.0, scene.other.0));
        }
        ok!(cuCtxSynchronize());
        scene
    }

    /// Makes the event anew that is recorded in captures.
    pub(crate) fn renew_inside(&mut self) {
        ok!(cuEventDestroy_v2(self.inside.0));
        self.inside = Handle(event());
    }

    /// Makes the event anew that processes may share, recorded and done.
    pub(crate) fn renew_interprocess(&mut self) {
        ok!(cuEventDestroy_v2(self.interprocess.0));
        self.interprocess = Handle(interprocess());
        ok!(cuEventRecord(self.interprocess.0, self.other.0));
    }

    pub(crate) fn end(self) {
        let events = [self.done, self.pending, self.unrecorded, self.interprocess, self.inside];
        for event in events.into_iter().chain(self.timed) {
            ok!(cuEventDestroy_v2(event.0));
        }
        for stream in [self.captured, self.other] {
            ok!(cuStreamDestroy_v2(stream.0));
        }
        ok!(cuModuleUnload(self.module.0));
        ok!(cuMemPoolDestroy(self.pool.0));
        ok!(cuMemRelease(self.physical));
        free(self.memory);
        free(self.second);
        ok!(cuMemFreeHost(self.pinned.0.cast()));
        end();
    }
}
