//! Views and copies between them, on the simulator under every scheduler, or on a device.

#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuda_safe::layout::{StridedLayout, s};
use cuda_safe::{Context, Device, DeviceBuffer, PinnedBuffer, Plan, Rule, Stream, ViewMut, copy};
use cuda_sim::{Config, on_every_scheduler};

const ROWS: usize = 576;
const WIDTH: usize = 768 * 3;

fn image() -> Vec<u8> {
    (0..ROWS * WIDTH).map(|i| u8::try_from(i * 7 % 251).unwrap()).collect()
}

fn context() -> (Context, Stream) {
    let context = Device::get(0).unwrap().context().unwrap();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}

#[test]
fn a_padded_image_loses_its_padding_on_the_device() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let host = PinnedBuffer::from_slice(&context, &image()).unwrap();
        let mut padded = DeviceBuffer::<u8>::allocate_pitched(&context, WIDTH, ROWS).unwrap();
        assert!(padded.pitch() >= 2304);
        let dense = StridedLayout::from_byte_strides(&[576, 2304], &[2304, 1], 1).unwrap();

        let source = host.view().unwrap().with_layout(dense.clone()).unwrap();
        let plan = copy(&source, &mut padded.view_mut().unwrap(), &stream).unwrap();
        assert!(matches!(plan, Plan::Rows { width: 2304, height: 576, .. }), "{plan}");

        let mut packed = DeviceBuffer::<u8>::allocate(&context, ROWS * WIDTH).unwrap();
        let mut target = ViewMut::new(&mut packed, dense).unwrap();
        copy(&padded.view().unwrap(), &mut target, &stream).unwrap();

        let mut back = PinnedBuffer::<u8>::zeroed(&context, ROWS * WIDTH).unwrap();
        let plan = copy(&packed.view().unwrap(), &mut back.view_mut().unwrap(), &stream).unwrap();
        assert!(matches!(plan, Plan::Linear { bytes: 1_327_104, .. }), "{plan}");
        assert!(back.as_slice().unwrap() == image(), "the bytes are the image's");
    });
}

#[test]
fn a_part_is_copied_and_nothing_else_is_touched() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let host = PinnedBuffer::from_slice(&context, &[9_u8; 40]).unwrap();
        let mut back = PinnedBuffer::from_slice(&context, &[1_u8; 40]).unwrap();
        let grid = StridedLayout::from_byte_strides(&[4, 10], &[10, 1], 1).unwrap();
        let source = host.view().unwrap().with_layout(grid.clone()).unwrap();
        let source = source.slice(&s![1..3, 2..5]).unwrap();
        let target = ViewMut::new(&mut back, grid).unwrap();
        let mut target = target.slice(&s![0..2, 7..10]).unwrap();
        copy(&source, &mut target, &stream).unwrap();
        let mut expected = [1_u8; 40];
        expected[7..10].fill(9);
        expected[17..20].fill(9);
        assert_eq!(back.as_slice().unwrap(), expected);
    });
}

/// A run that is shorter than both memories: neither more is read nor more is written.
#[test]
fn a_run_is_copied_and_no_byte_behind_it() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let host = PinnedBuffer::from_slice(&context, &[9_u8; 40]).unwrap();
        let mut back = PinnedBuffer::from_slice(&context, &[1_u8; 40]).unwrap();
        let mut device = DeviceBuffer::<u8>::allocate(&context, 40).unwrap();
        let mut other = DeviceBuffer::<u8>::allocate(&context, 40).unwrap();
        copy(&back.view().unwrap(), &mut device.view_mut().unwrap(), &stream).unwrap();
        copy(&back.view().unwrap(), &mut other.view_mut().unwrap(), &stream).unwrap();
        let part = s![4..10];
        let source = host.view().unwrap().slice(&part).unwrap();
        copy(&source, &mut device.view_mut().unwrap().slice(&part).unwrap(), &stream).unwrap();
        let there = device.view().unwrap().slice(&s![2..10]).unwrap();
        let mut beside = other.view_mut().unwrap().slice(&s![2..10]).unwrap();
        copy(&there, &mut beside, &stream).unwrap();
        let mut home = back.view_mut().unwrap().slice(&s![12..20]).unwrap();
        let source = other.view().unwrap().slice(&s![2..10]).unwrap();
        copy(&source, &mut home, &stream).unwrap();
        let mut expected = [1_u8; 40];
        expected[14..20].fill(9);
        assert_eq!(back.as_slice().unwrap(), expected);
        copy(&device.view().unwrap(), &mut back.view_mut().unwrap(), &stream).unwrap();
        let mut expected = [1_u8; 40];
        expected[4..10].fill(9);
        assert_eq!(back.as_slice().unwrap(), expected);
    });
}

#[test]
fn views_lie_in_their_memory() {
    on_every_scheduler!(Config::new(), || {
        let (context, _stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 100).unwrap();
        let layout = |shape: &[i64], strides: &[i64]| {
            StridedLayout::from_byte_strides(shape, strides, 1).unwrap()
        };
        let refused = buffer.view().unwrap().with_layout(layout(&[10, 11], &[10, 1])).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "View::with_layout: `layout` breaks Reach: needs 101, has 100"
        );
        let wide = StridedLayout::from_byte_strides(&[10], &[4], 4).unwrap();
        let refused = buffer.view().unwrap().with_layout(wide).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::ItemSize));
        let text = "View::with_layout: `layout` breaks ItemSize: needs 1, has 4";
        assert_eq!(refused.to_string(), text);
        let refused = ViewMut::<u8>::new(&mut buffer, layout(&[10, 10], &[5, 1])).unwrap_err();
        assert_eq!(refused.rule(), Some(Rule::Injective));
        assert!(refused.to_string().contains("`layout` breaks Injective: "), "{refused}");
        let before = layout(&[10], &[-1]);
        let refused = buffer.view().unwrap().with_layout(before).unwrap_err();
        assert!(refused.to_string().contains("required_size"), "{refused}");
    });
}

#[test]
fn what_is_more_than_rows_is_refused() {
    let transposed = StridedLayout::from_byte_strides(&[4, 5], &[1, 4], 1).unwrap();
    let dense = StridedLayout::from_byte_strides(&[4, 5], &[5, 1], 1).unwrap();
    let refused = Plan::new(&transposed, &dense).unwrap_err();
    assert_eq!(refused.rule(), Some(Rule::Rows));
    assert!(refused.to_string().contains(" breaks Rows: "), "{refused}");
    let other = StridedLayout::from_byte_strides(&[5, 4], &[4, 1], 1).unwrap();
    assert!(Plan::new(&other, &dense).is_err(), "another shape");
    let empty = StridedLayout::from_byte_strides(&[0, 5], &[5, 1], 1).unwrap();
    assert_eq!(Plan::new(&empty, &empty).unwrap(), Plan::Nothing);
    let scalar = StridedLayout::from_byte_strides(&[], &[], 8).unwrap();
    let one = Plan::Linear { bytes: 8, src_offset: 0, dst_offset: 0 };
    assert_eq!(Plan::new(&scalar, &scalar).unwrap(), one);
}

#[test]
fn flipped_and_strided_arrays_are_planned_as_rows() {
    let columns = StridedLayout::from_byte_strides(&[6], &[4], 2).unwrap();
    let dense = StridedLayout::from_byte_strides(&[6], &[2], 2).unwrap();
    let plan = Plan::new(&columns, &dense).unwrap();
    assert!(matches!(plan, Plan::Rows { width: 2, height: 6, src_pitch: 4, dst_pitch: 2, .. }));
    let flipped = dense.flip(0).unwrap();
    assert!(Plan::new(&flipped, &dense).is_err(), "one direction only");
    let both = Plan::new(&flipped, &flipped).unwrap();
    assert!(matches!(both, Plan::Linear { bytes: 12, src_offset: 0, .. }), "{both}");
}
