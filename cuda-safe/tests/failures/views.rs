//! Views, and the copies between them.

use cuda_safe::layout::{Order, Packing, StridedLayout, s};
use cuda_safe::{DType, DeviceBuffer, Dynamic, PinnedBuffer, Plan, View, ViewMut, copy};

fn dense(shape: &[i64]) -> StridedLayout {
    StridedLayout::dense(shape, 1, Order::C).unwrap()
}

#[test]
fn views_are_copied() {
    each_call_fails!([copy], |given| {
        let (context, stream) = given.stream()?;
        let mut image = DeviceBuffer::<u8>::allocate_pitched(&context, 10, 4)?;
        let mut line = DeviceBuffer::<u8>::allocate(&context, 40)?;
        let mut pinned = PinnedBuffer::filled(&context, 40, 3_u8)?;
        let matrix = dense(&[4, 10]);
        // Every direction, rows and runs; slices are done on return.
        copy(&View::of_slice(&[7_u8; 40], matrix.clone())?, &mut image.view_mut()?, &stream)?;
        copy(&pinned.view()?, &mut line.view_mut()?, &stream)?;
        let source = View::<u8>::new(&line, matrix.clone())?;
        copy(&source, &mut image.view_mut()?, &stream)?;
        copy(&image.view()?, &mut ViewMut::new(&mut pinned, matrix.clone())?, &stream)?;
        copy(&source.clone(), &mut ViewMut::new(&mut pinned, matrix.clone())?, &stream)?;
        let mut home = [0_u8; 40];
        copy(&image.view()?, &mut ViewMut::of_mut_slice(&mut home, matrix)?, &stream)?;
        assert_eq!(home, [3; 40]);
        stream.synchronize()
    });
}

#[test]
fn what_is_borrowed_is_done_with_on_return() {
    each_call_fails!([copy], |given| {
        let (context, stream) = given.stream()?;
        let source = DeviceBuffer::filled(&stream, 40, 3_u8)?;
        let mut target = PinnedBuffer::<u8>::zeroed(&context, 40)?;
        // Memory of the host that is page-locked and only borrowed: the driver waits for nothing.
        let slice = target.as_mut_slice()?;
        let mut view = ViewMut::of_mut_slice(slice, dense(&[40]))?;
        let outcome = copy(&source.view()?, &mut view, &stream);
        let before = view.as_mut_slice()?.to_vec();
        context.synchronize()?;
        assert_eq!(view.as_mut_slice()?, before, "it was still written");
        outcome.map(drop)
    });
}

#[test]
fn views_are_waited_for() {
    each_call_fails!(
        [View::as_slice, View::as_ndarray, ViewMut::as_mut_slice, ViewMut::as_ndarray],
        |given| {
            let (context, stream) = given.stream()?;
            let device = DeviceBuffer::filled(&stream, 8, 3_u8)?;
            let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 8)?;
            copy(&device.view()?, &mut pinned.view_mut()?, &stream)?;
            assert_eq!(pinned.view()?.as_slice()?, [3; 8]);
            copy(&device.view()?, &mut pinned.view_mut()?, &stream)?;
            assert_eq!(pinned.view()?.as_ndarray()?.len(), 8);
            copy(&device.view()?, &mut pinned.view_mut()?, &stream)?;
            pinned.view_mut()?.as_mut_slice()?.fill(1);
            copy(&device.view()?, &mut pinned.view_mut()?, &stream)?;
            pinned.view_mut()?.as_ndarray()?.fill(2);
            stream.synchronize()
        }
    );
}

#[test]
fn views_for_reading_ask_nothing() {
    asks_no_driver!(
        [
            View::new,
            View::of_slice,
            View::of_type,
            View::of_ndarray,
            View::layout,
            View::kind,
            View::with_layout,
            View::into_dynamic,
            View::dtype,
            View::cast,
            View::repack,
            View::repack_as,
            View::slice,
            View::broadcast_to,
            View::windows,
            View::unfold,
            View::split_at,
            View::chunks,
            View::permute,
            View::transpose,
            View::flip,
            View::squeeze,
            View::unsqueeze,
            View::reshape,
            View::flatten,
            View::flatten_axes,
            View::diagonal,
            Plan::new,
        ],
        |given| DeviceBuffer::<u8>::allocate(&given.context()?, 24),
        |buffer| {
            let view = View::<u8>::new(&buffer, dense(&[2, 4, 3]))?;
            assert!(!view.kind().is_host());
            assert_eq!(Plan::new(view.layout(), view.layout()).map(drop), Ok(()));
            let host = View::of_slice(&[0_u8; 24], dense(&[24]))?;
            assert_eq!(View::of_ndarray(&host.as_ndarray()?)?.layout().shape(), [24]);
            let typed = View::of_type(&buffer, DType::U8, dense(&[24]))?;
            assert_eq!(typed.cast::<u8>()?.into_dynamic()?.dtype(), DType::U8);
            assert_eq!(view.with_layout(dense(&[24]))?.chunks(0, 10)?.count(), 3);
            let pixel = Packing { keep_axis: false, ..Packing::LAST_AXIS };
            assert_eq!(view.repack::<[u8; 3]>(pixel)?.layout().shape(), [2, 4]);
            assert_eq!(view.repack_as(DType::I8, Packing::LAST_AXIS)?.dtype(), DType::I8);
            assert_eq!(view.slice(&s![.., 1..3])?.split_at(1, 1)?.0.layout().shape(), [2, 1, 3]);
            assert_eq!(view.permute(&[2, 0, 1])?.layout().shape(), [3, 2, 4]);
            assert_eq!(view.transpose()?.flip(0)?.layout().shape(), [3, 4, 2]);
            assert_eq!(view.unsqueeze(&[0])?.squeeze()?.layout().shape(), [2, 4, 3]);
            assert_eq!(view.reshape(&[8, 3])?.flatten()?.layout().shape(), [24]);
            assert_eq!(view.flatten_axes(0, 1)?.diagonal(0, 0, 1)?.layout().shape(), [3]);
            let row = view.slice(&s![0, 0..1])?;
            assert_eq!(row.broadcast_to(&[5, 3])?.windows(&[2, 2])?.layout().ndim(), 4);
            assert_eq!(row.unfold(1, 2, 1)?.layout().shape(), [1, 2, 2]);
            Ok(buffer)
        }
    );
}

#[test]
fn views_for_writing_ask_nothing() {
    asks_no_driver!(
        [
            ViewMut::new,
            ViewMut::of_mut_slice,
            ViewMut::of_type,
            ViewMut::of_ndarray,
            ViewMut::layout,
            ViewMut::kind,
            ViewMut::with_layout,
            ViewMut::as_view,
            ViewMut::reborrow,
            ViewMut::into_dynamic,
            ViewMut::dtype,
            ViewMut::cast,
            ViewMut::repack,
            ViewMut::repack_as,
            ViewMut::slice,
            ViewMut::split_at,
            ViewMut::chunks,
            ViewMut::disjoint,
            ViewMut::permute,
            ViewMut::transpose,
            ViewMut::flip,
            ViewMut::squeeze,
            ViewMut::unsqueeze,
            ViewMut::reshape,
            ViewMut::flatten,
            ViewMut::flatten_axes,
            ViewMut::diagonal,
        ],
        |given| DeviceBuffer::<u8>::allocate(&given.context()?, 24),
        |mut buffer| {
            let mut view = ViewMut::<u8>::new(&mut buffer, dense(&[2, 4, 3]))?;
            assert!(!view.kind().is_host() && view.as_view().layout() == view.layout());
            let halves = view.reborrow().split_at(0, 1)?;
            assert_eq!(halves.0.layout().shape(), halves.1.layout().shape());
            assert_eq!(view.reborrow().chunks(1, 3)?.count(), 2);
            assert_eq!(view.reborrow().disjoint([dense(&[12])])?.len(), 1);
            assert_eq!(view.reborrow().with_layout(dense(&[24]))?.layout().shape(), [24]);
            let pixel = Packing { keep_axis: false, ..Packing::LAST_AXIS };
            assert_eq!(view.reborrow().repack::<[u8; 3]>(pixel)?.layout().shape(), [2, 4]);
            let typed = view.reborrow().repack_as(DType::I8, Packing::LAST_AXIS)?;
            assert_eq!(typed.dtype(), DType::I8);
            assert_eq!(typed.cast::<i8>()?.into_dynamic()?.dtype(), DType::I8);
            assert_eq!(view.reborrow().slice(&s![.., 1..3])?.layout().shape(), [2, 2, 3]);
            assert_eq!(view.reborrow().permute(&[2, 0, 1])?.layout().shape(), [3, 2, 4]);
            assert_eq!(view.reborrow().transpose()?.flip(0)?.layout().shape(), [3, 4, 2]);
            assert_eq!(view.reborrow().unsqueeze(&[0])?.squeeze()?.layout().ndim(), 3);
            assert_eq!(view.reborrow().reshape(&[8, 3])?.flatten()?.layout().shape(), [24]);
            assert_eq!(view.flatten_axes(0, 1)?.diagonal(0, 0, 1)?.layout().shape(), [3]);
            drop(ViewMut::<Dynamic>::of_type(&mut buffer, DType::U8, dense(&[24]))?);
            let mut host = [0_u8; 24];
            let mut line = ViewMut::of_mut_slice(&mut host, dense(&[24]))?;
            assert_eq!(ViewMut::of_ndarray(line.as_ndarray()?)?.layout().shape(), [24]);
            Ok(buffer)
        }
    );
}
