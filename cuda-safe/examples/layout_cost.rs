//! What operations on layouts of three axes cost: the least of many runs, so that what else the
//! machine does has little say. The bench `layout` has ndarray's equivalents beside them.
//!
//! `cargo run --release -p cuda-safe --no-default-features --example layout_cost`
#![expect(clippy::print_stdout, reason = "a program that prints a report")]

use std::hint::black_box;
use std::time::Instant;

use cuda_safe::StridedLayout;
use cuda_safe::layout::{LayoutError, Order, Packing, s};

const CALLS: u32 = 500;
const RUNS: u32 = 2_000;

/// Prints the nanoseconds of one call.
fn least<R>(name: &str, mut call: impl FnMut() -> R) {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(&call());
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    println!("{name:26} {least:6.1} ns");
}

fn main() -> Result<(), LayoutError> {
    let (shape, strides) = ([576, 768, 3], [2560, 3, 1]);
    let padded = StridedLayout::from_byte_strides(&shape, &strides, 1)?;
    let dense = StridedLayout::dense(&shape, 1, Order::C)?;
    let (padded, dense) = (&padded, &dense);
    let part = s![100..400, 50..350, ..];
    let steps = s![..;-1, 50..350;2, 0];
    least("from_byte_strides", || {
        StridedLayout::from_byte_strides(black_box(&shape), black_box(&strides), 1)
    });
    least("dense", || StridedLayout::dense(black_box(&shape), 1, Order::C));
    least("clone", || black_box(padded).clone());
    least("equal", || black_box(padded) == black_box(padded));
    least("volume", || black_box(padded).volume());
    least("required_size", || black_box(padded).required_size());
    least("stride_order", || black_box(padded).stride_order());
    least("is_dense", || black_box(dense).is_dense());
    least("is_contiguous, padded", || black_box(padded).is_contiguous());
    least("is_unique", || black_box(padded).is_unique());
    least("element_strides", || black_box(padded).element_strides());
    least("offset_of", || black_box(padded).offset_of(black_box(&[100, 50, 2])));
    least("max_compatible_item_size", || {
        black_box(padded).max_compatible_item_size(16, Packing::LAST_AXIS)
    });
    least("permute", || black_box(padded).permute(black_box(&[2, 0, 1])));
    least("transpose", || black_box(padded).transpose());
    least("squeeze", || black_box(padded).squeeze());
    least("unsqueeze", || black_box(padded).unsqueeze(black_box(&[0])));
    least("broadcast_to", || black_box(padded).broadcast_to(black_box(&[4, 576, 768, 3])));
    least("reshape", || black_box(dense).reshape(black_box(&[-1, 384, 3])));
    least("flatten", || black_box(padded).flatten());
    least("coalesce", || black_box(padded).coalesce());
    least("to_dense", || black_box(padded).to_dense(Order::Keep));
    least("slice", || black_box(padded).slice(black_box(&part)));
    least("slice, steps", || black_box(padded).slice(black_box(&steps)));
    least("flip", || black_box(padded).flip(black_box(0)));
    least("split_at, two layouts", || black_box(padded).split_at(1, black_box(300)));
    least("diagonal", || black_box(padded).diagonal(0, 0, 1));
    least("windows, six axes", || black_box(padded).windows(black_box(&[3, 3, 1])));
    least("repack", || black_box(padded).repack(black_box(3), Packing::LAST_AXIS));
    least("overlap", || black_box(padded).overlap(black_box(dense)));
    Ok(())
}
