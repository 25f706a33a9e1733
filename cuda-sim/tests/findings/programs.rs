//! Programs without kernels, each with one mistake or without it.

use std::ptr;
use std::time::Duration;

use cuda_sys::*;

use crate::Program;
use crate::common::*;
use crate::remote::{Remote, handle_of};

/// How many bytes the programs touch.
const BYTES: usize = 64;

/// How long a host function is waited for where a stream waits for ever.
pub(crate) const PATIENCE: Duration = Duration::from_millis(2);

pub(crate) const LEAK: Program = Program {
    later: "cuMemAddressReserve",
    earlier: None,
    run: |is_right| {
        // Addresses are no context's: they stay when that goes.
        let (mut base, size) = (CUdeviceptr(0), 2 << 20);
        ok!(cuMemAddressReserve(&mut base, size, 0, CUdeviceptr(0), 0));
        if is_right { ok!(cuMemAddressFree(base, size)) } else { end() }
    },
};

pub(crate) const DOUBLE_FREE: Program = Program {
    later: "cuMemFree_v2",
    earlier: Some("cuMemFree_v2"),
    run: |is_right| {
        let memory = alloc(BYTES);
        free(memory);
        if is_right {
            // The address is memory again.
            assert_eq!(alloc(BYTES), memory);
        }
        assert_eq!(code!(cuMemFree_v2(memory)), u32::from(!is_right));
    },
};

pub(crate) const USE_AFTER_FREE: Program = Program {
    later: "cuMemsetD8_v2",
    earlier: Some("cuMemFree_v2"),
    run: |is_right| {
        let memory = alloc(BYTES);
        if is_right {
            ok!(cuMemsetD8_v2(memory, 1, BYTES));
            ok!(cuCtxSynchronize());
        }
        free(memory);
        if !is_right {
            assert_eq!(code!(cuMemsetD8_v2(memory, 1, BYTES)), 1);
        }
    },
};

pub(crate) const STALE_HANDLE: Program = Program {
    later: "cuStreamQuery",
    earlier: Some("cuStreamDestroy_v2"),
    run: |is_right| {
        let stream = stream(1);
        if is_right {
            ok!(cuStreamQuery(stream));
        }
        ok!(cuStreamDestroy_v2(stream));
        if !is_right {
            assert_eq!(code!(cuStreamQuery(stream)), 400);
        }
    },
};

/// Copies with a page of pinned memory, which the host changes before or after it has waited.
fn changed_by_the_host(is_right: bool, copy: fn(CUdeviceptr, *mut u8, CUstream)) {
    let (memory, page, stream) = (alloc(BYTES), pinned(BYTES), stream(1));
    write(memory, &[1; BYTES]);
    copy(memory, page, stream);
    if is_right {
        ok!(cuStreamSynchronize(stream));
    }
    // SAFETY: the page has that many bytes, and its copy runs inside a driver call only.
    unsafe { page.write_bytes(2, BYTES) };
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFreeHost(page.cast()));
    free(memory);
}

pub(crate) const HOST_SOURCE_CHANGED: Program = Program {
    later: "cuMemcpyHtoDAsync_v2",
    earlier: None,
    run: |is_right| {
        changed_by_the_host(is_right, |memory, page, stream| {
            ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), BYTES, stream));
        });
    },
};

pub(crate) const HOST_DESTINATION_CHANGED: Program = Program {
    later: "cuMemcpyDtoHAsync_v2",
    earlier: None,
    run: |is_right| {
        changed_by_the_host(is_right, |memory, page, stream| {
            ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, BYTES, stream));
        });
    },
};

pub(crate) const RACE: Program = Program {
    later: "cuMemsetD32Async",
    earlier: Some("cuMemsetD8Async"),
    run: |is_right| {
        let (left, right, done, memory) = (stream(1), stream(1), event(), alloc(BYTES));
        ok!(cuMemsetD8Async(memory, 1, BYTES, left));
        ok!(cuEventRecord(done, left));
        if is_right {
            ok!(cuStreamWaitEvent(right, done, 0));
        }
        ok!(cuMemsetD32Async(memory, 2, BYTES / 4, right));
        ok!(cuCtxSynchronize());
        ok!(cuEventDestroy_v2(done));
        for stream in [left, right] {
            ok!(cuStreamDestroy_v2(stream));
        }
        free(memory);
    },
};

pub(crate) const MANAGED_ACCESS: Program = Program {
    later: "cuMemsetD8Async",
    earlier: Some("cuMemsetD8Async"),
    run: |is_right| {
        let (mut memory, other, stream) = (CUdeviceptr(0), alloc(BYTES), stream(1));
        ok!(cuMemAllocManaged(&mut memory, BYTES, 1));
        ok!(cuMemsetD8Async(other, 1, BYTES, stream));
        if is_right {
            ok!(cuStreamSynchronize(stream));
        }
        // SAFETY: managed memory of this process, of that many bytes, which no work touches.
        unsafe { as_host(memory).write_bytes(2, BYTES) };
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(other);
        free(memory);
    },
};

pub(crate) const WRONG_CONTEXT: Program = Program {
    later: "cuMemsetD8Async",
    earlier: Some("cuStreamCreate"),
    run: |is_right| {
        let (memory, stream, mut second) = (alloc(BYTES), stream(1), ptr::null_mut());
        ok!(cuCtxCreate_v2(&mut second, 0, CUdevice(0)));
        let mut popped = ptr::null_mut();
        if is_right {
            ok!(cuCtxPopCurrent_v2(&mut popped));
        }
        ok!(cuMemsetD8Async(memory, 1, BYTES, stream));
        ok!(cuStreamSynchronize(stream));
        if !is_right {
            ok!(cuCtxPopCurrent_v2(&mut popped));
        }
        ok!(cuCtxDestroy_v2(second));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
    },
};

pub(crate) const BLOCKED: Program = Program {
    later: "cuStreamSynchronize",
    earlier: Some("cuStreamWaitValue32_v2"),
    run: |is_right| {
        let (waiting, writing, word) = (stream(1), stream(1), alloc(BYTES));
        write(word, &[0; BYTES]);
        ok!(cuStreamWaitValue32_v2(waiting, word, 1, 0));
        if is_right {
            ok!(cuStreamWriteValue32_v2(writing, word, 1, 0));
        }
        assert_eq!(code!(cuStreamSynchronize(waiting)), if is_right { 0 } else { 702 });
        if is_right {
            ok!(cuCtxSynchronize());
            for stream in [waiting, writing] {
                ok!(cuStreamDestroy_v2(stream));
            }
            free(word);
        }
    },
};

pub(crate) const FREED_WHILE_PENDING: Program = Program {
    later: "cuMemFreeHost",
    earlier: Some("cuMemcpyHtoDAsync_v2"),
    run: |is_right| {
        let (memory, page, stream) = (alloc(BYTES), pinned(BYTES), stream(1));
        ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), BYTES, stream));
        if is_right {
            ok!(cuStreamSynchronize(stream));
        }
        ok!(cuMemFreeHost(page.cast()));
        ok!(cuStreamSynchronize(stream));
        ok!(cuStreamDestroy_v2(stream));
        free(memory);
    },
};

pub(crate) const FREED_WHILE_SHARED: Program = Program {
    later: "cuMemFree_v2",
    earlier: Some("cuMemAlloc_v2"),
    run: |is_right| {
        let memory = alloc(BYTES);
        let mut remote = Remote::start();
        let (answer, there) = remote.open(handle_of(memory).1);
        assert_eq!(answer, 0);
        if is_right {
            assert_eq!(remote.code(&format!("close {there}")), 0);
        }
        free(memory);
        if !is_right {
            assert_eq!(remote.code(&format!("close {there}")), 0);
        }
        remote.end();
    },
};
