//! What the environment steers: the machine, the report at the end, and the exit status.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Output;
use std::ptr;

use cuda_sys::*;
use support::{Place, again, errors, is_inside, name};

/// Makes a call, which must succeed.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: each call gets the pointers and sizes that its manual asks for.
        let answer = unsafe { $name($($argument),*) };
        assert_eq!(answer, CUresult::CUDA_SUCCESS, stringify!($name));
    }};
}

/// Makes the primary context current.
fn begin() {
    let mut context = ptr::null_mut();
    ok!(cuInit(0));
    ok!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0)));
    ok!(cuCtxSetCurrent(context));
}

fn end() {
    ok!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)));
}

fn alloc() -> CUdeviceptr {
    let mut memory = CUdeviceptr(0);
    ok!(cuMemAlloc_v2(&mut memory, 4096));
    memory
}

/// Runs a test's body on the library with these variables.
fn run(test: &str, place: &Place, variables: &[(&str, &str)]) -> Output {
    let mut command = again(test);
    place.search(&mut command);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_bad_configuration_is_named_and_nothing_initialises() {
    if is_inside(&name!()) {
        // SAFETY: the call takes no pointer.
        assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_ERROR_SYSTEM_NOT_READY);
        let error = CUresult::CUDA_ERROR_SYSTEM_NOT_READY;
        assert_eq!(error.name(), Some(c"CUDA_ERROR_SYSTEM_NOT_READY"));
        let mut count = 0;
        // SAFETY: it writes one number.
        let answer = unsafe { cuDeviceGetCount(&mut count) };
        assert_eq!(answer, CUresult::CUDA_ERROR_NOT_INITIALIZED);
        return;
    }
    let place = Place::new();
    for (variable, text, part) in [
        ("CUDA_SIM", "devices=1;colour=red", "\"colour=red\""),
        ("CUDA_SIM", "devices=-1", "\"devices=-1\""),
        ("CUDA_SIM_EXIT_STATUS", "bad", "must be a number from 0 to 255"),
        ("CUDA_SIM_EXIT_STATUS", "256", "must be a number from 0 to 255"),
    ] {
        let output = run(&name!(), &place, &[(variable, text)]);
        let said = errors(&output);
        assert!(output.status.success(), "{said}");
        assert!(said.starts_with(&format!("cuda-sim: {variable}")), "{said}");
        assert!(said.contains(part) && said.contains("CUDA_ERROR_SYSTEM_NOT_READY"), "{said}");
        assert_eq!(said.matches(part).count(), 1, "{said}");
    }
    let mut command = again(&name!());
    place.search(&mut command);
    command.env("CUDA_SIM", std::ffi::OsStr::from_bytes(b"devices=\xff"));
    let said = errors(&command.output().unwrap());
    assert!(said.starts_with("cuda-sim: CUDA_SIM: "), "{said}");
}

#[test]
fn what_is_found_is_said_with_both_sides() {
    if is_inside(&name!()) {
        begin();
        let memory = alloc();
        let (mut one, mut two) = (ptr::null_mut(), ptr::null_mut());
        ok!(cuStreamCreate(&mut one, 1));
        ok!(cuStreamCreate(&mut two, 1));
        ok!(cuMemsetD8Async(memory, 1, 4096, one));
        ok!(cuMemsetD32Async(memory, 2, 100, two));
        ok!(cuCtxSynchronize());
        return;
    }
    let place = Place::new();
    let status = ("CUDA_SIM_EXIT_STATUS", "57");
    let expected = [
        "findings after 10 driver calls",
        "race",
        "cuMemsetD32Async's dstDevice",
        "earlier: cuMemsetD8Async's dstDevice",
        "leak: 4096 bytes at ",
        "primary context of device 0, retained 1 times",
    ];
    // Unasked, with the status left as it is, and asked for by each of the ways.
    for variables in [&[][..], &[status], &[("CUDA_SIM_REPORT", "stderr"), status]] {
        let output = run(&name!(), &place, variables);
        let said = errors(&output);
        let code = if variables.is_empty() { 0 } else { 57 };
        assert_eq!(output.status.code(), Some(code), "{said}");
        for part in expected {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.lines().all(|line| line.starts_with("cuda-sim: ")), "{said}");
        // What C's and Rust's standard output held is written nonetheless.
        assert!(String::from_utf8_lossy(&output.stdout).contains("test result: ok"), "{said}");
    }
    let quiet = run(&name!(), &place, &[("CUDA_SIM_REPORT", "none"), status]);
    assert_eq!((quiet.status.code(), errors(&quiet).as_str()), (Some(57), ""));
    let file = place.path().join("reports-%p.txt");
    let filed = run(&name!(), &place, &[("CUDA_SIM_REPORT", file.to_str().unwrap()), status]);
    assert_eq!((filed.status.code(), errors(&filed).as_str()), (Some(57), ""));
    let mut files = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path());
    let is_report = |path: &std::path::PathBuf| path.to_str().unwrap().contains("/reports-");
    let report = std::fs::read_to_string(files.find(is_report).unwrap()).unwrap();
    assert!(expected.iter().all(|part| report.contains(part)), "{report}");
    let file = place.path().join("objects.jsonl");
    run(&name!(), &place, &[("CUDA_SIM_REPORT", file.to_str().unwrap())]);
    let objects = std::fs::read_to_string(file).unwrap();
    let count = |part: &str| objects.lines().filter(|line| line.starts_with(part)).count();
    assert_eq!(count(r#"{"type":"process","process":"#), 1, "{objects}");
    assert_eq!(count(r#"{"type":"finding","kind":"Race","advice":false,"#), 1, "{objects}");
    assert!(objects.lines().last().unwrap().ends_with(r#","clean":false}"#), "{objects}");
    assert!(objects.lines().all(|line| line.ends_with('}')), "{objects}");
    let lost = run(&name!(), &place, &[("CUDA_SIM_REPORT", "/no/such/folder/report")]);
    let said = errors(&lost);
    assert!(said.contains("/no/such/folder/report: ") && said.contains("race"), "{said}");
}

#[test]
fn what_the_program_frees_at_its_end_is_no_leak() {
    static MEMORY: std::sync::OnceLock<CUdeviceptr> = std::sync::OnceLock::new();
    extern "C" fn free() {
        // The thread that ends the process is another than the one of the test.
        begin();
        end();
        ok!(cuMemFree_v2(*MEMORY.get().unwrap()));
        end();
    }
    if is_inside(&name!()) {
        // Before the first call of the driver, as the static objects of a C++ program do.
        // SAFETY: the function lives as long as the process.
        assert_eq!(unsafe { libc::atexit(free) }, 0);
        begin();
        MEMORY.set(alloc()).unwrap();
        return;
    }
    let place = Place::new();
    let output = run(&name!(), &place, &[("CUDA_SIM_REPORT", "stderr")]);
    let said = errors(&output);
    assert!(output.status.success() && said.contains("cuda-sim: nothing was found"), "{said}");
}

#[test]
fn a_log_is_part_of_the_report() {
    if is_inside(&name!()) {
        begin();
        return end();
    }
    let place = Place::new();
    let variables = [("CUDA_SIM", "log=true"), ("CUDA_SIM_REPORT", "stderr")];
    let said = errors(&run(&name!(), &place, &variables));
    assert!(said.contains(": cuInit(flags=0) -> CUDA_SUCCESS\n"), "{said}");
    assert!(said.contains(": cuDevicePrimaryCtxRelease_v2("), "{said}");
    let file = place.path().join("objects.jsonl");
    run(&name!(), &place, &[("CUDA_SIM", "log=true"), ("CUDA_SIM_REPORT", file.to_str().unwrap())]);
    let objects = std::fs::read_to_string(file).unwrap();
    let call = r#""call":"cuInit","arguments":"flags=0","answer":0}"#;
    assert_eq!(objects.lines().filter(|line| line.ends_with(call)).count(), 1, "{objects}");
}

/// A mistake is found where the program made it, not in the library.
#[test]
fn a_call_site_is_the_program_s() {
    if is_inside(&name!()) {
        begin();
        return a_function_that_forgets();
    }
    #[inline(never)]
    fn a_function_that_forgets() {
        let _ = alloc();
    }
    let place = Place::new();
    let said = errors(&run(&name!(), &place, &[("CUDA_SIM", "call_sites=true")]));
    let (_, leak) = said.split_once("leak: 4096 bytes").unwrap();
    let first = leak.lines().find(|line| line.contains(" in ")).unwrap();
    assert!(first.contains("environment::alloc"), "{said}");
    assert!(leak.contains("a_function_that_forgets"), "{said}");
}

#[test]
fn a_process_without_a_driver_call_says_so() {
    if is_inside(&name!()) {
        // SAFETY: the name ends in a zero byte, and the library's initialisers may always run.
        let handle = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        // SAFETY: the handle is of the call above. The library stays, and reports at the end.
        assert_eq!(unsafe { libc::dlclose(handle) }, 0);
        return;
    }
    let place = Place::new();
    let said = errors(&run(&name!(), &place, &[("CUDA_SIM_REPORT", "stderr")]));
    assert!(said.contains("0 findings after 0 driver calls"), "{said}");
    let silent = errors(&run(&name!(), &place, &[]));
    assert_eq!(silent, "");
}

/// A function that the configured release does not have is still a symbol of the library.
#[test]
fn an_older_release_has_what_it_had() {
    if is_inside(&name!()) {
        let mut id = 0;
        // SAFETY: it may write a number.
        let answer = unsafe { cuCtxGetId(ptr::null_mut(), &mut id) };
        assert_eq!(answer, CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
        for (name, is_there) in [(c"cuCtxGetId", false), (c"cuMemAlloc", true)] {
            assert_eq!(is_found(name), is_there, "{name:?}");
        }
        return;
    }
    let output = run(&name!(), &Place::new(), &[("CUDA_SIM", "version=11080")]);
    assert!(output.status.success(), "{}", errors(&output));
}

/// Asks the driver itself for a function of CUDA 13.0.
fn is_found(name: &CStr) -> bool {
    let mut function = ptr::null_mut();
    // SAFETY: it writes a pointer, and reads a text that ends in a zero byte.
    let answer = unsafe { cuGetProcAddress(name.as_ptr(), &mut function, 13000, 0) };
    answer == CUresult::CUDA_SUCCESS && !function.is_null()
}
