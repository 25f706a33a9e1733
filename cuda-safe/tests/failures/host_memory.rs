//! Page-locked memory of the host: allocated, and registered.

use cuda_safe::{
    DeviceBuffer, PinnedBuffer, RegisteredHost, Result, WriteCombinedBuffer, call, registered,
    registered_read_only,
};

#[test]
fn pinned_memory() {
    each_call_fails!(
        [
            PinnedBuffer::uninitialized,
            PinnedBuffer::zeroed,
            PinnedBuffer::filled,
            PinnedBuffer::from_slice,
            PinnedBuffer::as_slice,
            PinnedBuffer::as_mut_slice,
            PinnedBuffer::into_raw,
            PinnedBuffer::from_raw,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            let source = PinnedBuffer::from_slice(&context, &[3_u8; 64])?;
            let mut target = PinnedBuffer::<u8>::zeroed(&context, 64)?;
            call::memcpy_htod_async(&mut buffer, &source, &stream)?;
            call::memcpy_dtoh_async(&mut target, &buffer, &stream)?;
            assert_eq!(target.as_slice()?, [3; 64]);
            call::memcpy_dtoh_async(&mut target, &buffer, &stream)?;
            target.as_mut_slice()?.fill(4);
            call::memcpy_htod_async(&mut buffer, &target, &stream)?;
            // It is still read when it is dropped, and the other when it is handed over.
            drop(target);
            let data = source.into_raw()?;
            // SAFETY: it was such a buffer's of so many elements.
            drop(unsafe { PinnedBuffer::from_raw(&context, data, 64) }?);
            let unset = PinnedBuffer::<u16>::uninitialized(&context, 64)?;
            assert_eq!(PinnedBuffer::filled(&context, unset.len(), 7_u16)?.as_slice()?, [7; 64]);
            stream.synchronize()
        }
    );
}

#[test]
fn write_combined_memory() {
    each_call_fails!(
        [
            WriteCombinedBuffer::uninitialized,
            WriteCombinedBuffer::zeroed,
            WriteCombinedBuffer::from_slice,
            WriteCombinedBuffer::write,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            let mut source = WriteCombinedBuffer::<u8>::uninitialized(&context, 64)?;
            source.write(0, &[1; 64])?;
            call::memcpy_htod_async(&mut buffer, &source, &stream)?;
            // Waits for the copy.
            source.write(32, &[2; 32])?;
            let zeroed = WriteCombinedBuffer::<u8>::zeroed(&context, 64)?;
            call::memcpy_htod_async(&mut buffer, &zeroed, &stream)?;
            drop((zeroed, WriteCombinedBuffer::from_slice(&context, &[0_u8; 64])?));
            stream.synchronize()
        }
    );
}

#[test]
fn registered_memory_with_its_owner() {
    each_call_fails!(
        [
            RegisteredHost::new,
            RegisteredHost::as_slice,
            RegisteredHost::as_mut_slice,
            RegisteredHost::into_inner,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let buffer = DeviceBuffer::filled(&stream, 64, 7_u8)?;
            let mut owned = RegisteredHost::new(&context, vec![0_u8; 64])?;
            call::memcpy_dtoh_async(&mut owned, &buffer, &stream)?;
            assert_eq!(owned.as_slice()?, [7; 64]);
            call::memcpy_dtoh_async(&mut owned, &buffer, &stream)?;
            owned.as_mut_slice()?.fill(1);
            call::memcpy_dtoh_async(&mut owned, &buffer, &stream)?;
            assert_eq!(*owned.into_inner()?, [7; 64]);
            let mut dropped = RegisteredHost::new(&context, vec![0_u8; 64])?;
            call::memcpy_dtoh_async(&mut dropped, &buffer, &stream)?;
            drop(dropped);
            stream.synchronize()
        }
    );
}

#[test]
fn registered_memory_that_is_borrowed() {
    each_call_fails!(
        [registered, registered_read_only, Registered::as_slice, Registered::as_mut_slice,],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::filled(&stream, 64, 7_u8)?;
            let mut memory = [0_u8; 64];
            registered(&context, &mut memory, |memory| {
                call::memcpy_dtoh_async(memory, &buffer, &stream)?;
                assert_eq!(memory.as_slice()?, [7; 64]);
                call::memcpy_dtoh_async(memory, &buffer, &stream)?;
                memory.as_mut_slice()?.fill(1);
                call::memcpy_dtoh_async(memory, &buffer, &stream)
            })??;
            assert_eq!(memory, [7; 64]);
            registered_read_only(&context, &memory, |memory| {
                call::memcpy_htod_async(&mut buffer, memory, &stream)
            })??;
            stream.synchronize()
        }
    );
}

#[test]
fn what_pinned_memory_knows_without_asking() {
    asks_no_driver!(
        [
            PinnedBuffer::allocation,
            PinnedBuffer::as_part,
            PinnedBuffer::as_part_mut,
            PinnedBuffer::cast,
            PinnedBuffer::context,
            PinnedBuffer::is_empty,
            PinnedBuffer::len,
            PinnedBuffer::slice,
            PinnedBuffer::slice_mut,
            PinnedBuffer::split_at_mut,
            PinnedBuffer::view,
            PinnedBuffer::view_mut,
            WriteCombinedBuffer::allocation,
            WriteCombinedBuffer::context,
            WriteCombinedBuffer::is_empty,
            WriteCombinedBuffer::len,
        ],
        |given| {
            let context = given.context()?;
            let combined = WriteCombinedBuffer::<u8>::uninitialized(&context, 8)?;
            Ok((PinnedBuffer::<u16>::zeroed(&context, 64)?, combined))
        },
        |(mut pinned, combined)| {
            assert_eq!((pinned.len(), pinned.is_empty()), (64, false));
            assert_eq!((combined.len(), combined.is_empty()), (8, false));
            assert_eq!((pinned.allocation().len(), combined.allocation().len()), (128, 8));
            assert_eq!(pinned.context(), combined.context());
            assert_eq!((pinned.as_part().len(), pinned.as_part_mut().len()), (64, 64));
            assert_eq!((pinned.slice(2..)?.len(), pinned.slice_mut(..2)?.len()), (62, 2));
            assert_eq!(pinned.split_at_mut(60)?.1.len(), 4);
            assert_eq!(pinned.view()?.layout().shape(), [64]);
            assert_eq!(pinned.view_mut()?.layout().shape(), [64]);
            Ok((pinned.cast::<u32>()?, combined))
        }
    );
}

#[test]
fn what_registered_memory_knows_without_asking() {
    asks_no_driver!(
        [
            RegisteredHost::allocation,
            RegisteredHost::as_part,
            RegisteredHost::as_part_mut,
            RegisteredHost::context,
            RegisteredHost::is_empty,
            RegisteredHost::len,
            RegisteredHost::slice,
            RegisteredHost::slice_mut,
            RegisteredHost::split_at_mut,
        ],
        |given| RegisteredHost::new(&given.context()?, vec![0_u16; 64]),
        |mut memory| {
            assert_eq!((memory.len(), memory.is_empty()), (64, false));
            assert_eq!(memory.allocation().len(), 128);
            assert!(memory.context().is_primary());
            assert_eq!((memory.as_part().len(), memory.as_part_mut().len()), (64, 64));
            assert_eq!((memory.slice(2..)?.len(), memory.slice_mut(..2)?.len()), (62, 2));
            assert_eq!(memory.split_at_mut(60)?.1.len(), 4);
            Ok(memory)
        }
    );
}

#[test]
fn what_borrowed_memory_knows_without_asking() {
    asks_no_driver!(
        [
            Registered::allocation,
            Registered::as_part,
            Registered::as_part_mut,
            Registered::context,
            Registered::is_empty,
            Registered::len,
            Registered::slice,
            Registered::slice_mut,
            Registered::split_at_mut,
        ],
        // Without elements nothing is registered.
        |given| given.context(),
        |context| {
            registered(&context, &mut [0_u16; 0], |memory| -> Result<()> {
                assert_eq!((memory.len(), memory.is_empty()), (0, true));
                assert!(memory.allocation().is_empty() && memory.context().is_primary());
                assert!(memory.as_part().is_empty() && memory.as_part_mut().is_empty());
                assert!(memory.slice(..)?.is_empty() && memory.slice_mut(0..)?.is_empty());
                assert!(memory.split_at_mut(0)?.1.is_empty());
                Ok(())
            })??;
            Ok(context)
        }
    );
}
