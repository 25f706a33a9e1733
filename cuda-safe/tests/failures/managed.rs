//! Managed memory.

use cuda_safe::{Advice, Device, Location, ManagedBuffer};

#[test]
fn managed_memory() {
    each_call_fails!(
        [
            ManagedBuffer::uninitialized,
            ManagedBuffer::zeroed,
            ManagedBuffer::filled,
            ManagedBuffer::from_slice,
            ManagedBuffer::fill,
            ManagedBuffer::prefetch,
            ManagedBuffer::advise,
            ManagedBuffer::as_slice,
            ManagedBuffer::as_mut_slice,
            Slice::prefetch,
            Slice::advise,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut managed = ManagedBuffer::<u8>::uninitialized(&context, 64)?;
            managed.fill(2, &stream)?;
            assert_eq!(managed.as_slice()?, [2; 64]);
            managed.advise(Advice::ReadMostly(true))?;
            let part = managed.slice(..32)?;
            part.advise(Advice::Preferred(Some(Location::Host)))?;
            part.prefetch(Location::Device(Device::get(0)?), &stream)?;
            managed.prefetch(Location::Host, &stream)?;
            managed.as_mut_slice()?.fill(1);
            drop(managed);
            let zeroed = ManagedBuffer::<u8>::zeroed(&stream, 64)?;
            let filled = ManagedBuffer::filled(&stream, 64, [1_u8, 2])?;
            drop((zeroed, filled));
            assert_eq!(ManagedBuffer::from_slice(&context, &[5_u8; 8])?.as_slice()?, [5; 8]);
            stream.synchronize()
        }
    );
}

#[test]
fn what_managed_memory_knows_without_asking() {
    asks_no_driver!(
        [
            ManagedBuffer::allocation,
            ManagedBuffer::as_part,
            ManagedBuffer::as_part_mut,
            ManagedBuffer::cast,
            ManagedBuffer::context,
            ManagedBuffer::is_empty,
            ManagedBuffer::len,
            ManagedBuffer::slice,
            ManagedBuffer::slice_mut,
            ManagedBuffer::split_at_mut,
        ],
        |given| ManagedBuffer::<u16>::uninitialized(&given.context()?, 64),
        |mut memory| {
            assert_eq!((memory.len(), memory.is_empty()), (64, false));
            assert_eq!(memory.allocation().len(), 128);
            assert!(memory.context().is_primary());
            assert_eq!((memory.as_part().len(), memory.as_part_mut().len()), (64, 64));
            assert_eq!((memory.slice(2..)?.len(), memory.slice_mut(..2)?.len()), (62, 2));
            assert_eq!(memory.split_at_mut(60)?.1.len(), 4);
            let bytes = memory.cast::<u8>()?;
            assert_eq!(bytes.len(), 128);
            Ok(bytes)
        }
    );
}
