use std::ffi::c_void;

use cuda_sys::*;

use crate::common::busy::Busy;
use crate::common::*;
use crate::table;

/// Queues a copy behind work, and tells whether its call waited for that.
fn waits(busy: &Busy, copy: impl FnOnce(CUstream)) -> bool {
    let (busy_stream, behind) = (stream(1), event());
    busy.stream(busy_stream, 300);
    ok!(cuEventRecord(behind, busy_stream));
    copy(busy_stream);
    let waited = code!(cuEventQuery(behind)) == 0;
    ok!(cuStreamSynchronize(busy_stream));
    ok!(cuEventDestroy_v2(behind));
    ok!(cuStreamDestroy_v2(busy_stream));
    waited
}

#[test]
fn pinned_copies() {
    table!("when async copies return: pinned", |rows| {
        start();
        let busy = Busy::load();
        for size in [1 << 10, 1 << 16, 1 << 20, 16 << 20] {
            let (memory, page) = (alloc(size), pinned(size));
            let host: *mut c_void = page.cast();
            let fill = |value: u8| {
                // SAFETY: the page has that many bytes, and no copy of it is pending that this
                // test does not mean to change.
                unsafe { page.write_bytes(value, size) };
            };
            fill(1);
            let waited = waits(&busy, |stream| {
                ok!(cuMemcpyHtoDAsync_v2(memory, host, size, stream));
                fill(2);
            });
            rows.is(&format!("{size} bytes to the device wait"), waited, false);
            rows.is(&format!("{size} bytes: source read"), read(memory, size)[size - 1], 2);
            let waited = waits(&busy, |stream| {
                ok!(cuMemcpyDtoHAsync_v2(host, memory, size, stream));
            });
            rows.is(&format!("{size} bytes from the device wait"), waited, false);
            ok!(cuMemFreeHost(host));
            free(memory);
        }
        end();
    });
}

#[test]
fn pageable_copies() {
    table!("when async copies return: pageable", |rows| {
        start();
        let busy = Busy::load();
        for size in [1 << 10, 1 << 16, 1 << 20, 2 << 20, 4 << 20, 8 << 20] {
            let memory = alloc(size);
            let mut host = vec![1_u8; size];
            let waited = waits(&busy, |stream| {
                ok!(cuMemcpyHtoDAsync_v2(memory, host.as_ptr().cast(), size, stream));
                host.fill(2);
            });
            rows.is(&format!("{size} bytes to the device wait"), waited, size > 2 << 20);
            rows.is(&format!("{size} bytes: source taken"), read(memory, size)[size - 1], 1);
            let waited = waits(&busy, |stream| {
                ok!(cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), memory, size, stream));
                assert_eq!(host[size - 1], 1);
            });
            rows.is(&format!("{size} bytes from the device wait"), waited, true);
            free(memory);
        }
        end();
    });
}
