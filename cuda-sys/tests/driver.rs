//! The binding against a real driver and device. Without them the tests are listed as ignored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use core::ptr;
use std::process::{Command, ExitCode};

use cuda_sys::*;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    // What could not run has not passed.
    let is_there = has_device();
    let trial = |name: &str, body: fn() -> Result<(), Failed>| {
        Trial::test(name, body).with_ignored_flag(!is_there)
    };
    let trials = vec![
        trial("every_function_of_its_release_is_there", every_function_of_its_release_is_there),
        trial("reports_09_total_memory_agrees_with_nvidia_smi", total_memory_agrees),
        trial("reports_15_constants_have_the_names_of_the_driver", constants_have_its_names),
        trial("reports_18_unknown_attributes_are_refused", unknown_attributes_are_refused),
        trial("bytes_come_back", bytes_come_back),
        trial("a_pool_takes_its_properties", a_pool_takes_its_properties),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn has_device() -> bool {
    let mut count = 0;
    // SAFETY: may be called at any time.
    let started = unsafe { cuInit(0) };
    // SAFETY: it writes one number.
    let counted = unsafe { cuDeviceGetCount(&mut count) };
    started == CUresult::CUDA_SUCCESS && counted == CUresult::CUDA_SUCCESS && count > 0
}

/// Fails unless the call succeeded.
fn check(status: CUresult) -> Result<(), Failed> {
    if status == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{status:?}").into()) }
}

/// The driver has what its release brought, and nothing that came later.
fn every_function_of_its_release_is_there() -> Result<(), Failed> {
    let driver = LIBRARY.open()?;
    let version = driver.version().unwrap();
    let mut differing = Vec::new();
    for symbol in SYMBOLS {
        // No Linux driver that was looked at has this one.
        let is_expected = symbol.since <= version && symbol.name != c"cuEventCreateFromEGLSync";
        if driver.symbol(symbol.name).is_some() != is_expected {
            differing.push(symbol.name);
        }
    }
    // A driver newer than its version says has functions of the next release.
    assert!(differing.is_empty(), "CUDA {version}: {differing:?}");
    Ok(())
}

fn device() -> Result<CUdevice, Failed> {
    let mut device = CUdevice::default();
    // SAFETY: it writes one handle.
    check(unsafe { cuDeviceGet(&mut device, 0) })?;
    Ok(device)
}

fn total_memory_agrees() -> Result<(), Failed> {
    let mut bytes = 0;
    // SAFETY: it writes one number.
    check(unsafe { cuDeviceTotalMem_v2(&mut bytes, device()?) })?;
    let output = Command::new("nvidia-smi")
        .args(["--id=0", "--query-gpu=memory.total", "--format=csv,noheader,nounits"])
        .output()?;
    let mebibytes: usize = String::from_utf8(output.stdout)?.trim().parse()?;
    let difference = mebibytes.abs_diff(bytes >> 20);
    // The tool counts what the driver keeps for itself; an old function would say 4096 at most.
    assert!(difference * 50 < mebibytes, "{} and {mebibytes} MiB", bytes >> 20);
    Ok(())
}

fn constants_have_its_names() -> Result<(), Failed> {
    let mut named = 0;
    for code in 0..1000 {
        let Some(name) = CUresult(code).name() else { continue };
        assert_eq!(format!("{:?}", CUresult(code)), name.to_str()?);
        named += 1;
    }
    assert!(named > 80, "{named} codes have a name");
    assert_eq!(CUresult(9999).name(), None);
    Ok(())
}

fn unknown_attributes_are_refused() -> Result<(), Failed> {
    let mut value = -5;
    let attribute = CUdevice_attribute(100_000);
    // SAFETY: it writes one number at most.
    let status = unsafe { cuDeviceGetAttribute(&mut value, attribute, device()?) };
    assert_eq!((status, value), (CUresult::CUDA_ERROR_INVALID_VALUE, -5));
    Ok(())
}

/// Makes the primary context current while `body` runs.
fn in_context(body: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    let (device, mut context) = (device()?, ptr::null_mut());
    // SAFETY: it writes one handle.
    check(unsafe { cuDevicePrimaryCtxRetain(&mut context, device) })?;
    // SAFETY: the context is retained.
    check(unsafe { cuCtxPushCurrent_v2(context) })?;
    let result = body();
    // SAFETY: the context was pushed above.
    check(unsafe { cuCtxPopCurrent_v2(&mut context) })?;
    // SAFETY: the context was retained above.
    check(unsafe { cuDevicePrimaryCtxRelease_v2(device) })?;
    result
}

fn bytes_come_back() -> Result<(), Failed> {
    in_context(|| {
        let sent: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let mut received = vec![0_u8; sent.len()];
        let mut address = CUdeviceptr::default();
        // SAFETY: it writes one address.
        check(unsafe { cuMemAlloc_v2(&mut address, sent.len()) })?;
        // SAFETY: both sides have that many bytes.
        check(unsafe { cuMemcpyHtoD_v2(address, sent.as_ptr().cast(), sent.len()) })?;
        // SAFETY: both sides have that many bytes.
        check(unsafe { cuMemcpyDtoH_v2(received.as_mut_ptr().cast(), address, sent.len()) })?;
        // SAFETY: it was allocated above.
        check(unsafe { cuMemFree_v2(address) })?;
        assert_eq!(sent, received);
        Ok(())
    })
}

/// A record with a union and flags is read by the driver as it was written.
fn a_pool_takes_its_properties() -> Result<(), Failed> {
    in_context(|| {
        let mut properties = CUmemPoolProps::zeroed();
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = CUmemLocation::device(0);
        properties.handleTypes =
            CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let mut pool = ptr::null_mut();
        // SAFETY: the record is complete.
        check(unsafe { cuMemPoolCreate(&mut pool, &properties) })?;
        let mut access = CUmemAccess_flags::default();
        let mut location = CUmemLocation::device(0);
        // SAFETY: it writes one value.
        check(unsafe { cuMemPoolGetAccess(&mut access, pool, &mut location) })?;
        assert_eq!(access, CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        // SAFETY: it was created above.
        check(unsafe { cuMemPoolDestroy(pool) })
    })
}
