//! What a real compiler writes is read: PTX and cubins of NVRTC. Needs the library: the variable
//! `CUDA_SYS_NVRTC` names it, as `cargo xtask test` sees to.

#![expect(clippy::unwrap_used, reason = "a program of tests, with its own harness")]

mod common;

use std::ffi::{CStr, CString};
use std::process::ExitCode;
use std::ptr;

use common::*;
use cuda_sim::{Config, kernel};
use cuda_sys::nvrtc::{LIBRARY, *};
use cuda_sys::*;
use libtest_mimic::{Arguments, Failed, Trial};

const SOURCE: &CStr = c"
struct Big { float a[5]; char c; double d; };
struct Huge { int a[1200]; };
__constant__ float table[4] = {1.f, 2.f, 3.f, 4.f};
__device__ int counter = 7;
__device__ unsigned char buffer[1000];
__device__ int *pointer = &counter;
extern \"C\" __global__ void saxpy(float a, const float *x, float *y, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
extern \"C\" __global__ void nothing() {}
__global__ void mangled(char c, short s, Big b, int *p) {
    __shared__ int tile[256];
    tile[threadIdx.x] = c + s;
    __syncthreads();
    *p = tile[*p & 255] + (int)b.d + (int)table[*p & 3] + buffer[*p] + counter + *pointer;
}
extern \"C\" __global__ void __launch_bounds__(128) bounded(int *p) { *p = 1; }
";

/// What NVRTC 12.1 and later compile in addition.
const HUGE: &CStr = c"
struct Huge { int a[1200]; };
extern \"C\" __global__ void huge(int x, Huge h, int *p) { *p = h.a[x]; }
";

fn main() -> ExitCode {
    let is_there = std::env::var_os(LIBRARY.specification().override_variable).is_some();
    // What could not run has not passed: without the library the tests are listed as ignored.
    let trial = |name: &str, run: fn() -> Result<(), Failed>| {
        Trial::test(name, run).with_ignored_flag(!is_there)
    };
    let trials = vec![
        trial("ptx_of_nvrtc_is_read", || check(Form::Ptx)),
        trial("a_cubin_of_nvrtc_is_read", || check(Form::Cubin)),
    ];
    let mut arguments = Arguments::from_args();
    // The simulator is installed once a process.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials).exit_code()
}

#[derive(Clone, Copy)]
enum Form {
    Ptx,
    Cubin,
}

/// Compiles for a device like the simulated one, or for an older one that NVRTC knows.
fn compile(source: &CStr, form: Form) -> Result<Vec<u8>, Failed> {
    let mut program = ptr::null_mut();
    // SAFETY: the source and the name end in a zero; there are no headers.
    let status = unsafe {
        let name = c"kernel.cu".as_ptr();
        nvrtcCreateProgram(&mut program, source.as_ptr(), name, 0, ptr::null(), ptr::null())
    };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let architecture = match form {
        Form::Ptx => c"--gpu-architecture=compute_75",
        Form::Cubin => c"--gpu-architecture=sm_90",
    };
    let options = [architecture.as_ptr()];
    // SAFETY: the program was created, and there is one option.
    let status = unsafe { nvrtcCompileProgram(program, 1, options.as_ptr()) };
    if status != nvrtcResult::NVRTC_SUCCESS {
        return Err(format!("{status:?}").into());
    }
    let mut size = 0;
    let status = match form {
        // SAFETY: the program was compiled.
        Form::Ptx => unsafe { nvrtcGetPTXSize(program, &mut size) },
        // SAFETY: the program was compiled.
        Form::Cubin => unsafe { nvrtcGetCUBINSize(program, &mut size) },
    };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let mut image = vec![0_u8; size];
    let to = image.as_mut_ptr().cast();
    let status = match form {
        // SAFETY: the buffer has the size that was asked for.
        Form::Ptx => unsafe { nvrtcGetPTX(program, to) },
        // SAFETY: the buffer has the size that was asked for.
        Form::Cubin => unsafe { nvrtcGetCUBIN(program, to) },
    };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    // SAFETY: the program is destroyed once.
    let status = unsafe { nvrtcDestroyProgram(&mut program) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    Ok(image)
}

fn load(image: &[u8]) -> CUmodule {
    let mut module = ptr::null_mut();
    ok!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
    module
}

fn parameters(function: CUfunction) -> Vec<(usize, usize)> {
    let (mut offset, mut size) = (0, 0);
    let mut info = |index| code!(cuFuncGetParamInfo(function, index, &mut offset, &mut size)) == 0;
    let mut found = Vec::new();
    while info(found.len()) {
        found.push((0, 0));
    }
    for (index, place) in found.iter_mut().enumerate() {
        ok!(cuFuncGetParamInfo(function, index, &mut place.0, &mut place.1));
    }
    found
}

fn check(form: Form) -> Result<(), Failed> {
    // A second test of the same process finds it installed.
    let _ = cuda_sim::install(Config::new());
    // NVRTC of CUDA 13 is newer than the simulated driver, whose PTX it need not read.
    let image = compile(SOURCE, form)?;
    let image = match form {
        Form::Ptx => as_old_ptx(&image),
        Form::Cubin => image,
    };
    start();
    let module = load(&image);
    let mut count = 0;
    ok!(cuModuleGetFunctionCount(&mut count, module));
    assert_eq!(count, 4);
    let saxpy = function(module, c"saxpy");
    assert_eq!(parameters(saxpy), [(0, 4), (8, 8), (16, 8), (24, 8)]);
    assert_eq!(parameters(function(module, c"nothing")), []);
    let mangled = function(module, c"_Z7mangledcs3BigPi");
    assert_eq!(parameters(mangled), [(0, 1), (2, 2), (8, 32), (40, 8)]);
    let get = |of, attribute| {
        let mut value = 0;
        ok!(cuFuncGetAttribute(&mut value, attribute, of));
        value
    };
    let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    assert_eq!((get(mangled, shared), get(saxpy, shared)), (1024, 0));
    let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    let bounded = function(module, c"bounded");
    assert_eq!((get(bounded, most), get(saxpy, most)), (128, 1024));
    if matches!(form, Form::Cubin) {
        assert!(get(mangled, CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS) > 4);
    }
    let variable = |name: &CStr| {
        let (mut address, mut bytes) = (CUdeviceptr(0), 0);
        ok!(cuModuleGetGlobal_v2(&mut address, &mut bytes, module, name.as_ptr()));
        (address, read(address, bytes))
    };
    let values = [1_f32, 2.0, 3.0, 4.0].map(f32::to_ne_bytes).concat();
    assert_eq!(variable(c"table").1, values);
    let (counter, value) = variable(c"counter");
    assert_eq!(value, 7_u32.to_ne_bytes());
    assert_eq!(variable(c"buffer").1, [0; 1000]);
    assert_eq!(variable(c"pointer").1, counter.0.to_ne_bytes());
    kernel::register("bounded", |launch| {
        let to = launch.pointer(0)?;
        launch.write(to, 0, 1_u32)
    });
    assert_eq!(launch(bounded, [1, 1], LEGACY, &[parameter(&counter)]), 0);
    assert_eq!(read(counter, 4), 1_u32.to_ne_bytes());
    ok!(cuModuleUnload(module));
    // Older compilers refuse more than 4 KiB of parameters.
    if let Ok(image) = compile(HUGE, form) {
        let image = if matches!(form, Form::Ptx) { as_old_ptx(&image) } else { image };
        let module = load(&image);
        let huge = function(module, c"huge");
        assert_eq!(parameters(huge), [(0, 4), (4, 4800), (4808, 8)]);
        ok!(cuModuleUnload(module));
    }
    end();
    let report = cuda_sim::finish();
    assert!(report.is_clean(), "{report}");
    Ok(())
}

/// Returns the same PTX as of the newest version that the simulated driver reads, if it is newer.
fn as_old_ptx(image: &[u8]) -> Vec<u8> {
    let text = CString::from_vec_with_nul(image.to_vec()).unwrap().into_string().unwrap();
    let line = text.lines().find(|line| line.starts_with(".version")).unwrap();
    let version: f64 = line.trim_start_matches(".version").trim().parse().unwrap();
    let text = if version > 9.0 { text.replacen(line, ".version 9.0", 1) } else { text };
    CString::new(text).unwrap().into_bytes_with_nul()
}
