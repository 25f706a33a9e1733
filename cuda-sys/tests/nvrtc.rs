//! NVRTC compiles a kernel without a GPU, through the binding. Needs the library: the variable
//! `CUDA_SYS_NVRTC` names it, as `cargo xtask test` sees to.

use core::ffi::CStr;
use core::ptr;
use std::process::ExitCode;

use cuda_sys::Version;
use cuda_sys::nvrtc::*;
use libtest_mimic::{Arguments, Failed, Trial};

const KERNEL: &CStr = c"
extern \"C\" __global__ void saxpy(float a, const float *x, float *y, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}";

fn main() -> ExitCode {
    let is_there = std::env::var_os(LIBRARY.specification().override_variable).is_some();
    // What could not run has not passed: without the library the tests are listed as ignored.
    let needs_library = |trial: Trial| trial.with_ignored_flag(!is_there);
    let trials = vec![
        needs_library(Trial::test("a_kernel_becomes_ptx", a_kernel_becomes_ptx)),
        needs_library(Trial::test("an_error_has_a_text_and_a_log", an_error_has_a_text_and_a_log)),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Compiles; returns the status and the program.
fn compile(source: &CStr) -> Result<(nvrtcResult, nvrtcProgram), Failed> {
    let mut program = ptr::null_mut();
    // SAFETY: the source and the name end in a zero; there are no headers.
    let status = unsafe {
        nvrtcCreateProgram(
            &mut program,
            source.as_ptr(),
            c"kernel.cu".as_ptr(),
            0,
            ptr::null(),
            ptr::null(),
        )
    };
    if status != nvrtcResult::NVRTC_SUCCESS {
        return Err(format!("{status:?}").into());
    }
    let options = [c"--gpu-architecture=compute_75".as_ptr()];
    // SAFETY: the program was created, and there is one option.
    Ok((unsafe { nvrtcCompileProgram(program, 1, options.as_ptr()) }, program))
}

fn a_kernel_becomes_ptx() -> Result<(), Failed> {
    let opened = LIBRARY.open()?;
    assert!(opened.version() >= Some(Version::new(11, 8)), "{opened:?}");
    let (status, mut program) = compile(KERNEL)?;
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let mut size = 0;
    // SAFETY: the program was compiled.
    let status = unsafe { nvrtcGetPTXSize(program, &mut size) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let mut ptx = vec![0_u8; size];
    // SAFETY: the buffer has the size that was asked for.
    let status = unsafe { nvrtcGetPTX(program, ptx.as_mut_ptr().cast()) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let ptx = CStr::from_bytes_with_nul(&ptx)?.to_str()?;
    for part in [".version", ".target sm_75", ".visible .entry saxpy"] {
        assert!(ptx.contains(part), "`{part}` is not in:\n{ptx}");
    }
    // SAFETY: the program is destroyed once.
    let status = unsafe { nvrtcDestroyProgram(&mut program) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    Ok(())
}

fn an_error_has_a_text_and_a_log() -> Result<(), Failed> {
    let (status, mut program) = compile(c"__global__ void broken(")?;
    assert_eq!(status, nvrtcResult::NVRTC_ERROR_COMPILATION);
    // SAFETY: may be called at any time.
    let text = unsafe { nvrtcGetErrorString(status) };
    // SAFETY: the text is the library's own, and ends in a zero.
    let text = unsafe { CStr::from_ptr(text) };
    assert_eq!(text, c"NVRTC_ERROR_COMPILATION");
    let mut size = 0;
    // SAFETY: the program was created.
    let status = unsafe { nvrtcGetProgramLogSize(program, &mut size) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    assert!(size > 1, "the log says what is wrong");
    // SAFETY: the program is destroyed once.
    let status = unsafe { nvrtcDestroyProgram(&mut program) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    Ok(())
}
