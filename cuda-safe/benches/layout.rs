//! Operations on layouts of three axes, and ndarray's equivalents beside them.
//!
//! ndarray's views carry a pointer and a type, ours an item size; the arithmetic is the same. Where
//! ndarray has no equivalent, ours stands alone.

use std::hint::black_box;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use cuda_safe::StridedLayout;
use cuda_safe::layout::{Order, Packing, s};
use ndarray::{ArrayView3, Axis, ShapeBuilder, s as nd_s};

type Group<'a> = BenchmarkGroup<'a, WallTime>;

const SHAPE: [i64; 3] = [576, 768, 3];
const STRIDES: [i64; 3] = [2560, 3, 1];

fn padded() -> Option<StridedLayout> {
    StridedLayout::from_byte_strides(&SHAPE, &STRIDES, 1).ok()
}

fn dense() -> Option<StridedLayout> {
    StridedLayout::dense(&SHAPE, 1, Order::C).ok()
}

fn ours(criterion: &mut Criterion) {
    let (Some(padded), Some(dense)) = (padded(), dense()) else { return };
    let mut group = criterion.benchmark_group("layout");
    construct(&mut group);
    properties(&mut group, &padded, &dense);
    axes(&mut group, &padded, &dense);
    parts(&mut group, &padded, &dense);
    group.finish();
}

fn construct(group: &mut Group<'_>) {
    group.bench_function("from_byte_strides", |b| {
        b.iter(|| StridedLayout::from_byte_strides(black_box(&SHAPE), black_box(&STRIDES), 1));
    });
    group.bench_function("dense", |b| {
        b.iter(|| StridedLayout::dense(black_box(&SHAPE), 1, Order::C));
    });
}

fn properties(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    group.bench_function("clone", |b| b.iter(|| black_box(padded).clone()));
    group.bench_function("equal", |b| b.iter(|| black_box(padded) == black_box(padded)));
    group.bench_function("volume", |b| b.iter(|| black_box(padded).volume()));
    group.bench_function("required_size", |b| b.iter(|| black_box(padded).required_size()));
    group.bench_function("stride_order", |b| b.iter(|| black_box(padded).stride_order()));
    group.bench_function("is_dense", |b| b.iter(|| black_box(dense).is_dense()));
    group.bench_function("is_contiguous, padded", |b| {
        b.iter(|| black_box(padded).is_contiguous());
    });
    group.bench_function("is_unique", |b| b.iter(|| black_box(padded).is_unique()));
    group.bench_function("element_strides", |b| b.iter(|| black_box(padded).element_strides()));
    group.bench_function("offset_of", |b| {
        b.iter(|| black_box(padded).offset_of(black_box(&[100, 50, 2])));
    });
    group.bench_function("max_compatible_item_size", |b| {
        b.iter(|| black_box(padded).max_compatible_item_size(16, Packing::LAST_AXIS));
    });
}

fn axes(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    group
        .bench_function("permute", |b| b.iter(|| black_box(padded).permute(black_box(&[2, 0, 1]))));
    group.bench_function("transpose", |b| b.iter(|| black_box(padded).transpose()));
    group.bench_function("squeeze", |b| b.iter(|| black_box(padded).squeeze()));
    group.bench_function("unsqueeze", |b| b.iter(|| black_box(padded).unsqueeze(black_box(&[0]))));
    group.bench_function("broadcast_to", |b| {
        b.iter(|| black_box(padded).broadcast_to(black_box(&[4, 576, 768, 3])));
    });
    group.bench_function("reshape", |b| {
        b.iter(|| black_box(dense).reshape(black_box(&[-1, 384, 3])));
    });
    group.bench_function("flatten", |b| b.iter(|| black_box(padded).flatten()));
    group.bench_function("coalesce", |b| b.iter(|| black_box(padded).coalesce()));
    group.bench_function("to_dense", |b| b.iter(|| black_box(padded).to_dense(Order::Keep)));
}

fn parts(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    group.bench_function("slice", |b| {
        b.iter(|| black_box(padded).slice(black_box(&s![100..400, 50..350, ..])));
    });
    group.bench_function("slice, steps", |b| {
        b.iter(|| black_box(padded).slice(black_box(&s![..;-1, 50..350;2, 0])));
    });
    group.bench_function("flip", |b| b.iter(|| black_box(padded).flip(black_box(0))));
    group.bench_function("split_at", |b| b.iter(|| black_box(padded).split_at(1, black_box(300))));
    group.bench_function("diagonal", |b| b.iter(|| black_box(padded).diagonal(0, 0, 1)));
    group
        .bench_function("windows", |b| b.iter(|| black_box(padded).windows(black_box(&[3, 3, 1]))));
    group.bench_function("repack", |b| {
        b.iter(|| black_box(padded).repack(black_box(3), Packing::LAST_AXIS));
    });
    group.bench_function("overlap", |b| b.iter(|| black_box(padded).overlap(black_box(dense))));
}

fn theirs(criterion: &mut Criterion) {
    let bytes = vec![0_u8; 576 * 2560];
    let shape = (576, 768, 3).strides((2560, 3, 1));
    let Ok(padded) = ArrayView3::from_shape(shape, &bytes) else { return };
    let dense_bytes = vec![0_u8; 576 * 768 * 3];
    let Ok(dense) = ArrayView3::from_shape((576, 768, 3), &dense_bytes) else { return };
    let mut group = criterion.benchmark_group("ndarray");
    group.bench_function("from_byte_strides", |b| {
        b.iter(|| ArrayView3::from_shape(black_box(shape), black_box(&bytes)).is_ok());
    });
    group.bench_function("clone", |b| b.iter(|| *black_box(&padded)));
    group.bench_function("is_dense", |b| b.iter(|| black_box(&dense).is_standard_layout()));
    group.bench_function("permute", |b| {
        b.iter(|| black_box(&padded).view().permuted_axes(black_box([2, 0, 1])));
    });
    group.bench_function("transpose", |b| b.iter(|| black_box(&padded).view().reversed_axes()));
    group.bench_function("unsqueeze", |b| {
        b.iter(|| black_box(&padded).view().insert_axis(Axis(0)));
    });
    group.bench_function("broadcast_to", |b| {
        b.iter(|| black_box(&padded).broadcast(black_box((4, 576, 768, 3))));
    });
    group.bench_function("reshape", |b| {
        b.iter(|| black_box(&dense).into_shape_with_order(black_box((1152, 384, 3))));
    });
    group.bench_function("slice", |b| {
        b.iter(|| black_box(&padded).slice_move(black_box(nd_s![100..400, 50..350, ..])));
    });
    group.bench_function("slice, steps", |b| {
        b.iter(|| black_box(&padded).slice_move(black_box(nd_s![..;-1, 50..350;2, 0])));
    });
    group.bench_function("flip", |b| {
        b.iter(|| {
            let mut view = black_box(&padded).view();
            view.invert_axis(Axis(0));
            view
        });
    });
    group.bench_function("split_at", |b| {
        b.iter(|| black_box(&padded).split_at(Axis(1), black_box(300)));
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    ours(&mut criterion);
    theirs(&mut criterion);
    criterion.final_summary();
}
