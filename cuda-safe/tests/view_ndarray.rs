//! Views of the host as `ndarray`'s, and back.

#![cfg(feature = "ndarray")]
use cuda_safe::layout::{Order, StridedLayout, s};
use cuda_safe::{Rule, View, ViewMut};
use ndarray::{Array2, Array3, ArrayView0, Axis, s as nd};

fn rule<T>(answer: cuda_safe::Result<T>) -> Option<Rule> {
    answer.err().and_then(|error| error.rule())
}

#[test]
fn a_view_is_the_same_array_for_ndarray() {
    let numbers: Vec<i32> = (0..60).collect();
    let theirs = Array3::from_shape_vec((3, 4, 5), numbers.clone()).unwrap();
    let layout = StridedLayout::dense(&[3, 4, 5], 4, Order::C).unwrap();
    let ours = View::of_slice(&numbers, layout).unwrap();
    let check = |ours: View<'_, i32>, theirs: ndarray::ArrayViewD<'_, i32>| {
        assert_eq!(ours.as_ndarray().unwrap(), theirs);
        // And back: the same elements at the same places.
        let again = View::of_ndarray(&theirs).unwrap();
        assert_eq!(again.as_ndarray().unwrap(), theirs);
        assert_eq!(again.layout().shape(), ours.layout().shape());
    };
    check(ours.clone(), theirs.view().into_dyn());
    let part = ours.slice(&s![..;-1, 1..3, ..;2]).unwrap();
    check(part, theirs.slice(nd![..;-1, 1..3, ..;2]).into_dyn());
    check(ours.transpose().unwrap(), theirs.t().into_dyn());
    check(ours.flip(2).unwrap(), theirs.slice(nd![.., .., ..;-1]).into_dyn());
    let repeated = ours.slice(&s![0..1]).unwrap().broadcast_to(&[7, 4, 5]).unwrap();
    check(repeated, theirs.slice(nd![0..1, .., ..]).broadcast((7, 4, 5)).unwrap().into_dyn());
    check(ours.windows(&[3, 4, 5]).unwrap().squeeze().unwrap(), theirs.view().into_dyn());
    let one = ours.slice(&s![1, 2, 3]).unwrap();
    check(one, ArrayView0::from_shape((), &[33]).unwrap().into_dyn());
    let none = ours.slice(&s![3.., ..;-1]).unwrap();
    assert_eq!(none.as_ndarray().unwrap().shape(), [0, 4, 5]);
}

#[test]
fn what_is_written_through_one_is_read_through_the_other() {
    let mut numbers = [0_u16; 12];
    let layout = StridedLayout::dense(&[3, 4], 2, Order::C).unwrap();
    let view = ViewMut::of_mut_slice(&mut numbers, layout).unwrap();
    let (left, mut right) = view.split_at(1, 1).unwrap();
    let mut left = left.flip(0).unwrap();
    left.as_ndarray().unwrap().iter_mut().zip(1..).for_each(|(at, number)| *at = number);
    right.as_ndarray().unwrap().fill(9);
    assert_eq!(numbers, [3, 9, 9, 9, 2, 9, 9, 9, 1, 9, 9, 9]);

    let mut matrix = Array2::<f32>::zeros((4, 4));
    let mut backwards = matrix.slice_mut(nd![..;-2, ..]);
    backwards.invert_axis(Axis(1));
    let mut ours = ViewMut::of_ndarray(backwards).unwrap();
    assert_eq!(ours.layout().byte_strides(), [-32, -4]);
    // The rows between belong to whoever lent these.
    let all = StridedLayout::dense(&[12], 4, Order::C).unwrap();
    assert_eq!(rule(ours.as_view().with_layout(all)), Some(Rule::Whole));
    ours.as_ndarray().unwrap().fill(2.0);
    assert_eq!(matrix.column(0).to_vec(), [0.0, 2.0, 0.0, 2.0]);
}

#[test]
fn what_ndarray_cannot_hold_is_refused_with_numbers() {
    let bytes = [0_u8; 64];
    let numbers = [0_u32; 16];
    let layout = |shape: &[i64], strides: &[i64], item_size| {
        StridedLayout::from_byte_strides(shape, strides, item_size).unwrap()
    };
    let view = View::of_slice(&numbers, layout(&[3], &[6], 4)).unwrap();
    assert_eq!(
        view.as_ndarray().unwrap_err().to_string(),
        "View::as_ndarray: `layout` breaks Strides: needs a multiple of 4, has 6"
    );
    let view = View::of_slice(&numbers, layout(&[3], &[-6], 4).with_byte_offset(12).unwrap());
    assert_eq!(rule(view.unwrap().as_ndarray()), Some(Rule::Strides));
    let view = View::of_slice(&numbers, layout(&[3], &[4], 4).with_byte_offset(2).unwrap());
    assert_eq!(
        view.unwrap().as_ndarray().unwrap_err().to_string(),
        "View::as_ndarray: `layout` breaks Align: needs 4, has 2"
    );
    // A stride that takes no step is none of ndarray's business.
    assert!(View::of_slice(&numbers, layout(&[1, 2], &[7, 4], 4)).unwrap().as_ndarray().is_ok());
    let many = layout(&[1 << 40, 1 << 40], &[0, 0], 1);
    let view = View::of_slice(&bytes, many).unwrap();
    assert_eq!(rule(view.as_ndarray()), Some(Rule::Fit));
    let many = layout(&[1 << 40, 1 << 40, 0], &[0, 0, 0], 1);
    assert_eq!(rule(View::of_slice(&bytes, many).unwrap().as_ndarray()), Some(Rule::Fit));
}
