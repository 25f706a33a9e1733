//! A program in C that is linked to the driver by its development name, and finds it at its start by
//! the name that the library bears.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::process::Command;

use support::{Place, errors};

/// Declares what it calls, as no header of the driver is here.
const SOURCE: &str = r#"
#include <stdio.h>
#include <string.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
extern CUresult cuInit(unsigned flags);
extern CUresult cuDeviceGet(int *device, int ordinal);
extern CUresult cuDevicePrimaryCtxRetain(CUcontext *context, int device);
extern CUresult cuDevicePrimaryCtxRelease_v2(int device);
extern CUresult cuCtxSetCurrent(CUcontext context);
extern CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes);
extern CUresult cuMemFree_v2(CUdeviceptr memory);
extern CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
extern CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);

#define CHECK(call) if ((call) != 0) { fprintf(stderr, "%s failed\n", #call); return 1; }

int main(void)
{
    const char source[] = "there and back";
    char target[sizeof source] = "";
    int device;
    CUcontext context;
    CUdeviceptr memory;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&memory, sizeof source));
    CHECK(cuMemcpyHtoD_v2(memory, source, sizeof source));
    CHECK(cuMemcpyDtoH_v2(target, memory, sizeof source));
    CHECK(strcmp(source, target));
#ifndef FORGETS
    CHECK(cuMemFree_v2(memory));
    CHECK(cuDevicePrimaryCtxRelease_v2(device));
#endif
    /* Not written before the process is at its end. */
    setvbuf(stdout, NULL, _IOFBF, 4096);
    printf("%s", target);
    return 0;
}
"#;

/// Compiles the program into the place, and links it to the library there.
fn compile(place: &Place, name: &str, options: &[&str]) -> Command {
    let source = place.path().join("program.c");
    std::fs::write(&source, SOURCE).unwrap();
    let program = place.path().join(name);
    let output = Command::new("cc")
        .args(options)
        .arg(&source)
        .arg("-L")
        .arg(place.path())
        .args(["-lcuda", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let mut command = Command::new(program);
    command.env("CUDA_SIM_EXIT_STATUS", "57").env_remove("CUDA_SIM").env_remove("CUDA_SIM_REPORT");
    command.env_remove("CUDA_VISIBLE_DEVICES");
    place.search(&mut command);
    command
}

#[test]
fn a_linked_program_runs_and_keeps_its_output_whatever_is_found() {
    let place = Place::new();
    let right = compile(&place, "right", &[]).output().unwrap();
    assert_eq!((right.status.code(), errors(&right).as_str()), (Some(0), ""));
    assert_eq!(right.stdout, b"there and back");
    let wrong = compile(&place, "wrong", &["-DFORGETS"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(57));
    assert_eq!(wrong.stdout, b"there and back");
    assert!(errors(&wrong).contains("cuda-sim: leak: 15 bytes at "), "{}", errors(&wrong));
}
