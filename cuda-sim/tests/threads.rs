//! Many threads at once: nothing hangs, nothing is mixed up, nothing is found.

mod common;

use std::ptr;
use std::thread;

use common::*;
use cuda_sim::{Config, Scheduler, isolated};

extern "system" fn nothing(_: *mut std::ffi::c_void) {}

/// Each thread has a stream and memory of its own, frees while others work, and waits in each way.
fn many_threads() {
    let context = start().expose_provenance();
    thread::scope(|scope| {
        for number in 1..=6_u8 {
            scope.spawn(move || {
                ok!(cuCtxSetCurrent(ptr::with_exposed_provenance_mut(context)));
                let (mine, done) = (stream(u32::from(number) % 2), event());
                let page = pinned(4096);
                for round in 0..30_u8 {
                    let (source, target) = (alloc(4096), alloc(8192));
                    let value = number.wrapping_mul(31).wrapping_add(round);
                    ok!(cuMemsetD8Async(source, value, 4096, mine));
                    ok!(cuMemcpyDtoDAsync_v2(at(target, 4096), source, 4096, mine));
                    ok!(cuMemcpyDtoHAsync_v2(page.cast(), at(target, 4096), 4096, mine));
                    match round % 4 {
                        0 => ok!(cuStreamSynchronize(mine)),
                        1 => {
                            ok!(cuEventRecord(done, mine));
                            ok!(cuEventSynchronize(done));
                        }
                        2 => while code!(cuStreamQuery(mine)) == 600 {},
                        _ => {
                            ok!(cuLaunchHostFunc(mine, Some(nothing), ptr::null_mut()));
                            ok!(cuCtxSynchronize());
                        }
                    }
                    // SAFETY: the page has 4096 bytes, and the copy into it is done.
                    let bytes = unsafe { std::slice::from_raw_parts(page, 4096) };
                    assert!(bytes.iter().all(|&byte| byte == value));
                    free(source);
                    free(target);
                }
                ok!(cuMemFreeHost(page.cast()));
                ok!(cuEventDestroy_v2(done));
                ok!(cuStreamDestroy_v2(mine));
            });
        }
    });
    end();
}

#[test]
fn eager() {
    isolated!(Config::new(), many_threads);
}

#[test]
fn lazy() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), many_threads);
}

#[test]
fn seeded() {
    isolated!(Config::new().scheduler(Scheduler::Seeded(8)), many_threads);
}
