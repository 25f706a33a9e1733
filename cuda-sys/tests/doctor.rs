//! The `doctor` example against fake drivers. Row 21 of the log of public reports.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use support::FakeDriver;

/// Builds the example with `panic=abort`, under which nothing can be caught: row 5.
fn doctor() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let this = std::env::current_exe().unwrap();
        let folder = this.ancestors().nth(2).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--offline", "--quiet", "--package=cuda-sys", "--all-features"]);
        cargo.arg("--example=doctor").current_dir(env!("CARGO_MANIFEST_DIR"));
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        // Of the last crate alone: what it is linked to was built for this test already.
        let output = cargo.args(["--", "-Cpanic=abort"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        folder.join("examples").join(format!("doctor{}", std::env::consts::EXE_SUFFIX))
    })
}

/// Runs it; returns whether a device can be used, and what it prints.
fn ask(variables: &[(&str, &Path)], arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(doctor());
    command.env_remove("CUDA_SYS_DRIVER").env_remove("LD_LIBRARY_PATH");
    let Output { status, stdout, stderr } =
        command.envs(variables.iter().copied()).args(arguments).output().unwrap();
    assert!(status.code().is_some(), "{status}");
    assert!(stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
    (status.success(), String::from_utf8(stdout).unwrap())
}

fn named(driver: &FakeDriver, arguments: &[&str]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = driver.build(folder.path(), "libcuda.so.1");
    ask(&[("CUDA_SYS_DRIVER", &file)], arguments)
}

#[test]
fn reports_05_and_21_no_driver() {
    if Path::new("/dev/nvidiactl").exists() {
        return;
    }
    let (works, text) = ask(&[], &[]);
    assert!(!works, "the exit status says so, as the program's own decision");
    assert!(text.contains("driver    none"), "{text}");
    assert!(text.contains("tried libcuda.so.1"), "{text}");
    assert!(text.contains("install the NVIDIA driver"), "{text}");
}

#[test]
fn reports_21_a_file_that_is_not_there() {
    let (works, text) = ask(&[("CUDA_SYS_DRIVER", Path::new("/nowhere/libcuda.so.1"))], &[]);
    assert!(!works);
    assert!(text.contains("names /nowhere/libcuda.so.1, which does not exist"), "{text}");
}

#[test]
fn reports_21_a_stub() {
    let stub = FakeDriver::empty().returning("cuInit", 34).returning("cuDriverGetVersion", 34);
    let (works, text) = named(&stub, &[]);
    assert!(!works);
    assert!(text.contains("is the stub library of a CUDA toolkit"), "{text}");
    assert!(text.contains("take the stubs folder out of the library search path"), "{text}");
}

#[test]
fn reports_21_an_old_driver() {
    let old = FakeDriver::of_version(11020)
        .with("fn cuDeviceGetCount(count: *mut i32) -> u32 { unsafe { *count = 1 }; 0 }")
        .with("fn cuDeviceGet(device: *mut i32, ordinal: i32) -> u32 { unsafe { *device = ordinal }; 0 }")
        .with(
            "fn cuDeviceGetName(name: *mut u8, _length: i32, _device: i32) -> u32 {
                unsafe { name.copy_from(c\"Fake K80\".as_ptr().cast(), 9) };
                0
            }",
        )
        .with("fn cuDeviceTotalMem_v2(bytes: *mut usize, _: i32) -> u32 { unsafe { *bytes = 12 << 30 }; 0 }")
        .with("fn cuDeviceGetAttribute(v: *mut i32, which: u32, _: i32) -> u32 { unsafe { *v = which as i32 - 72 }; 0 }");
    let (works, text) = named(&old, &["--missing"]);
    assert!(works);
    assert!(text.contains("version   CUDA 11.2"), "{text}");
    assert!(text.contains("0: Fake K80, compute capability 3.4, 12288 MiB"), "{text}");
    assert!(text.contains("CUDA 11.2 is too old: 11.8 is the oldest"), "{text}");
    assert!(text.contains("cuCtxGetId (CUDA 12.0)"), "{text}");
}

#[test]
fn reports_21_no_device() {
    let driver = FakeDriver::of_version(12040).returning("cuGetErrorString", 1);
    let no_device = FakeDriver::empty()
        .returning("cuInit", 100)
        .with("fn cuDriverGetVersion(version: *mut i32) -> u32 { unsafe { *version = 12040 }; 0 }");
    let (works, text) = named(&no_device, &[]);
    assert!(!works);
    assert!(text.contains("the driver works, but sees no device"), "{text}");
    let (works, text) = named(&driver, &[]);
    assert!(!works, "a driver that cannot count devices: {text}");
}
