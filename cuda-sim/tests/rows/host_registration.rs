use std::ffi::c_void;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::common::*;
use crate::table;

#[test]
fn host_registration() {
    table!("host registration", |rows| {
        start();
        let mut pages = vec![1_u8; 6 * 4096];
        let base = pages.as_mut_ptr();
        let base = base.wrapping_add(base.align_offset(4096));
        let page = |number: usize| -> *mut c_void { base.wrapping_add(number * 4096).cast() };
        let inside = |bytes: usize| -> *mut c_void { base.wrapping_add(4096 + bytes).cast() };
        ok!(cuMemHostRegister_v2(page(1), 4096, 0));
        rows.is("a range that encloses one", code!(cuMemHostRegister_v2(page(0), 12288, 0)), 712);
        rows.is("a range inside of one", code!(cuMemHostRegister_v2(inside(512), 100, 0)), 712);
        rows.is("unregister inside", code!(cuMemHostUnregister(inside(512))), 1);
        rows.is("unregister what isn't", code!(cuMemHostUnregister(page(4))), 713);
        ok!(cuMemHostUnregister(page(1)));
        let unaligned = base.wrapping_add(4096 * 3 + 3).cast();
        rows.is("unaligned, 100 bytes", code!(cuMemHostRegister_v2(unaligned, 100, 0)), 0);
        ok!(cuMemHostUnregister(unaligned));
        rows.is("no bytes", code!(cuMemHostRegister_v2(page(0), 0, 0)), 1);
        let answer = code!(cuMemHostRegister_v2(page(0), 4096, 8));
        rows.is("READ_ONLY on ordinary memory", answer, 0);
        if answer == 0 {
            ok!(cuMemHostUnregister(page(0)));
        }
        // SAFETY: no address is asked for, so that nothing is replaced.
        let read_only =
            unsafe { mmap_anonymous(ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::PRIVATE) };
        let read_only = read_only.unwrap();
        let answer = code!(cuMemHostRegister_v2(read_only, 4096, 0));
        rows.is("a read-only mapping without the flag", answer, 1);
        // SAFETY: the page was mapped above, and nothing refers to it.
        unsafe { munmap(read_only, 4096) }.unwrap();
        end();
    });
}
