//! Says which CUDA driver answers and why, what it lacks, and in plain words what is wrong.
//!
//! `cargo run --example doctor` needs neither a driver nor a toolkit. `-- --missing` lists the
//! functions that the driver lacks. The exit status is 0 if a device can be used.

use core::ffi::{CStr, c_char, c_int};
use std::io::{self, Write as _};
use std::process::ExitCode;

use cuda_sys::{
    CUdevice, CUdevice_attribute, CUresult, LIBRARY, LoadError, Opened, Origin, SYMBOLS, Version,
    cuDeviceGet, cuDeviceGetAttribute, cuDeviceGetCount, cuDeviceGetName, cuDeviceTotalMem_v2,
    cuInit,
};

/// The oldest CUDA version whose drivers are supported.
const OLDEST_SUPPORTED: Version = Version::new(11, 8);

fn main() -> ExitCode {
    let newest = LIBRARY.specification().newest;
    row("binding", &format!("{} functions, up to CUDA {newest}", SYMBOLS.len()));
    let driver = match LIBRARY.open() {
        Ok(driver) => driver,
        Err(error) => {
            row("driver", "none");
            row("because", &error.to_string());
            row("verdict", no_driver(&error));
            return ExitCode::FAILURE;
        }
    };
    describe(driver);
    let (verdict, works) = verdict(driver);
    row("verdict", &verdict);
    if works { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(name: &str, text: &str) {
    // Whoever reads may stop reading.
    let _ = writeln!(io::stdout(), "{name:<9} {text}");
}

/// Says what to do without a driver.
fn no_driver(error: &LoadError) -> &'static str {
    match error {
        LoadError::Stub { .. } => {
            "only a toolkit's stub was found, which programs are linked to and never run with; \
             install the NVIDIA driver, or take the stubs folder out of the library search path"
        }
        LoadError::NotFound { .. } if is_wsl() => {
            "this is WSL: install the NVIDIA driver on Windows, none inside Linux, and see that \
             /usr/lib/wsl/lib is there"
        }
        LoadError::NotFound { .. } if has_device_files() => {
            "the kernel has NVIDIA's driver, but its libcuda.so.1 is not here; in a container, \
             start it with the NVIDIA runtime"
        }
        LoadError::NotFound { .. } => "install the NVIDIA driver; a CUDA toolkit is not needed",
        LoadError::AnotherMapped { .. } => "unset the variable, or name the driver that is in use",
        _ => "name another file or unset the variable; a driver of this machine's kind is needed",
    }
}

fn is_wsl() -> bool {
    let version = std::fs::read_to_string("/proc/version").unwrap_or_default();
    version.to_lowercase().contains("microsoft")
}

fn has_device_files() -> bool {
    std::path::Path::new("/dev/nvidiactl").exists()
}

/// Prints the file, the version and what the driver lacks.
fn describe(driver: &Opened) {
    row("driver", &driver.origin().to_string());
    if let Origin::File { reason, .. } = driver.origin() {
        row("because", reason);
    }
    let Some(version) = driver.version() else {
        row("version", "unknown: it has no cuDriverGetVersion that answers");
        return;
    };
    let missing: Vec<_> =
        SYMBOLS.iter().filter(|symbol| driver.symbol(symbol.name).is_none()).collect();
    row("version", &format!("CUDA {version}"));
    row("lacks", &format!("{} of the binding's functions", missing.len()));
    if std::env::args().any(|argument| argument == "--missing") {
        for symbol in missing {
            row("", &format!("{} (CUDA {})", symbol.name.to_string_lossy(), symbol.since));
        }
    }
}

/// Tries the driver; says in words how it went, and whether a device can be used.
fn verdict(driver: &Opened) -> (String, bool) {
    // SAFETY: may be called at any time.
    let status = unsafe { cuInit(0) };
    if status == CUresult::CUDA_ERROR_NO_DEVICE {
        return ("the driver works, but sees no device".to_owned(), false);
    }
    if status != CUresult::CUDA_SUCCESS {
        let text = status.description().map(CStr::to_string_lossy).unwrap_or_default();
        return (format!("the driver does not start: {status:?} ({}) {text}", status.0), false);
    }
    let mut count = 0;
    // SAFETY: it writes one number.
    let status = unsafe { cuDeviceGetCount(&mut count) };
    if status != CUresult::CUDA_SUCCESS || count == 0 {
        return ("the driver works, but sees no device".to_owned(), false);
    }
    for ordinal in 0..count {
        row("device", &device(ordinal));
    }
    match driver.version() {
        Some(version) if version < OLDEST_SUPPORTED => {
            let why = format!("{OLDEST_SUPPORTED} is the oldest that is supported");
            (format!("the driver works, but CUDA {version} is too old: {why}"), true)
        }
        _ => ("the driver works".to_owned(), true),
    }
}

/// Describes one device in a line.
fn device(ordinal: c_int) -> String {
    let mut device = CUdevice::default();
    let mut name: [c_char; 128] = [0; 128];
    let mut bytes = 0;
    // SAFETY: it writes one handle.
    let found = unsafe { cuDeviceGet(&mut device, ordinal) };
    // SAFETY: it writes at most 127 characters and a zero.
    let named = unsafe { cuDeviceGetName(name.as_mut_ptr(), 127, device) };
    if found != CUresult::CUDA_SUCCESS || named != CUresult::CUDA_SUCCESS {
        return format!("{ordinal}: cannot be asked: {found:?}, {named:?}");
    }
    // SAFETY: it writes one number.
    let _ = unsafe { cuDeviceTotalMem_v2(&mut bytes, device) };
    // SAFETY: the array is zero where the driver did not write.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy();
    let major = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    let minor = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
    let capability = format!("{}.{}", attribute(device, major), attribute(device, minor));
    format!("{ordinal}: {name}, compute capability {capability}, {} MiB", bytes >> 20)
}

fn attribute(device: CUdevice, attribute: CUdevice_attribute) -> String {
    let mut value = 0;
    // SAFETY: it writes one number.
    match unsafe { cuDeviceGetAttribute(&mut value, attribute, device) } {
        CUresult::CUDA_SUCCESS => value.to_string(),
        _ => "?".to_owned(),
    }
}
