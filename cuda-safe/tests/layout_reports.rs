//! What went wrong with strides in other projects, as they reported it, and goes right here.

#![expect(clippy::unwrap_used, reason = "a helper that may fail fails the test")]

use cuda_safe::StridedLayout;
use cuda_safe::layout::{LayoutRule, Order, Overlap, Packing, Slice, s};

fn bytes(shape: &[i64], strides: &[i64], item_size: i64) -> StridedLayout {
    StridedLayout::from_byte_strides(shape, strides, item_size).unwrap()
}

/// CUDA.jl#27: an offset along the fastest axis was taken in elements where bytes were due.
#[test]
fn row_39_planes_of_a_box_start_where_they_should() {
    let layout = StridedLayout::dense(&[4, 5, 6], 8, Order::C).unwrap();
    for at in [1, 2] {
        assert_eq!(layout.slice(&s![at, .., ..]).unwrap().byte_offset(), at * 240);
        assert_eq!(layout.slice(&s![.., at, ..]).unwrap().byte_offset(), at * 48);
        assert_eq!(layout.slice(&s![.., .., at]).unwrap().byte_offset(), at * 8);
    }
}

/// CuMesh PR#35: a dense array of a million rows was not seen to be one run of bytes.
#[test]
fn row_40_a_dense_array_is_one_run_whatever_its_axes() {
    let dense = StridedLayout::dense(&[2_000_000, 3], 4, Order::C).unwrap();
    for axes in [&[][..], &[0], &[1], &[2], &[0, 2, 4]] {
        let run = dense.unsqueeze(axes).unwrap().coalesce().unwrap();
        assert_eq!((run.shape(), run.byte_strides()), (&[6_000_000][..], &[4][..]));
    }
}

/// Sunshine#5640: now and then a producer gives a row pitch of 0.
#[test]
fn row_41_a_pitch_shorter_than_a_row_is_not_unique() {
    for (pitch, height, unique) in [(0, 2, false), (99, 2, false), (100, 2, true), (0, 1, true)] {
        assert_eq!(bytes(&[height, 100], &[pitch, 1], 1).is_unique(), unique, "pitch {pitch}");
    }
}

/// dace PR#644: a one-dimensional view of every third element was copied as if it were dense.
#[test]
fn row_43_every_third_element_is_not_contiguous() {
    let thirds = StridedLayout::dense(&[1000], 4, Order::C).unwrap().slice(&s![..;3]).unwrap();
    assert_eq!(thirds, bytes(&[334], &[12], 4));
    assert!(!thirds.is_contiguous());
    assert_eq!(thirds.coalesce().unwrap(), thirds);
}

/// CV-CUDA#159: padding bytes appeared as pixels.
#[test]
fn row_44_padding_belongs_to_no_element() {
    let image = bytes(&[4, 3, 3], &[512, 3, 1], 1);
    assert!(image.offsets().all(|offset| offset % 512 < 9));
    assert_eq!(image.to_dense(Order::Keep).unwrap().required_size(), Ok(36));
}

/// alpaka#1819: a copy within one buffer was not checked for overlap.
#[test]
fn row_48_a_shift_by_one_element_overlaps() {
    let buffer = StridedLayout::dense(&[100], 4, Order::C).unwrap();
    let (first, second) = (buffer.slice(&s![..99]).unwrap(), buffer.slice(&s![1..]).unwrap());
    assert_eq!(first.overlap(&second), Overlap::Overlapping);
    let (even, odd) = (buffer.slice(&s![..;2]).unwrap(), buffer.slice(&s![1..;2]).unwrap());
    assert_eq!(even.overlap(&odd), Overlap::Disjoint);
}

/// pytorch#6165: elements that share memory were written to.
#[test]
fn row_49_elements_that_share_memory_are_found() {
    assert!(!bytes(&[5, 6], &[0, 1], 1).is_unique());
    assert!(!bytes(&[2, 2], &[1, 1], 1).is_unique());
    assert!(bytes(&[3, 2], &[2, 1], 1).is_unique());
}

/// cccl PR#3233: contiguity was decided by whether strides were given.
#[test]
fn row_50_contiguity_follows_from_shape_and_strides() {
    assert!(bytes(&[3, 4], &[16, 4], 4).is_c_contiguous());
    assert!(bytes(&[3, 4], &[4, 12], 4).is_f_contiguous());
    assert!(bytes(&[3, 0], &[-7, 5], 4).is_dense());
    assert_eq!(bytes(&[3, 4], &[16, 4], 4), StridedLayout::dense(&[3, 4], 4, Order::C).unwrap());
}

/// cupy#5427: a reversed slice of one element was seen as smaller items with the old stride.
#[test]
fn row_51_a_reversed_slice_of_one_element_has_no_direction() {
    let pair = StridedLayout::dense(&[2], 2, Order::C).unwrap();
    let backwards = Slice { start: Some(1), stop: Some(0), step: -1 };
    let last = pair.slice(&[backwards.into()]).unwrap();
    let halves = last.repack(1, Packing::LAST_AXIS).unwrap();
    assert!(halves.is_contiguous() && halves.offsets().eq([2, 3]));
    let error = pair.flip(0).unwrap().repack(1, Packing::LAST_AXIS).unwrap_err();
    assert_eq!(error.rule(), LayoutRule::AxisNotContiguous { axis: 0, need: 2, have: -2 });
}

/// mdspan#229, ndarray#942: the span of negative strides came out negative or too small.
#[test]
fn row_52_bounds_use_lowest_and_highest_offset() {
    let reversed = bytes(&[3, 4], &[-16, 4], 4);
    assert_eq!(reversed.byte_bounds(), Some((-32, 15)));
    let refused = reversed.required_size().unwrap_err().rule();
    assert_eq!(refused, LayoutRule::NegativeOffset { have: -32 });
    assert_eq!(reversed.with_byte_offset(32).unwrap().required_size(), Ok(48));
}
