//! The rows of the table.

use std::ffi::c_void;
use std::ptr;

use cuda_sys::*;

use super::scene::{Handle, Scene};
use crate::common::*;
use crate::{Class, Expected};

pub(crate) const SAFE: Class = Class::Always(Expected::Fine);

const fn fatal(code: u32) -> Class {
    Class::Always(Expected::Fatal(code))
}

const fn refused(code: u32) -> Class {
    Class::Always(Expected::Refused(code))
}

/// Is a row: a call, and what is done before and after it outside of the capture.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) class: Class,
    pub(crate) before: fn(&mut Scene),
    pub(crate) call: fn(&mut Scene) -> u32,
    /// Gets the call's answer.
    pub(crate) after: fn(&mut Scene, u32),
}

pub(crate) const fn row(name: &'static str, class: Class, call: fn(&mut Scene) -> u32) -> Row {
    Row { name, class, before: |_| {}, call, after: |_, _| {} }
}

impl Row {
    pub(crate) const fn before(self, before: fn(&mut Scene)) -> Self {
        Self { before, ..self }
    }

    pub(crate) const fn after(self, after: fn(&mut Scene, u32)) -> Self {
        Self { after, ..self }
    }
}

/// `CU_EVENT_WAIT_EXTERNAL` and `CU_EVENT_RECORD_EXTERNAL`.
const EXTERNAL: u32 = 1;

extern "system" fn nothing(_: *mut c_void) {}

fn pool_memory(scene: &mut Scene) {
    ok!(cuMemAllocAsync(&mut scene.pool_memory, 4096, scene.other.0));
    ok!(cuStreamSynchronize(scene.other.0));
}

fn free_pool_memory_unless(scene: &mut Scene, answer: u32) {
    if answer != 0 {
        ok!(cuMemFreeAsync(scene.pool_memory, scene.other.0));
    }
}

fn pending(scene: &mut Scene) {
    ok!(cuMemsetD8Async(scene.second, 0, 64, scene.other.0));
    ok!(cuEventRecord(scene.pending.0, scene.other.0));
}

fn register(scene: &mut Scene) -> u32 {
    code!(cuMemHostRegister_v2(scene.registered.as_mut_ptr().cast(), 4096, 0))
}

fn unregister(scene: &mut Scene) -> u32 {
    code!(cuMemHostUnregister(scene.registered.as_mut_ptr().cast()))
}

fn record_inside(scene: &mut Scene) -> u32 {
    code!(cuEventRecord(scene.inside.0, scene.captured.0))
}

fn record_timed(scene: &mut Scene, _: u32) {
    ok!(cuEventRecord(scene.timed[0].0, scene.other.0));
}

fn page(scene: &mut Scene) -> *mut c_void {
    scene.page.as_mut_ptr().cast()
}

fn up(scene: &mut Scene, from: *const c_void, stream: CUstream) -> u32 {
    code!(cuMemcpyHtoDAsync_v2(scene.memory, from, 64, stream))
}

/// Has the rows of calls on events, streams, plain memory and copies.
pub(crate) const ROWS: &[Row] = &[
    row("(nothing)", SAFE, |_| 0),
    // Refused as unsafe.
    row("cuMemAlloc", Class::Unsafe, |scene| code!(cuMemAlloc_v2(&mut scene.made, 4096))).after(
        |scene, answer| {
            if answer == 0 {
                free(scene.made)
            }
        },
    ),
    row("cuMemFree", Class::Unsafe, |scene| code!(cuMemFree_v2(scene.made)))
        .before(|scene| scene.made = alloc(4096))
        .after(|scene, answer| {
            if answer != 0 {
                free(scene.made)
            }
        }),
    row("cuMemAllocAsync, other stream", Class::Unsafe, |scene| {
        code!(cuMemAllocAsync(&mut scene.pool_memory, 4096, scene.other.0))
    })
    .after(|scene, answer| {
        if answer == 0 {
            free_pool_memory_unless(scene, 1)
        }
    }),
    row("cuMemFreeAsync, other stream", Class::Unsafe, |scene| {
        code!(cuMemFreeAsync(scene.pool_memory, scene.other.0))
    })
    .before(pool_memory)
    .after(free_pool_memory_unless),
    row("cuEventQuery, done event", Class::Unsafe, |scene| code!(cuEventQuery(scene.done.0))),
    row("cuEventQuery, never recorded", Class::Unsafe, |scene| {
        code!(cuEventQuery(scene.unrecorded.0))
    }),
    row("cuEventQuery, pending event", Class::Unsafe, |scene| {
        // Whether the work has run by now is the scheduler's choice.
        match code!(cuEventQuery(scene.pending.0)) {
            600 => 0,
            answer => answer,
        }
    })
    .before(pending),
    row("cuEventSynchronize, pending event", Class::Unsafe, |scene| {
        code!(cuEventSynchronize(scene.pending.0))
    })
    .before(pending),
    row("cuEventSynchronize, done event", Class::Unsafe, |scene| {
        code!(cuEventSynchronize(scene.done.0))
    }),
    row("cuStreamQuery, other stream", Class::Unsafe, |scene| code!(cuStreamQuery(scene.other.0)))
        .before(|scene| ok!(cuStreamSynchronize(scene.other.0))),
    row("cuStreamSynchronize, other stream", Class::Unsafe, |scene| {
        code!(cuStreamSynchronize(scene.other.0))
    }),
    row("cuMemHostAlloc", Class::Unsafe, |scene| {
        code!(cuMemHostAlloc(&mut scene.made_host.0, 4096, 0))
    })
    .after(|scene, answer| {
        if answer == 0 {
            ok!(cuMemFreeHost(scene.made_host.0))
        }
    }),
    row("cuMemFreeHost", Class::Unsafe, |scene| code!(cuMemFreeHost(scene.made_host.0)))
        .before(|scene| scene.made_host = Handle(pinned(4096).cast()))
        .after(|scene, answer| {
            if answer != 0 {
                ok!(cuMemFreeHost(scene.made_host.0))
            }
        }),
    row("cuMemHostRegister", Class::Unsafe, register).after(|scene, answer| {
        if answer == 0 {
            assert_eq!(unregister(scene), 0)
        }
    }),
    row("cuMemHostUnregister", Class::Unsafe, unregister)
        .before(|scene| assert_eq!(register(scene), 0))
        .after(|scene, answer| {
            if answer != 0 {
                assert_eq!(unregister(scene), 0)
            }
        }),
    row("cuMemAllocManaged", Class::Unsafe, |scene| {
        code!(cuMemAllocManaged(&mut scene.made, 4096, 1))
    })
    .after(|scene, answer| {
        if answer == 0 {
            free(scene.made)
        }
    }),
    // Conflicts.
    row("cuCtxSynchronize", fatal(900), |_| code!(cuCtxSynchronize())),
    row("cuStreamQuery, captured stream", fatal(900), |scene| {
        code!(cuStreamQuery(scene.captured.0))
    }),
    row("cuStreamSynchronize, captured stream", fatal(900), |scene| {
        code!(cuStreamSynchronize(scene.captured.0))
    }),
    row("cuStreamWaitEvent, captured stream, done event", fatal(905), |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.done.0, 0))
    }),
    row("cuStreamWaitEvent, captured stream, pending event", fatal(905), |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.pending.0, 0))
    })
    .before(pending),
    row("cuStreamWaitEvent, captured stream, interprocess event", fatal(900), |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.interprocess.0, 0))
    }),
    row("cuEventQuery of what was recorded in the capture", fatal(907), |scene| {
        assert_eq!(record_inside(scene), 0);
        code!(cuEventQuery(scene.inside.0))
    })
    .after(|scene, _| scene.renew_inside()),
    row("cuEventSynchronize of what was recorded in the capture", fatal(907), |scene| {
        assert_eq!(record_inside(scene), 0);
        code!(cuEventSynchronize(scene.inside.0))
    })
    .after(|scene, _| scene.renew_inside()),
    // Refused, and nothing more.
    row("cuEventRecord, captured stream, interprocess event", refused(900), |scene| {
        code!(cuEventRecord(scene.interprocess.0, scene.captured.0))
    })
    .after(|scene, _| scene.renew_interprocess()),
    row("cuStreamBeginCapture, captured stream again", refused(401), |scene| {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        code!(cuStreamBeginCapture_v2(scene.captured.0, mode))
    }),
    row("cuMemFreeAsync, captured stream, memory from before", refused(1), |scene| {
        code!(cuMemFreeAsync(scene.pool_memory, scene.captured.0))
    })
    .before(pool_memory)
    .after(free_pool_memory_unless),
    row("cuStreamEndCapture of a stream that isn't captured", refused(401), |scene| {
        let mut graph = ptr::null_mut();
        code!(cuStreamEndCapture(scene.other.0, &mut graph))
    }),
    // With the flag, nodes.
    row("cuStreamWaitEvent, captured stream, done event, EXTERNAL", SAFE, |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.done.0, EXTERNAL))
    }),
    row("cuStreamWaitEvent, captured stream, interprocess event, EXTERNAL", SAFE, |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.interprocess.0, EXTERNAL))
    }),
    row("cuEventRecordWithFlags, captured stream, interprocess event, EXTERNAL", SAFE, |scene| {
        code!(cuEventRecordWithFlags(scene.interprocess.0, scene.captured.0, EXTERNAL))
    })
    .after(|scene, _| scene.renew_interprocess()),
    // Safe.
    row("cuIpcGetMemHandle", SAFE, |scene| {
        let mut handle = CUipcMemHandle::zeroed();
        code!(cuIpcGetMemHandle(&mut handle, scene.memory))
    }),
    row("cuIpcGetEventHandle", SAFE, |scene| {
        let mut handle = CUipcEventHandle::zeroed();
        code!(cuIpcGetEventHandle(&mut handle, scene.interprocess.0))
    }),
    row("cuEventCreate", SAFE, |scene| code!(cuEventCreate(&mut scene.made_event.0, 2))).after(
        |scene, answer| {
            if answer == 0 {
                ok!(cuEventDestroy_v2(scene.made_event.0))
            }
        },
    ),
    row("cuEventDestroy", SAFE, |scene| code!(cuEventDestroy_v2(scene.made_event.0)))
        .before(|scene| scene.made_event = Handle(event())),
    row("cuEventDestroy of what was recorded in the capture", SAFE, |scene| {
        assert_eq!(record_inside(scene), 0);
        code!(cuEventDestroy_v2(scene.inside.0))
    })
    .after(|scene, _| scene.inside = Handle(event())),
    row("cuEventRecord, other stream", SAFE, |scene| {
        code!(cuEventRecord(scene.timed[0].0, scene.other.0))
    }),
    row("cuEventElapsedTime", SAFE, |scene| {
        let mut time = 0.0;
        code!(cuEventElapsedTime(&mut time, scene.timed[0].0, scene.timed[1].0))
    })
    .before(|scene| ok!(cuStreamSynchronize(scene.other.0))),
    row("cuStreamCreate", SAFE, |scene| code!(cuStreamCreate(&mut scene.made_stream.0, 1))).after(
        |scene, answer| {
            if answer == 0 {
                ok!(cuStreamDestroy_v2(scene.made_stream.0))
            }
        },
    ),
    row("cuStreamDestroy, other stream", SAFE, |scene| {
        code!(cuStreamDestroy_v2(scene.made_stream.0))
    })
    .before(|scene| scene.made_stream = Handle(stream(1))),
    row("cuStreamWaitEvent, other stream", SAFE, |scene| {
        code!(cuStreamWaitEvent(scene.other.0, scene.done.0, 0))
    }),
    row("cuStreamWaitEvent, captured stream, never recorded", SAFE, |scene| {
        code!(cuStreamWaitEvent(scene.captured.0, scene.unrecorded.0, 0))
    }),
    row("cuMemsetD8Async, other stream", SAFE, |scene| {
        code!(cuMemsetD8Async(scene.memory, 0, 64, scene.other.0))
    }),
    row("cuLaunchHostFunc, other stream", SAFE, |scene| {
        code!(cuLaunchHostFunc(scene.other.0, Some(nothing), ptr::null_mut()))
    }),
    row("cuMemcpyHtoDAsync, other stream, pinned", SAFE, |scene| {
        let (from, stream) = (scene.pinned.0.cast(), scene.other.0);
        up(scene, from, stream)
    }),
    row("cuMemcpyHtoDAsync, other stream, pageable", SAFE, |scene| {
        let (from, stream) = (page(scene), scene.other.0);
        up(scene, from, stream)
    }),
    row("cuMemcpyDtoHAsync, other stream, pageable", SAFE, |scene| {
        let to = page(scene);
        code!(cuMemcpyDtoHAsync_v2(to, scene.memory, 64, scene.other.0))
    }),
    row("cuMemGetInfo", SAFE, |_| {
        let (mut free, mut total) = (0, 0);
        code!(cuMemGetInfo_v2(&mut free, &mut total))
    }),
    row("cuMemGetAddressRange", SAFE, |scene| {
        let (mut base, mut size) = (CUdeviceptr(0), 0);
        code!(cuMemGetAddressRange_v2(&mut base, &mut size, scene.memory))
    }),
    row("cuPointerGetAttribute", SAFE, |scene| {
        let mut kind = 0_u32;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        code!(cuPointerGetAttribute((&raw mut kind).cast(), attribute, scene.memory))
    }),
    row("cuCtxSetCurrent", SAFE, |scene| code!(cuCtxSetCurrent(scene.context.0))),
    row("cuCtxGetStreamPriorityRange", SAFE, |_| {
        let (mut least, mut greatest) = (0, 0);
        code!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest))
    }),
    row("cuDevicePrimaryCtxRetain", SAFE, |_| {
        let mut context = ptr::null_mut();
        code!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)))
    })
    .after(|_, answer| {
        if answer == 0 {
            ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)))
        }
    }),
    row("cuStreamGetCaptureInfo, captured stream", SAFE, |scene| {
        let (mut status, mut id) = (CUstreamCaptureStatus(9), 0);
        let answer = code!(cuStreamGetCaptureInfo(scene.captured.0, &mut status, &mut id));
        assert_eq!((status.0, id > 0), (1, true));
        answer
    }),
    row("cuStreamGetCtx, captured stream", SAFE, |scene| {
        let mut context = ptr::null_mut();
        code!(cuStreamGetCtx(scene.captured.0, &mut context))
    }),
    row("cuStreamBeginCapture, other stream, and its end", SAFE, |scene| {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        let mut graph = ptr::null_mut();
        let begin = code!(cuStreamBeginCapture_v2(scene.other.0, mode));
        let end = code!(cuStreamEndCapture(scene.other.0, &mut graph));
        begin + end + code!(cuGraphDestroy(graph))
    }),
    row("cuMemAllocAsync, captured stream", SAFE, |scene| {
        let mut memory = CUdeviceptr(0);
        code!(cuMemAllocAsync(&mut memory, 4096, scene.captured.0))
    }),
    row("cuMemcpyHtoDAsync, captured stream, pinned", SAFE, |scene| {
        let (from, stream) = (scene.pinned.0.cast(), scene.captured.0);
        up(scene, from, stream)
    }),
    row("cuMemcpyHtoDAsync, captured stream, pageable", SAFE, |scene| {
        let (from, stream) = (page(scene), scene.captured.0);
        up(scene, from, stream)
    }),
    row("cuMemcpyDtoHAsync, captured stream, pageable", SAFE, |scene| {
        let to = page(scene);
        code!(cuMemcpyDtoHAsync_v2(to, scene.memory, 64, scene.captured.0))
    }),
    // On the legacy stream.
    row("cuMemcpyHtoD", Class::Legacy(&SAFE), |scene| {
        let from = page(scene);
        code!(cuMemcpyHtoD_v2(scene.memory, from, 64))
    }),
    row("cuMemcpyDtoH", Class::Legacy(&SAFE), |scene| {
        let to = page(scene);
        code!(cuMemcpyDtoH_v2(to, scene.memory, 64))
    }),
    row("cuMemcpyDtoD", Class::Legacy(&SAFE), |scene| {
        code!(cuMemcpyDtoD_v2(scene.second, scene.memory, 64))
    }),
    row("cuMemsetD8", Class::Legacy(&SAFE), |scene| code!(cuMemsetD8_v2(scene.memory, 0, 64))),
    row("cuMemcpyHtoDAsync, stream 0, pinned", Class::Legacy(&SAFE), |scene| {
        let from = scene.pinned.0.cast();
        up(scene, from, LEGACY)
    }),
    row("cuStreamWaitEvent, stream 0", Class::Legacy(&SAFE), |scene| {
        code!(cuStreamWaitEvent(LEGACY, scene.done.0, 0))
    }),
    row("cuEventRecord, stream 0", Class::Legacy(&SAFE), |scene| {
        code!(cuEventRecord(scene.timed[0].0, LEGACY))
    })
    .after(record_timed),
    row("cuStreamQuery, stream 0", Class::Legacy(&Class::Unsafe), |_| code!(cuStreamQuery(LEGACY))),
    row("cuStreamSynchronize, stream 0", Class::Legacy(&Class::Unsafe), |_| {
        code!(cuStreamSynchronize(LEGACY))
    }),
    row("cuStreamIsCapturing, stream 0", Class::AsksLegacy, |_| {
        let mut status = CUstreamCaptureStatus(9);
        code!(cuStreamIsCapturing(LEGACY, &mut status))
    }),
    row("cuStreamGetCaptureInfo, stream 0", Class::AsksLegacy, |_| {
        let (mut status, mut id) = (CUstreamCaptureStatus(9), 0);
        code!(cuStreamGetCaptureInfo(LEGACY, &mut status, &mut id))
    }),
];
