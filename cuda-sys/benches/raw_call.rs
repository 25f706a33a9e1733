//! A raw call through the table against a directly linked call of the same function in a shared
//! library, in one run: `cargo bench -p cuda-sys`. The table must cost at most a tenth more.
//!
//! The C library's `getpagesize` stands for a driver's function: it does next to nothing, and this
//! program is linked to it anyway. Both loops call it from this program; a loop in another library
//! would be nearer to it or farther away, which a processor notices.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a benchmark may panic")]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use cuda_sys::{LIBRARY, SymbolSource, cuCtxSynchronize};

unsafe extern "C" {
    fn getpagesize() -> c_int;
}

/// Gives `getpagesize` as `cuCtxSynchronize`: both take nothing and return 32 bits.
struct CLibrary;

// SAFETY: the one function has the signature of the name, but for the sign of what it returns.
unsafe impl SymbolSource for CLibrary {
    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let function = getpagesize as unsafe extern "C" fn() -> c_int;
        (name == c"cuCtxSynchronize").then(|| NonNull::new(function as *mut c_void)).flatten()
    }

    fn describe(&self) -> String {
        "the C library".to_owned()
    }
}

fn linked(calls: u64) {
    for _ in 0..calls {
        // SAFETY: it has no conditions.
        black_box(unsafe { getpagesize() });
    }
}

fn through_table(calls: u64) {
    for _ in 0..calls {
        // SAFETY: it is `getpagesize`.
        let _ = black_box(unsafe { cuCtxSynchronize() });
    }
}

fn timed(run: fn(u64), calls: u64) -> Duration {
    let start = Instant::now();
    run(calls);
    start.elapsed()
}

fn main() {
    LIBRARY.install(Box::new(CLibrary)).unwrap();
    through_table(1);
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("a call of getpagesize");
    group.bench_function("linked", |b| b.iter_custom(|calls| timed(linked, calls)));
    group.bench_function("table", |b| b.iter_custom(|calls| timed(through_table, calls)));
    group.finish();
    report_ratio();
    criterion.final_summary();
}

/// Prints the median ratio of interleaved pairs, which is robust where two means are not.
#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn report_ratio() {
    const CALLS: u64 = 1_000_000;
    let pair = |_| timed(through_table, CALLS).as_secs_f64() / timed(linked, CALLS).as_secs_f64();
    let mut ratios: Vec<f64> = (0..101).map(pair).collect();
    ratios.sort_by(f64::total_cmp);
    println!("table / linked, median of {}: {:.3}", ratios.len(), ratios[ratios.len() / 2]);
}
