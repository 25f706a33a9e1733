//! Parts of buffers.

use cuda_safe::{DeviceBuffer, PinnedBuffer, call};

#[test]
fn parts_are_waited_for() {
    each_call_fails!(
        [
            Slice::as_slice,
            Slice::on_device,
            SliceMut::as_slice,
            SliceMut::as_mut_slice,
            SliceMut::into_mut_slice,
            SliceMut::on_device,
            SliceMut::fill,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            buffer.slice_mut(..32)?.fill(1, &stream)?;
            buffer.slice_mut(32..)?.fill(2, &stream)?;
            let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 64)?;
            let (mut low, mut high) = pinned.split_at_mut(32)?;
            call::memcpy_dtoh_async(&mut low, &buffer.slice(..32)?, &stream)?;
            assert_eq!(low.as_slice()?, [1; 32]);
            call::memcpy_dtoh_async(&mut high, &buffer.slice(32..)?, &stream)?;
            assert_eq!(high.as_ref().as_slice()?, [2; 32]);
            call::memcpy_dtoh_async(&mut high, &buffer.slice(32..)?, &stream)?;
            high.as_mut_slice()?.fill(3);
            call::memcpy_dtoh_async(&mut low, &buffer.slice(..32)?, &stream)?;
            low.into_mut_slice()?.fill(4);
            high.as_mut().on_device(&context)?.fill(5, &stream)?;
            let seen = high.as_ref().on_device(&context)?;
            call::memcpy_dtod_async(&mut buffer.slice_mut(..32)?, &seen, &stream)?;
            assert_eq!(pinned.as_slice()?[31..33], [4, 5]);
            stream.synchronize()
        }
    );
}

#[test]
fn what_parts_know_without_asking() {
    asks_no_driver!(
        [
            Slice::len,
            Slice::is_empty,
            Slice::slice,
            Slice::split_at,
            Slice::cast,
            SliceMut::len,
            SliceMut::is_empty,
            SliceMut::as_ref,
            SliceMut::as_mut,
            SliceMut::slice,
            SliceMut::split_at,
            SliceMut::cast,
        ],
        |given| DeviceBuffer::<u8>::allocate(&given.context()?, 64),
        |mut buffer| {
            let part = buffer.as_part()?;
            assert_eq!((part.len(), part.is_empty()), (64, false));
            assert_eq!(part.slice(8..16)?.cast::<u32>()?.len(), 2);
            assert_eq!(part.split_at(4)?.1.len(), 60);
            let mut part = buffer.as_part_mut()?;
            assert_eq!((part.len(), part.is_empty()), (64, false));
            assert_eq!((part.as_ref().len(), part.as_mut().len()), (64, 64));
            assert_eq!(part.as_mut().slice(8..16)?.cast::<u32>()?.len(), 2);
            assert_eq!(part.split_at(4)?.1.len(), 60);
            Ok(buffer)
        }
    );
}
