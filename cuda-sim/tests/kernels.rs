//! What kernels do wrong, and what they race with.

#![expect(clippy::panic, reason = "a kernel panics, and its error is looked at")]

mod common;

use std::ptr;

use common::*;
use cuda_sim::kernel::{Body, KernelError};
use cuda_sim::{Config, FindingKind, Scheduler, isolated, kernel};
use cuda_sys::*;

const TOUCH: &str = "
    .entry touch(.param .u64 p, .param .u64 n) { }
    .entry load(.param .u64 p, .param .u64 n) { }
    .entry add(.param .u64 p, .param .u64 n) { }
    .entry declared(.param .u64 p, .param .u64 n) { }
    .entry liar(.param .u64 p, .param .u64 n) { }
    .entry columns(.param .u64 p, .param .u64 n) { }
";

/// Registers kernels that write, read, or update bytes at `p`.
fn register() {
    let fill = |launch: &mut kernel::Launch<'_>| {
        let (to, count) = (launch.pointer(0)?, launch.parameter::<u64>(1)?);
        (0..count).try_for_each(|index| launch.write(to, index, 7_u8))
    };
    kernel::register("touch", fill);
    kernel::register("load", |launch| {
        let (from, count) = (launch.pointer(0)?, launch.parameter::<u64>(1)?);
        (0..count).try_for_each(|index| launch.read::<u8>(from, index).map(drop))
    });
    kernel::register("add", |launch| {
        let to = launch.pointer(0)?;
        launch.atomic_add(to, 0, 1_u32).map(drop)
    });
    // Writes 32 bytes of each 64.
    kernel::register("columns", |launch| {
        let (to, count) = (launch.pointer(0)?, launch.parameter::<u64>(1)?);
        (0..count).try_for_each(|row| launch.write_slice(to, row * 64, &[1_u8; 32]))
    });
    let all = |arguments: &kernel::Arguments| {
        Ok(vec![arguments.writes(0, arguments.parameter::<u64>(1)?)?])
    };
    Body::new(fill).accesses(all).register("declared");
    Body::new(fill).accesses(|arguments| Ok(vec![arguments.writes(0, 1)?])).register("liar");
}

fn run(name: &std::ffi::CStr, stream: CUstream, address: CUdeviceptr, count: u64) {
    let function = function(MODULE.with(|module| module.get()), name);
    assert_eq!(launch(function, [1, 1], stream, &[parameter(&address), parameter(&count)]), 0);
}

thread_local! {
    static MODULE: std::cell::Cell<CUmodule> = const { std::cell::Cell::new(ptr::null_mut()) };
}

/// Runs a planted mistake, which must be the only finding, or its twin, of which there is none.
fn found(kind: Option<FindingKind>, body: fn()) {
    register();
    start();
    MODULE.set(module(TOUCH));
    body();
    ok!(cuCtxSynchronize());
    let report = cuda_sim::report();
    match kind {
        Some(kind) => {
            assert!(report.count(kind) > 0, "{report}");
            assert_eq!(report.count(kind), report.findings.len(), "{report}");
        }
        None => assert!(report.findings.is_empty(), "{report}"),
    }
}

macro_rules! under_each_scheduler {
    ($($name:ident: $kind:expr, $body:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated!(Config::new()).unchecked().run_on_every_scheduler(4, || found($kind, $body));
        }
    )*};
}

fn streams() -> (CUstream, CUstream, CUdeviceptr) {
    (stream(1), stream(1), alloc(4096))
}

/// Lets the second stream wait for the first.
fn order(first: CUstream, second: CUstream) {
    let done = event();
    ok!(cuEventRecord(done, first));
    ok!(cuStreamWaitEvent(second, done, 0));
}

under_each_scheduler! {
    a_kernel_and_a_fill: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        run(c"touch", left, memory, 64);
        ok!(cuMemsetD8Async(memory, 2, 64, right));
    };
    a_fill_and_a_kernel: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD8Async(memory, 2, 64, right));
        run(c"load", left, memory, 64);
    };
    two_kernels: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        run(c"touch", left, memory, 64);
        run(c"load", right, memory, 1);
    };
    two_kernels_in_order: None, || {
        let (left, right, memory) = streams();
        run(c"touch", left, memory, 64);
        order(left, right);
        run(c"touch", right, memory, 64);
        order(right, left);
        ok!(cuMemsetD8Async(memory, 2, 64, left));
        run(c"load", left, memory, 64);
    };
    two_readers: None, || {
        let (left, right, memory) = streams();
        run(c"load", left, memory, 64);
        run(c"load", right, memory, 64);
        ok!(cuMemcpyDtoDAsync_v2(at(memory, 1024), memory, 64, right));
    };
    two_halves: None, || {
        let (left, right, memory) = streams();
        run(c"touch", left, memory, 64);
        run(c"touch", right, at(memory, 64), 64);
        run(c"columns", left, at(memory, 1024), 8);
        run(c"columns", right, at(memory, 1024 + 32), 8);
        ok!(cuMemsetD8Async(at(memory, 2048), 2, 64, right));
    };
    overlapping_columns: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        run(c"columns", left, memory, 8);
        run(c"columns", right, at(memory, 31), 8);
    };
    the_host_waits_between: None, || {
        let (left, right, memory) = streams();
        run(c"touch", left, memory, 64);
        ok!(cuStreamSynchronize(left));
        run(c"touch", right, memory, 64);
        ok!(cuStreamSynchronize(right));
        ok!(cuMemsetD8Async(memory, 2, 64, left));
    };
    the_host_waits_for_other_work_between: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        let third = stream(1);
        ok!(cuMemsetD8Async(memory, 1, 64, left));
        run(c"touch", right, memory, 64);
        // What the host learns now does not order the two; a new access must not hide it.
        ok!(cuStreamSynchronize(left));
        ok!(cuMemsetD8Async(at(memory, 64), 1, 64, third));
    };
    atomics: None, || {
        let (left, right, memory) = streams();
        ok!(cuMemsetD8_v2(memory, 0, 4));
        ok!(cuStreamSynchronize(LEGACY));
        run(c"add", left, memory, 0);
        run(c"add", right, memory, 0);
        ok!(cuCtxSynchronize());
        assert_eq!(read(memory, 4), 2_u32.to_ne_bytes());
    };
    an_atomic_and_a_read: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        run(c"add", left, memory, 0);
        run(c"load", right, memory, 4);
    };
    declared_kernels: Some(FindingKind::Race), || {
        let (left, right, memory) = streams();
        run(c"declared", left, memory, 64);
        run(c"declared", right, memory, 64);
    };
    declared_kernels_in_order: None, || {
        let (left, right, memory) = streams();
        run(c"declared", left, memory, 64);
        order(left, right);
        run(c"declared", right, memory, 64);
        run(c"touch", right, memory, 64);
    };
    bytes_that_are_not_declared: Some(FindingKind::UndeclaredAccess), || {
        let (left, _, memory) = streams();
        run(c"liar", left, memory, 64);
    };
    memory_of_a_pool_freed_behind_its_kernel: None, || {
        let (left, ..) = streams();
        let mut memory = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut memory, 64, left));
        run(c"touch", left, memory, 64);
        run(c"declared", left, memory, 64);
        ok!(cuMemFreeAsync(memory, left));
    };
    pinned_memory: None, || {
        let (left, right, _) = streams();
        let page = CUdeviceptr(pinned(64) as u64);
        run(c"touch", left, page, 64);
        order(left, right);
        run(c"load", right, page, 64);
        ok!(cuStreamSynchronize(right));
        assert_eq!(read(page, 64), [7; 64]);
    };
}

#[test]
fn a_race_names_the_kernel_and_its_parameter() {
    isolated!(Config::new()).unchecked().run(|| {
        register();
        start();
        MODULE.set(module(TOUCH));
        let (left, right, memory) = streams();
        run(c"touch", left, at(memory, 16), 64);
        ok!(cuMemsetD8Async(memory, 2, 64, right));
        let text = cuda_sim::report().to_string();
        assert!(text.contains("earlier: cuLaunchKernel's kernel touch, parameter 0 on"), "{text}");
        assert!(text.contains("writes 64 bytes at"), "{text}");
    });
}

/// Runs a kernel that fails, and checks that its error stays and what the report says of it.
fn fails(code: u32, kind: FindingKind, says: &[&str], run: fn(CUdeviceptr)) {
    register();
    kernel::register("fails", |launch| {
        match launch.parameter::<u64>(1)? {
            0 => return Err(KernelError::new("no luck")),
            1 => return Err(KernelError::assertion("not so")),
            2 => panic!("boom"),
            3 => drop(launch.parameter::<u8>(1)?),
            // The body takes no notice of its fault.
            4 => drop(launch.read::<u8>(CUdeviceptr(16), 0)),
            _ => drop(cuda_sim::report()),
        }
        Ok(())
    });
    start();
    MODULE.set(module(&format!("{TOUCH} .entry fails(.param .u64 p, .param .u64 n) {{ }}")));
    let (mine, done, memory) = (stream(1), event(), alloc(4096));
    write(memory, &[3; 4096]);
    run(memory);
    assert_eq!(code!(cuCtxSynchronize()), code);
    // It stays.
    let mut byte = 0_u8;
    let mut other = CUdeviceptr(0);
    let bytes = ptr::from_mut(&mut byte).cast();
    for answer in [
        code!(cuCtxSynchronize()),
        code!(cuStreamSynchronize(mine)),
        code!(cuStreamQuery(mine)),
        code!(cuEventRecord(done, mine)),
        code!(cuMemcpyDtoH_v2(bytes, memory, 1)),
        code!(cuMemsetD8Async(memory, 1, 1, mine)),
        code!(cuMemAlloc_v2(&mut other, 1)),
        code!(cuMemFree_v2(memory)),
    ] {
        assert_eq!(answer, code);
    }
    let none = ptr::null_mut();
    let f = ptr::without_provenance_mut(8);
    assert_eq!(code!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, LEGACY, none, none)), code);
    ok!(cuDriverGetVersion(ptr::from_mut(&mut 0)));
    let report = cuda_sim::report();
    assert_eq!((report.count(kind), report.findings.len()), (1, 1), "{report}");
    let text = report.to_string();
    for part in says {
        assert!(text.contains(part), "{part}: {text}");
    }
}

macro_rules! failures {
    ($($name:ident: $code:expr, $kind:ident, $says:expr, $run:expr;)*) => {$(
        #[test]
        fn $name() {
            isolated!(Config::new()).unchecked().run_on_every_scheduler(2, || {
                fails($code, FindingKind::$kind, &$says, $run);
            });
        }
    )*};
}

failures! {
    past_the_end: 700, IllegalAddress,
        ["kernel touch, through parameter 0, writes 1 bytes at", "past the 4096 bytes at", "cuLaunchKernel"],
        |memory| run(c"touch", LEGACY, memory, 4097);
    nowhere: 700, IllegalAddress, ["kernel load, through parameter 0, reads 0x1000", "no allocation"],
        |_| run(c"load", LEGACY, CUdeviceptr(0x1000), 1);
    pageable_memory: 700, IllegalAddress, ["which is in no allocation"], |_| {
        let byte = 1_u8;
        run(c"load", LEGACY, CUdeviceptr(ptr::from_ref(&byte) as u64), 1);
    };
    freed_memory: 700, IllegalAddress, ["which is in memory that was freed"], |_| {
        let memory = alloc(64);
        free(memory);
        run(c"touch", LEGACY, memory, 1);
    };
    an_error_of_its_own: 719, KernelFailed, ["kernel fails: no luck"], |memory| {
        run(c"fails", LEGACY, memory, 0);
    };
    misaligned: 716, MisalignedAddress, ["kernel add", "no multiple of 4"],
        |memory| run(c"add", LEGACY, at(memory, 2), 0);
    an_assertion: 710, KernelFailed, ["kernel fails: not so"], |memory| run(c"fails", LEGACY, memory, 1);
    a_panic: 719, Panic, ["kernel fails: boom"], |memory| run(c"fails", LEGACY, memory, 2);
    a_parameter_of_another_size: 719, KernelFailed, ["parameter 1 of kernel fails has 8 bytes", "u8 has 1"],
        |memory| run(c"fails", LEGACY, memory, 3);
    a_fault_that_the_body_ignores: 700, IllegalAddress, ["reads 0x10"],
        |memory| run(c"fails", LEGACY, memory, 4);
    a_body_that_asks_the_simulator: 719, Panic, ["asked the simulator something"],
        |memory| run(c"fails", LEGACY, memory, 5);
}

#[test]
fn a_body_can_not_call_the_driver() {
    isolated!(Config::new().scheduler(Scheduler::Lazy)).unchecked().run(|| {
        kernel::register("calls", |_| {
            let mut number = 0;
            assert_eq!(code!(cuDeviceGetCount(&mut number)), 800);
            assert_eq!(code!(cuCtxSynchronize()), 800);
            Ok(())
        });
        start();
        let module = module(".entry calls() { }");
        assert_eq!(launch(function(module, c"calls"), [1, 1], LEGACY, &[]), 0);
        ok!(cuCtxSynchronize());
        assert!(cuda_sim::report().is_clean());
    });
}

#[test]
fn another_devices_memory_is_out_of_reach() {
    isolated!(Config::new().devices(2)).unchecked().run(|| {
        register();
        start();
        let mut second = ptr::null_mut();
        ok!(cuDevicePrimaryCtxRetain(&mut second, CUdevice(1)));
        let memory = alloc(64);
        ok!(cuCtxSetCurrent(second));
        MODULE.set(module(TOUCH));
        run(c"touch", LEGACY, memory, 1);
        assert_eq!(code!(cuCtxSynchronize()), 700);
        let text = cuda_sim::report().to_string();
        assert!(text.contains("another device's memory"), "{text}");
    });
}
