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

/// Measures making a result where it stays, and dropping it: it is shown by its address. To show it
/// itself it would be moved, which takes about as long as making it.
fn measure<R>(group: &mut Group<'_>, name: &str, mut call: impl FnMut() -> R) {
    group.bench_function(name, |b| {
        b.iter(|| {
            black_box(&call());
        })
    });
}

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
    measure(group, "from_byte_strides", || {
        StridedLayout::from_byte_strides(black_box(&SHAPE), black_box(&STRIDES), 1)
    });
    measure(group, "dense", || StridedLayout::dense(black_box(&SHAPE), 1, Order::C));
}

fn properties(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    measure(group, "clone", || black_box(padded).clone());
    measure(group, "equal", || black_box(padded) == black_box(padded));
    measure(group, "volume", || black_box(padded).volume());
    measure(group, "required_size", || black_box(padded).required_size());
    measure(group, "stride_order", || black_box(padded).stride_order());
    measure(group, "is_dense", || black_box(dense).is_dense());
    measure(group, "is_contiguous, padded", || black_box(padded).is_contiguous());
    measure(group, "is_unique", || black_box(padded).is_unique());
    measure(group, "element_strides", || black_box(padded).element_strides());
    measure(group, "offset_of", || black_box(padded).offset_of(black_box(&[100, 50, 2])));
    measure(group, "max_compatible_item_size", || {
        black_box(padded).max_compatible_item_size(16, Packing::LAST_AXIS)
    });
}

fn axes(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    measure(group, "permute", || black_box(padded).permute(black_box(&[2, 0, 1])));
    measure(group, "transpose", || black_box(padded).transpose());
    measure(group, "squeeze", || black_box(padded).squeeze());
    measure(group, "unsqueeze", || black_box(padded).unsqueeze(black_box(&[0])));
    measure(group, "broadcast_to", || black_box(padded).broadcast_to(black_box(&[4, 576, 768, 3])));
    measure(group, "reshape", || black_box(dense).reshape(black_box(&[-1, 384, 3])));
    measure(group, "flatten", || black_box(padded).flatten());
    measure(group, "coalesce", || black_box(padded).coalesce());
    measure(group, "to_dense", || black_box(padded).to_dense(Order::Keep));
}

fn parts(group: &mut Group<'_>, padded: &StridedLayout, dense: &StridedLayout) {
    let (part, steps) = (s![100..400, 50..350, ..], s![..;-1, 50..350;2, 0]);
    measure(group, "slice", || black_box(padded).slice(black_box(&part)));
    measure(group, "slice, steps", || black_box(padded).slice(black_box(&steps)));
    measure(group, "flip", || black_box(padded).flip(black_box(0)));
    measure(group, "split_at", || black_box(padded).split_at(1, black_box(300)));
    measure(group, "diagonal", || black_box(padded).diagonal(0, 0, 1));
    measure(group, "windows", || black_box(padded).windows(black_box(&[3, 3, 1])));
    measure(group, "repack", || black_box(padded).repack(black_box(3), Packing::LAST_AXIS));
    measure(group, "overlap", || black_box(padded).overlap(black_box(dense)));
}

fn theirs(criterion: &mut Criterion) {
    let bytes = vec![0_u8; 576 * 2560];
    let shape = (576, 768, 3).strides((2560, 3, 1));
    let Ok(padded) = ArrayView3::from_shape(shape, &bytes) else { return };
    let dense_bytes = vec![0_u8; 576 * 768 * 3];
    let Ok(dense) = ArrayView3::from_shape((576, 768, 3), &dense_bytes) else { return };
    let mut group = criterion.benchmark_group("ndarray");
    measure(&mut group, "from_byte_strides", || {
        ArrayView3::from_shape(black_box(shape), black_box(&bytes)).is_ok()
    });
    measure(&mut group, "clone", || *black_box(&padded));
    measure(&mut group, "is_dense", || black_box(&dense).is_standard_layout());
    measure(&mut group, "permute", || {
        black_box(&padded).view().permuted_axes(black_box([2, 0, 1]))
    });
    measure(&mut group, "transpose", || black_box(&padded).view().reversed_axes());
    measure(&mut group, "unsqueeze", || black_box(&padded).view().insert_axis(Axis(0)));
    measure(&mut group, "broadcast_to", || {
        black_box(&padded).broadcast(black_box((4, 576, 768, 3)))
    });
    measure(&mut group, "reshape", || {
        black_box(&dense).into_shape_with_order(black_box((1152, 384, 3)))
    });
    let (part, steps) = (nd_s![100..400, 50..350, ..], nd_s![..;-1, 50..350;2, 0]);
    measure(&mut group, "slice", || black_box(&padded).slice_move(black_box(&part)));
    measure(&mut group, "slice, steps", || black_box(&padded).slice_move(black_box(&steps)));
    measure(&mut group, "flip", || {
        let mut view = black_box(&padded).view();
        view.invert_axis(Axis(0));
        view
    });
    measure(&mut group, "split_at", || black_box(&padded).split_at(Axis(1), black_box(300)));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    ours(&mut criterion);
    theirs(&mut criterion);
    criterion.final_summary();
}
