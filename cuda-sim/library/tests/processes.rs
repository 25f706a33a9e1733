//! Several processes on the library: one opens another's memory, children inherit the environment,
//! and a forked child has no driver.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ptr;

use cuda_sys::*;
use support::{INSIDE_PEER, Place, again, errors, is_inside, name, on_library};

/// Makes a call, which must succeed.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: each call gets the pointers and sizes that its manual asks for.
        let answer = unsafe { $name($($argument),*) };
        assert_eq!(answer, CUresult::CUDA_SUCCESS, stringify!($name));
    }};
}

fn begin() {
    let mut context = ptr::null_mut();
    ok!(cuInit(0));
    ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
    ok!(cuCtxSetCurrent(context));
}

fn end() {
    ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
}

#[test]
fn a_second_process_opens_memory() {
    let test = name!();
    on_library!(|| match std::env::var(INSIDE_PEER) {
        Ok(handle) => import(&handle),
        Err(_) => export(&test),
    });
}

/// Hands a handle to a process that this one starts; the search path goes with the environment.
fn export(test: &str) {
    begin();
    let mut memory = CUdeviceptr(0);
    ok!(cuMemAlloc_v2(&mut memory, 1000));
    ok!(cuMemsetD8_v2(memory, 3, 1000));
    ok!(cuCtxSynchronize());
    let mut handle = CUipcMemHandle::zeroed();
    ok!(cuIpcGetMemHandle(&mut handle, memory));
    let bytes: Vec<String> = handle.reserved.iter().map(|&byte| byte.to_string()).collect();
    let mut second = std::process::Command::new(std::env::current_exe().unwrap());
    second.args(["--exact", test, "--nocapture"]).env(INSIDE_PEER, bytes.join(" "));
    let output = second.output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let mut target = [0_u8; 1000];
    ok!(cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), memory, 1000));
    // What the other process wrote.
    assert_eq!(target, [4; 1000]);
    ok!(cuMemFree_v2(memory));
    end();
}

/// Reads and writes the memory of a handle.
fn import(text: &str) {
    begin();
    let mut handle = CUipcMemHandle::zeroed();
    for (target, byte) in handle.reserved.iter_mut().zip(text.split(' ')) {
        *target = byte.parse().unwrap();
    }
    let (mut memory, mut target) = (CUdeviceptr(0), [0_u8; 1000]);
    ok!(cuIpcOpenMemHandle_v2(&mut memory, handle, 1));
    ok!(cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), memory, 1000));
    assert_eq!(target, [3; 1000]);
    ok!(cuMemsetD8_v2(memory, 4, 1000));
    ok!(cuCtxSynchronize());
    ok!(cuIpcCloseMemHandle(memory));
    end();
}

/// Makes calls whose arguments tell which process makes them, so many that its log is long.
fn fill(bytes: usize) {
    begin();
    let mut memory = CUdeviceptr(0);
    ok!(cuMemAlloc_v2(&mut memory, bytes));
    for _ in 0..CALLS {
        ok!(cuMemsetD8_v2(memory, 3, bytes));
    }
    ok!(cuCtxSynchronize());
    ok!(cuMemFree_v2(memory));
    end();
}

/// How many fills each process logs.
const CALLS: usize = 400;

#[test]
fn two_processes_log_into_one_file() {
    let test = name!();
    if is_inside(&test) {
        return match std::env::var(INSIDE_PEER) {
            Ok(_) => fill(2000),
            Err(_) => {
                let mut second = std::process::Command::new(std::env::current_exe().unwrap());
                second.args(["--exact", &test, "--nocapture"]).env(INSIDE_PEER, "second");
                let mut second = second.spawn().unwrap();
                fill(1000);
                assert!(second.wait().unwrap().success());
            }
        };
    }
    let place = Place::new();
    let mut command = again(&test);
    place.search(&mut command);
    place.report_to_file(&mut command);
    command.env("CUDA_SIM", "log=true");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let log = std::fs::read_to_string(place.report()).unwrap();
    let heads: Vec<_> = log.lines().filter(|line| line.contains(" driver calls")).collect();
    assert_eq!(heads.len(), 2, "{log}");
    let mut sizes = Vec::new();
    for head in heads {
        let (_, rest) = head.split_once("(process ").unwrap();
        let (process, rest) = rest.split_once("): 0 findings after ").unwrap();
        let count: usize = rest.strip_suffix(" driver calls").unwrap().parse().unwrap();
        let mark = format!("cuda-sim: process {process}: ");
        let calls: Vec<_> = log.lines().filter_map(|line| line.strip_prefix(&mark)).collect();
        assert_eq!(calls.len(), count, "{log}");
        let fills = |bytes| {
            let end = format!("value=3, count={bytes}) -> CUDA_SUCCESS");
            calls
                .iter()
                .filter(|call| call.starts_with("cuMemsetD8_v2(") && call.ends_with(&end))
                .count()
        };
        sizes.push([fills(1000), fills(2000)]);
    }
    sizes.sort_unstable();
    assert_eq!(sizes, [[0, CALLS], [CALLS, 0]], "{log}");
    // Each line is one of the two processes'.
    assert!(log.lines().all(|line| line.starts_with("cuda-sim: ")), "{log}");
}

/// Forks, runs the body in the child, and returns its exit status.
fn forked(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child makes driver calls and leaves; no other thread of this process is needed.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let code = body();
        // SAFETY: it ends the child as a program ends, with what is registered for its end.
        unsafe { libc::exit(code) }
    }
    let mut status = 0;
    // SAFETY: the child is this process's.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status));
    libc::WEXITSTATUS(status)
}

#[test]
fn a_forked_child_has_no_driver_and_reports_nothing() {
    on_library!(|| {
        begin();
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAlloc_v2(&mut memory, 1000));
        let code = forked(|| {
            let lost = CUresult::CUDA_ERROR_NOT_INITIALIZED;
            // SAFETY: the call takes no pointer.
            let init = unsafe { cuInit(0) };
            // SAFETY: nothing uses the memory.
            let free = unsafe { cuMemFree_v2(memory) };
            i32::from([init, free] != [lost; 2])
        });
        assert_eq!(code, 0);
        // The parent goes on.
        ok!(cuMemFree_v2(memory));
        end();
    });
}

#[test]
fn a_child_forked_before_the_first_call_starts_afresh() {
    if is_inside(&name!()) {
        for code in [11, 12] {
            let ended = forked(|| {
                begin();
                end();
                code
            });
            assert_eq!(ended, code);
        }
        begin();
        return end();
    }
    let place = Place::new();
    let mut command = again(&name!());
    place.search(&mut command);
    place.report_to_file(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    // Four of the program, and one by which `cuda-sys` asks for the version.
    let reports = std::fs::read_to_string(place.report()).unwrap();
    assert_eq!(reports.matches("0 findings after 5 driver calls").count(), 3, "{reports}");
}
