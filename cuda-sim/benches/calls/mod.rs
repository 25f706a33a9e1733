//! What calls cost: empty ones, small ones, copies against a plain `memcpy`, and long programs.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use cuda_sim::{Config, FindingKind};
use cuda_sys::*;

use crate::common::*;
use crate::programs;

/// Measures all, with reports or without.
pub(crate) fn measure(name: &str, config: Config) {
    cuda_sim::install(config).unwrap();
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    start();
    calls(&mut criterion, name);
    copies(&mut criterion, name);
    end();
    long_programs(&mut criterion, name);
    criterion.final_summary();
    assert_eq!(cuda_sim::finish().count(FindingKind::Race), 0);
}

fn calls(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group(format!("{name}: a call"));
    let (mine, memory, done) = (stream(1), alloc(256), event());
    group.bench_function("cuCtxGetCurrent", |b| {
        let mut context = std::ptr::null_mut();
        b.iter(|| code!(cuCtxGetCurrent(black_box(&mut context))));
    });
    group.bench_function("cuStreamQuery", |b| b.iter(|| code!(cuStreamQuery(black_box(mine)))));
    group.bench_function("cuEventRecord", |b| {
        b.iter(|| code!(cuEventRecord(done, black_box(mine))))
    });
    group.bench_function("cuMemsetD8Async of 256 bytes", |b| {
        b.iter(|| code!(cuMemsetD8Async(black_box(memory), 1, 256, mine)));
    });
    group.bench_function("cuMemAlloc and cuMemFree of 4096 bytes", |b| {
        b.iter(|| free(alloc(black_box(4096))));
    });
    group.finish();
    ok!(cuStreamDestroy_v2(mine));
    ok!(cuEventDestroy_v2(done));
    free(memory);
}

fn copies(criterion: &mut Criterion, name: &str) {
    for bytes in [4 << 10, 64 << 20] {
        let mut group = criterion.benchmark_group(format!("{name}: a copy of {} KiB", bytes >> 10));
        group.throughput(Throughput::Bytes(bytes as u64));
        let (device, other, page) = (alloc(bytes), alloc(bytes), pinned(bytes));
        let (mut left, right) = (vec![1_u8; bytes], vec![2_u8; bytes]);
        for memory in [device, other, CUdeviceptr(page as u64)] {
            ok!(cuMemsetD8_v2(memory, 3, bytes));
        }
        ok!(cuCtxSynchronize());
        group.bench_function("memcpy", |b| b.iter(|| left.copy_from_slice(black_box(&right))));
        group.bench_function("device to device", |b| {
            b.iter(|| code!(cuMemcpyDtoDAsync_v2(other, black_box(device), bytes, LEGACY)));
        });
        group.bench_function("pageable to device", |b| {
            b.iter(|| code!(cuMemcpyHtoD_v2(black_box(device), right.as_ptr().cast(), bytes)));
        });
        group.bench_function("device to pageable", |b| {
            b.iter(|| code!(cuMemcpyDtoH_v2(left.as_mut_ptr().cast(), black_box(device), bytes)));
        });
        group.bench_function("pinned to device", |b| {
            b.iter(|| code!(cuMemcpyHtoDAsync_v2(black_box(device), page.cast(), bytes, LEGACY)));
        });
        group.finish();
        ok!(cuCtxSynchronize());
        free(device);
        free(other);
        ok!(cuMemFreeHost(page.cast()));
    }
}

/// How many streams a long program has at a time.
const STREAMS: usize = 8;

fn long_programs(criterion: &mut Criterion, name: &str) {
    let mut group = criterion.benchmark_group(format!("{name}: a random program"));
    group.sample_size(10);
    for steps in [2_500, 10_000, 40_000] {
        let program = programs::of_seed(7, steps, STREAMS);
        group.throughput(Throughput::Elements(steps as u64));
        group.bench_function(BenchmarkId::from_parameter(steps), |b| {
            b.iter_batched(
                || (),
                |()| assert!(programs::run(&program, STREAMS, None, false).is_right),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}
