//! One program, unchanged, with the simulator by each of the ways to it: put into its own table,
//! named as its driver's file, and found by the system's loader.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::ptr;

use cuda_sim::Config;
use cuda_sys::*;
use support::{Place, again, errors, is_inside, library, name};

/// Names the way that a process takes.
const WAY: &str = "CUDA_SIM_LIBRARY_WAY";
/// Names the file for what the program saw.
const SEEN: &str = "CUDA_SIM_LIBRARY_SEEN";

/// Makes a call, and writes its name and answer down.
macro_rules! call {
    ($seen:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: each call gets the pointers and sizes that its manual asks for.
        let answer = unsafe { $name($($argument),*) };
        writeln!($seen, "{} {answer:?}", stringify!($name)).unwrap();
    }};
}

/// Uses the driver through `cuda-sys`, and returns all that it saw but addresses.
fn program() -> String {
    let mut seen = String::new();
    let (mut version, mut count, mut context) = (0, 0, ptr::null_mut());
    call!(seen, cuInit(0));
    call!(seen, cuDriverGetVersion(&mut version));
    call!(seen, cuDeviceGetCount(&mut count));
    let mut id = CUuuid::zeroed();
    call!(seen, cuDeviceGetUuid_v2(&mut id, CUdevice(0)));
    writeln!(seen, "version {version}, {count} devices, the first is {:?}", id.bytes).unwrap();
    call!(seen, cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
    call!(seen, cuCtxSetCurrent(context));
    copies(&mut seen);
    refusals(&mut seen);
    call!(seen, cuCtxSetCurrent(ptr::null_mut()));
    call!(seen, cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
    seen
}

fn copies(seen: &mut String) {
    let (mut one, mut two) = (CUdeviceptr(0), CUdeviceptr(0));
    let (mut stream, mut event) = (ptr::null_mut(), ptr::null_mut());
    call!(seen, cuMemAlloc_v2(&mut one, 256));
    call!(seen, cuMemAlloc_v2(&mut two, 256));
    call!(seen, cuStreamCreate(&mut stream, 1));
    call!(seen, cuEventCreate(&mut event, 2));
    let source: [u8; 256] = std::array::from_fn(|index| u8::try_from(index).unwrap());
    let mut target = [0_u8; 256];
    call!(seen, cuMemcpyHtoDAsync_v2(one, source.as_ptr().cast(), 256, stream));
    call!(seen, cuMemcpyDtoDAsync_v2(two, one, 256, stream));
    call!(seen, cuMemsetD8Async(two, 0xAB, 16, stream));
    call!(seen, cuEventRecord(event, stream));
    call!(seen, cuEventQuery(event));
    call!(seen, cuEventSynchronize(event));
    call!(seen, cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), two, 256));
    writeln!(seen, "{target:?}").unwrap();
    call!(seen, cuEventDestroy_v2(event));
    call!(seen, cuStreamDestroy_v2(stream));
    call!(seen, cuMemFree_v2(one));
    call!(seen, cuMemFree_v2(two));
}

fn refusals(seen: &mut String) {
    let (mut number, mut flags) = (0, 0);
    call!(seen, cuMemFree_v2(CUdeviceptr(16)));
    call!(seen, cuDeviceGetAttribute(&mut number, CUdevice_attribute(1), CUdevice(99)));
    // Not simulated, and newer than the version that was asked for.
    call!(seen, cuGraphicsUnregisterResource(ptr::null_mut()));
    call!(seen, cuCtxGetFlags(&mut flags));
    let mut id = 0;
    call!(seen, cuCtxGetId(ptr::null_mut(), &mut id));
    let error = CUresult::CUDA_ERROR_INVALID_VALUE;
    writeln!(seen, "{:?} {:?}", error.name(), error.description()).unwrap();
}

/// Runs the program in a process, and returns what it saw.
fn seen_by(way: &str, file: &Path, prepare: impl FnOnce(&mut Command)) -> String {
    let mut command = again("the_program_runs_alike_by_every_way");
    let config = Config::new()
        .devices(2)
        .version(Version::new(11, 8))
        .scheduler(cuda_sim::Scheduler::Lazy)
        .fail("cuMemAlloc_v2", 3, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    command.env(WAY, way).env(SEEN, file).env(cuda_sim::ENVIRONMENT, config.to_text());
    prepare(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{way}: {}", errors(&output));
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn the_program_runs_alike_by_every_way() {
    if is_inside(&name!()) {
        return run_here();
    }
    let place = Place::new();
    let file = |name: &str| place.path().join(name);
    let installed = seen_by("install", &file("install.txt"), |_| {});
    let named = seen_by("named", &file("named.txt"), |command| {
        command.env("CUDA_SYS_DRIVER", library());
    });
    let found = seen_by("found", &file("found.txt"), |command| place.search(command));
    assert_eq!(installed, named);
    assert_eq!(installed, found);
    for expected in [
        "version 11080, 2 devices",
        "cuEventQuery CUDA_ERROR_NOT_READY",
        "171, 171, 16, 17, 18",
        "cuGraphicsUnregisterResource CUDA_ERROR_NOT_SUPPORTED",
        "cuCtxGetId CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
        "CUDA_ERROR_INVALID_VALUE",
    ] {
        assert!(installed.contains(expected), "{expected}: {installed}");
    }
}

/// Takes the way that the environment names, and runs the program.
fn run_here() {
    let way = std::env::var(WAY).unwrap();
    if way == "install" {
        cuda_sim::install(Config::from_environment().unwrap().unwrap()).unwrap();
    }
    let seen = program();
    let origin = LIBRARY.open().unwrap().origin().to_string();
    match way.as_str() {
        "install" => assert!(origin.starts_with("cuda-sim "), "{origin}"),
        _ => assert!(origin.ends_with("libcuda_sim_library.so"), "{way}: {origin}"),
    }
    std::fs::write(std::env::var_os(SEEN).unwrap(), seen).unwrap();
}
