//! A raw call through the table against a directly linked call to the same tiny library, in one
//! run: `cargo bench -p cuda-sys`. The table must cost at most a tenth more.
//!
//! The library and a program part that is linked to it are built here by the Rust compiler, so that
//! no build of the crate needs them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark may panic")]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use criterion::Criterion;
use cuda_sys::{CUresult, cuDriverGetVersion};

/// The driver: one function that does next to nothing.
const DRIVER: &str = "
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn cuDriverGetVersion(version: *mut i32) -> u32 {
    unsafe { *version = 13000 };
    0
}";

/// The same loop as below, linked to the driver.
const LINKED: &str = "
use std::hint::black_box;
#[link(name = \"cuda\")]
unsafe extern \"C\" { fn cuDriverGetVersion(version: *mut i32) -> u32; }
#[unsafe(no_mangle)]
pub extern \"C\" fn run(calls: u64) {
    let mut version = 0;
    for _ in 0..calls {
        black_box(unsafe { cuDriverGetVersion(black_box(&mut version)) });
    }
}";

fn build(folder: &Path, name: &str, source: &str) {
    let file = folder.join("source.rs");
    std::fs::write(&file, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--crate-type=cdylib", "--edition=2024", "-Copt-level=3", "--crate-name=tiny"])
        .arg(format!("-Clink-arg=-Wl,-rpath,{}", folder.display()))
        .args(["-L".as_ref(), folder.as_os_str(), "-o".as_ref()])
        .args([folder.join(name), file])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Runs the loop through the table.
fn through_table(calls: u64) {
    let mut version = 0;
    for _ in 0..calls {
        // SAFETY: it writes one number.
        let status = black_box(unsafe { cuDriverGetVersion(black_box(&mut version)) });
        debug_assert_eq!(status, CUresult::CUDA_SUCCESS);
    }
}

fn timed(run: impl Fn(u64), calls: u64) -> Duration {
    let start = Instant::now();
    run(calls);
    start.elapsed()
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    build(folder.path(), "libcuda.so", DRIVER);
    build(folder.path(), "liblinked.so", LINKED);
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("CUDA_SYS_DRIVER", folder.path().join("libcuda.so")) };
    // SAFETY: the library has no initialiser.
    let library = unsafe { libloading::Library::new(folder.path().join("liblinked.so")) }.unwrap();
    // SAFETY: declared so above.
    let linked = *unsafe { library.get::<extern "C" fn(u64)>(b"run\0") }.unwrap();
    through_table(1);

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("cuDriverGetVersion of a tiny library");
    group.bench_function("linked", |b| b.iter_custom(|calls| timed(|calls| linked(calls), calls)));
    group.bench_function("table", |b| b.iter_custom(|calls| timed(through_table, calls)));
    group.finish();
    report_ratio(linked);
    criterion.final_summary();
}

/// Prints the median ratio of interleaved pairs, which is robust where two means are not.
#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn report_ratio(linked: extern "C" fn(u64)) {
    const CALLS: u64 = 1_000_000;
    let pair = |_| {
        let table = timed(through_table, CALLS).as_secs_f64();
        table / timed(|calls| linked(calls), CALLS).as_secs_f64()
    };
    let mut ratios: Vec<f64> = (0..101).map(pair).collect();
    ratios.sort_by(f64::total_cmp);
    println!("table / linked, median of {}: {:.3}", ratios.len(), ratios[ratios.len() / 2]);
}
