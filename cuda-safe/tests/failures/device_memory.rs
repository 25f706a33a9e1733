//! Memory of a device: plain, in rows, and in the order of streams.

use cuda_safe::layout::{Order, StridedLayout};
use cuda_safe::{DeviceBuffer, PinnedBuffer, Stream, View, call};

#[test]
fn plain_memory() {
    each_call_fails!([DeviceBuffer::allocate, DeviceBuffer::allocate_pitched], |given| {
        let (context, stream) = given.stream()?;
        let mut buffer = DeviceBuffer::<u16>::allocate(&context, 64)?;
        let mut rows = DeviceBuffer::<u16>::allocate_pitched(&context, 10, 4)?;
        buffer.fill(1, &stream)?;
        rows.fill(2, &stream)?;
        // One is still in use, and is freed behind its use.
        drop(buffer);
        stream.synchronize()?;
        drop(rows);
        context.synchronize()
    });
}

#[test]
fn memory_in_the_order_of_streams() {
    each_call_fails!(
        [
            DeviceBuffer::uninitialized,
            DeviceBuffer::zeroed,
            DeviceBuffer::filled,
            DeviceBuffer::fill,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut first = DeviceBuffer::<u8>::uninitialized(&stream, 64)?;
            first.fill(1, &stream)?;
            let zeroed = DeviceBuffer::<u32>::zeroed(&stream, 64)?;
            // An element of several words takes a call a word.
            let filled = DeviceBuffer::filled(&stream, 16, [1_u8, 2, 3])?;
            let other = Stream::new(&context)?;
            let mut home = PinnedBuffer::<u32>::uninitialized(&context, 64)?;
            call::memcpy_dtoh_async(&mut home, &zeroed, &other)?;
            drop(zeroed);
            // The stream goes before what it has allocated.
            drop((stream, first, filled));
            assert_eq!(home.as_slice()?, [0; 64]);
            other.synchronize()
        }
    );
}

#[test]
fn memory_like_a_view() {
    each_call_fails!([DeviceBuffer::empty_like, PinnedBuffer::zeroed_like], |given| {
        let context = given.context()?;
        let layout = StridedLayout::dense(&[4, 6], 1, Order::C)?;
        let matrix = View::of_slice(&[0_u8; 24], layout)?;
        let (buffer, _) = DeviceBuffer::<u16>::empty_like(&context, &matrix, Order::Keep)?;
        let (pinned, _) = PinnedBuffer::<u8>::zeroed_like(&context, &matrix, Order::F)?;
        assert_eq!((buffer.len(), pinned.len()), (24, 24));
        Ok(())
    });
}

#[test]
fn memory_that_is_handed_over() {
    each_call_fails!(
        [DeviceBuffer::into_raw, DeviceBuffer::from_raw, DeviceBuffer::from_raw_ordered],
        |given| {
            let (context, stream) = given.stream()?;
            let mut plain = DeviceBuffer::<u8>::allocate(&context, 64)?;
            plain.fill(1, &stream)?;
            let address = plain.into_raw()?;
            // SAFETY: it was such a buffer's of so many elements.
            drop(unsafe { DeviceBuffer::<u8>::from_raw(&context, address, 64) }?);
            let ordered = DeviceBuffer::<u8>::zeroed(&stream, 64)?;
            let address = ordered.into_raw()?;
            // SAFETY: as above; nothing uses it.
            let back = unsafe { DeviceBuffer::<u8>::from_raw_ordered(&stream, address, 64) };
            let back = match back {
                Ok(back) => back,
                // Whoever has the address frees it.
                Err(error) => {
                    // SAFETY: it is nobody else's, and nothing uses it.
                    unsafe { call::mem_free(&context, address) }?;
                    return Err(error);
                }
            };
            assert!(back.is_stream_ordered());
            Ok(())
        }
    );
}

#[test]
fn what_buffers_know_without_asking() {
    asks_no_driver!(
        [
            DeviceBuffer::allocation,
            DeviceBuffer::as_device_ptr,
            DeviceBuffer::as_part,
            DeviceBuffer::as_part_mut,
            DeviceBuffer::cast,
            DeviceBuffer::context,
            DeviceBuffer::is_empty,
            DeviceBuffer::is_stream_ordered,
            DeviceBuffer::len,
            DeviceBuffer::pitch,
            DeviceBuffer::row,
            DeviceBuffer::row_mut,
            DeviceBuffer::rows,
            DeviceBuffer::slice,
            DeviceBuffer::slice_mut,
            DeviceBuffer::split_at_mut,
            DeviceBuffer::view,
            DeviceBuffer::view_mut,
            DeviceBuffer::width,
        ],
        |given| {
            let context = given.context()?;
            let rows = DeviceBuffer::<u8>::allocate_pitched(&context, 10, 4)?;
            Ok((DeviceBuffer::<u16>::allocate(&context, 64)?, rows))
        },
        |(mut buffer, mut rows)| {
            assert_eq!((rows.width(), rows.rows(), rows.len()), (10, 4, 40));
            assert!(rows.pitch() >= 10 && !rows.is_empty() && !rows.is_stream_ordered());
            assert_eq!((rows.row(3)?.len(), rows.row_mut(0)?.len()), (10, 10));
            assert_eq!(rows.context(), buffer.context());
            assert_eq!(buffer.allocation().len(), 128);
            // SAFETY: the address is only looked at.
            assert_ne!(unsafe { buffer.as_device_ptr() }.0, 0);
            assert_eq!((buffer.as_part()?.len(), buffer.as_part_mut()?.len()), (64, 64));
            assert_eq!((buffer.slice(2..)?.len(), buffer.slice_mut(..2)?.len()), (62, 2));
            assert_eq!(buffer.split_at_mut(60)?.1.len(), 4);
            assert_eq!(buffer.view()?.layout().shape(), [64]);
            assert_eq!(rows.view_mut()?.layout().shape(), [4, 10]);
            Ok((buffer.cast::<u32>()?, rows))
        }
    );
}
