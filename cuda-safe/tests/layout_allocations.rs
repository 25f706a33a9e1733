//! Layouts of up to six axes never use the heap.

#![expect(unsafe_code, reason = "an allocator that counts is an unsafe trait")]
#![expect(clippy::unwrap_used, reason = "a helper that may fail fails the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Ellipsis, NewAxis, Order, Packing, s};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller passes what `alloc` returned for this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(of: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    of();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| drop(StridedLayout::dense(&[1; 7], 1, Order::C))), 3);
}

#[test]
fn operations_on_up_to_six_axes_do_not_allocate() {
    let shape = [3, 4, 5, 6, 7, 8];
    for ndim in 0..=6 {
        let count = allocations(|| all_operations(&shape[..ndim]));
        assert_eq!(count, 0, "{ndim} axes");
    }
}

/// Runs every operation whose result has at most six axes.
fn all_operations(shape: &[i64]) {
    let axes: &[i64] = &[5, 4, 3, 2, 1, 0];
    let (_, axes) = axes.split_at(6 - shape.len());
    let layout = StridedLayout::dense(shape, 4, Order::F).unwrap();
    let strides = layout.byte_strides();
    black_box(StridedLayout::from_byte_strides(shape, strides, 4).unwrap());
    black_box(StridedLayout::from_element_strides(shape, strides, 1).unwrap());
    black_box(layout.to_dense(Order::Axes(axes)).unwrap());
    black_box(layout.to_dense(Order::Keep).unwrap());
    black_box(layout.permute(axes).unwrap());
    black_box(layout.transpose().unwrap().reshape(&[-1]).unwrap());
    black_box(layout.flatten().unwrap());
    black_box(layout.squeeze().unwrap());
    black_box(layout.broadcast_to(shape).unwrap());
    black_box(layout.coalesce_with(&layout).unwrap());
    black_box(layout.with_byte_offset(64).unwrap());
    black_box(layout.slice(&s![Ellipsis]).unwrap());
    black_box((layout.is_dense(), layout.is_unique(), layout.required_size().unwrap()));
    black_box((layout.stride_order(), layout.element_strides(), layout.volume().unwrap()));
    black_box(layout.overlap(&layout.with_byte_offset(2).unwrap()));
    black_box(layout.offsets().sum::<i64>());
    black_box(layout == layout.clone());
    if shape.is_empty() {
        return;
    }
    black_box(layout.flip(0).unwrap());
    black_box(layout.slice(&s![1..;2, Ellipsis]).unwrap());
    black_box(layout.slice(&s![1, NewAxis, Ellipsis]).unwrap());
    black_box(layout.split_at(0, 1).unwrap());
    black_box(layout.chunks(-1, 2).unwrap().count());
    let packing = Packing { axis: 0, ..Packing::LAST_AXIS };
    black_box(layout.repack(2, packing).unwrap());
    black_box(layout.max_compatible_item_size(16, packing).unwrap());
    if let 2..=5 = shape.len() {
        black_box(layout.diagonal(0, 0, 1).unwrap());
        black_box(layout.unfold(0, 2, 1).unwrap());
        black_box(layout.unsqueeze(&[0]).unwrap());
    }
}
