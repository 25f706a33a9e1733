//! The programs of the races. Each reads what another piece of work wrote, and knows what it is.

use std::ffi::c_void;
use std::ptr;

use cuda_sys::*;

use crate::common::*;

/// How many bytes each program moves.
pub(crate) const BYTES: usize = 64;

/// Is a kind of race.
pub(crate) struct Kind {
    /// The calls of the two sides, the earlier first, if the report names both.
    pub(crate) sides: Option<(&'static str, &'static str)>,
    /// Runs with the mistake or corrected, and tells whether the bytes are right.
    pub(crate) program: fn(bool) -> bool,
}

/// Writes new bytes on a stream, and copies them on another into pinned memory, which is read when
/// the second stream is done; `order` is all that stands between the two.
fn written_and_read(order: impl FnOnce(CUstream, CUstream, &dyn Fn())) -> bool {
    let (writer, reader) = (stream(1), stream(1));
    let (memory, page) = (alloc(BYTES), pinned(BYTES));
    write(memory, &[1; BYTES]);
    order(writer, reader, &|| ok!(cuMemsetD8Async(memory, 2, BYTES, writer)));
    ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, BYTES, reader));
    ok!(cuStreamSynchronize(reader));
    seen(page) == [2; BYTES]
}

/// Reads pinned memory as the host does.
fn seen(page: *mut u8) -> [u8; BYTES] {
    // SAFETY: pinned memory of this many bytes, which a racing copy may not have filled yet.
    unsafe { ptr::read_volatile(page.cast()) }
}

const SIDES: Option<(&str, &str)> = Some(("cuMemsetD8Async", "cuMemcpyDtoHAsync_v2"));

pub(crate) fn event_recorded_too_early() -> Kind {
    let program = |corrected: bool| {
        written_and_read(|writer, reader, work| {
            let done = event();
            if !corrected {
                ok!(cuEventRecord(done, writer));
            }
            work();
            if corrected {
                ok!(cuEventRecord(done, writer));
            }
            ok!(cuStreamWaitEvent(reader, done, 0));
        })
    };
    Kind { sides: SIDES, program }
}

pub(crate) fn event_recorded_again() -> Kind {
    let program = |corrected: bool| {
        written_and_read(|writer, reader, work| {
            let (done, other) = (event(), stream(1));
            work();
            ok!(cuEventRecord(done, writer));
            if !corrected {
                ok!(cuEventRecord(done, other));
            }
            ok!(cuStreamWaitEvent(reader, done, 0));
            ok!(cuEventRecord(done, other));
        })
    };
    Kind { sides: SIDES, program }
}

pub(crate) fn event_of_the_wrong_stream() -> Kind {
    let program = |corrected: bool| {
        written_and_read(|writer, reader, work| {
            let done = event();
            work();
            ok!(cuEventRecord(done, if corrected { writer } else { reader }));
            ok!(cuStreamWaitEvent(reader, done, 0));
        })
    };
    Kind { sides: SIDES, program }
}

pub(crate) fn legacy_against_non_blocking() -> Kind {
    let program = |corrected: bool| {
        let writer = stream(u32::from(!corrected));
        let memory = alloc(BYTES);
        write(memory, &[1; BYTES]);
        ok!(cuMemsetD8Async(memory, 2, BYTES, writer));
        // On the legacy stream, which waits for blocking streams only.
        read(memory, BYTES) == [2; BYTES]
    };
    Kind { sides: Some(("cuMemsetD8Async", "cuMemcpyDtoH_v2")), program }
}

pub(crate) fn partial_overlap() -> Kind {
    let program = |corrected: bool| {
        let (left, right, page) = (stream(1), stream(1), pinned(BYTES));
        let memory = alloc(BYTES);
        write(memory, &[1; BYTES]);
        // Rows of 16 bytes: the left one is a byte too wide, unless corrected.
        ok!(cuMemsetD2D8Async(memory, 16, 2, if corrected { 8 } else { 9 }, 4, left));
        let copy = CUDA_MEMCPY2D_v2 {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: at(memory, 8),
            srcPitch: 16,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: page.cast(),
            dstPitch: 16,
            WidthInBytes: 8,
            Height: 4,
            ..CUDA_MEMCPY2D_v2::zeroed()
        };
        ok!(cuMemcpy2DAsync_v2(&copy, right));
        ok!(cuStreamSynchronize(right));
        let expected = if corrected { 1 } else { 2 };
        seen(page).chunks(16).all(|row| row.first() == Some(&expected))
    };
    Kind { sides: Some(("cuMemsetD2D8Async", "cuMemcpy2DAsync_v2")), program }
}

pub(crate) fn freed_in_use() -> Kind {
    let program = |corrected: bool| {
        let (user, owner, done, page) = (stream(1), stream(1), event(), pinned(BYTES));
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, BYTES, owner));
        ok!(cuMemsetD8Async(memory, 2, BYTES, owner));
        ok!(cuStreamSynchronize(owner));
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, BYTES, user));
        if corrected {
            ok!(cuEventRecord(done, user));
            ok!(cuStreamWaitEvent(owner, done, 0));
        }
        ok!(cuMemFreeAsync(memory, owner));
        ok!(cuStreamSynchronize(owner));
        ok!(cuStreamSynchronize(user));
        seen(page) == [2; BYTES]
    };
    Kind { sides: Some(("cuMemcpyDtoHAsync_v2", "cuMemFreeAsync")), program }
}

pub(crate) fn pool_memory_reused() -> Kind {
    let program = |corrected: bool| {
        let (user, owner, done, page) = (stream(1), stream(1), event(), pinned(BYTES));
        let (mut first, mut second) = (CUdeviceptr(0), CUdeviceptr(0));
        ok!(cuMemAllocAsync(&mut first, BYTES, owner));
        ok!(cuMemsetD8Async(first, 2, BYTES, owner));
        ok!(cuStreamSynchronize(owner));
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), first, BYTES, user));
        if corrected {
            ok!(cuEventRecord(done, user));
            ok!(cuStreamWaitEvent(owner, done, 0));
        }
        ok!(cuMemFreeAsync(first, owner));
        ok!(cuMemAllocAsync(&mut second, BYTES, owner));
        ok!(cuMemsetD8Async(second, 3, BYTES, owner));
        ok!(cuMemFreeAsync(second, owner));
        ok!(cuStreamSynchronize(owner));
        ok!(cuStreamSynchronize(user));
        seen(page) == [2; BYTES]
    };
    Kind { sides: Some(("cuMemcpyDtoHAsync_v2", "cuMemFreeAsync")), program }
}

pub(crate) fn host_read() -> Kind {
    let program = |corrected: bool| {
        let (copier, memory, page) = (stream(1), alloc(BYTES), pinned(BYTES));
        write(memory, &[2; BYTES]);
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, BYTES, copier));
        if corrected {
            ok!(cuStreamSynchronize(copier));
        }
        let right = seen(page) == [2; BYTES];
        ok!(cuStreamSynchronize(copier));
        right
    };
    Kind { sides: None, program }
}

extern "system" fn sum(data: *mut c_void) {
    let pair: *mut (*mut u8, bool) = data.cast();
    // SAFETY: the program keeps the pair until its context has no more work.
    let (page, is_right) = unsafe { &mut *pair };
    *is_right = seen(page.wrapping_add(LONG - BYTES)) == [2; BYTES];
}

/// How many bytes the copy has that a host function does not wait for: so many that it takes longer
/// than the function's thread to wake up.
const LONG: usize = 16 << 20;

pub(crate) fn host_function() -> Kind {
    let program = |corrected: bool| {
        let (copier, caller, done) = (stream(1), stream(1), event());
        let (memory, page) = (alloc(LONG), pinned(LONG));
        write(memory, &vec![2; LONG]);
        let mut pair = (page, false);
        ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, LONG, copier));
        if corrected {
            ok!(cuEventRecord(done, copier));
            ok!(cuStreamWaitEvent(caller, done, 0));
        }
        ok!(cuLaunchHostFunc(caller, Some(sum), ptr::from_mut(&mut pair).cast()));
        ok!(cuStreamSynchronize(caller));
        ok!(cuStreamSynchronize(copier));
        pair.1
    };
    Kind { sides: None, program }
}
