//! Memory of the host by a device's address, one axis of every kind of memory, and copies as methods.

use cuda_safe::sys::CUdeviceptr;
use cuda_safe::{
    AddressRange, AsView, DeviceBuffer, External, ManagedBuffer, Module, PinnedBuffer,
    RegisteredHost, Stream, WriteCombinedBuffer, call, registered,
};

#[test]
fn memory_of_the_host_is_found_by_a_devices_address() {
    each_call_fails!(
        [
            PinnedBuffer::on_device,
            PinnedBuffer::on_device_mut,
            WriteCombinedBuffer::on_device,
            WriteCombinedBuffer::on_device_mut,
            RegisteredHost::on_device,
            RegisteredHost::on_device_mut,
            Registered::on_device,
            Registered::on_device_mut,
            External::on_device,
            External::on_device_mut,
            View::on_device,
            ViewMut::on_device,
        ],
        |given| {
            let (context, first) = given.stream()?;
            let second = Stream::new(&context)?;
            let mut pinned = PinnedBuffer::filled(&context, 64, 1_u8)?;
            let mut combined = WriteCombinedBuffer::from_slice(&context, &[2_u8; 64])?;
            let mut owned = RegisteredHost::new(&context, vec![3_u8; 64])?;
            let mut borrowed = [4_u8; 64];
            pinned.on_device_mut(&context)?.fill(5, &first)?;
            combined.on_device_mut(&context)?.fill(6, &first)?;
            let (from, mut to) = (pinned.on_device(&context)?, owned.on_device_mut(&context)?);
            call::memcpy_dtod_async(&mut to, &from, &second)?;
            registered(&context, &mut borrowed, |borrowed| {
                let from = owned.on_device(&context)?;
                call::memcpy_dtod_async(&mut borrowed.on_device_mut(&context)?, &from, &first)?;
                let mut to = pinned.view_mut()?.on_device(&context)?;
                to.copy_from(&borrowed.view()?.on_device(&context)?, &second)?;
                let mut to = owned.on_device_mut(&context)?;
                call::memcpy_dtod_async(&mut to, &borrowed.on_device(&context)?, &first)
            })??;
            // Without the number that the driver has for it, its record is not found.
            context.synchronize()?;
            let address = call::mem_host_get_device_pointer(&context, &pinned)?;
            // SAFETY: the buffer outlives it, and all goes through the calls of this crate.
            let mut external =
                unsafe { External::new(&context, CUdeviceptr(address.0), 64, given.clone()) }?;
            external.on_device_mut::<u8>(&context)?.fill(7, &first)?;
            let part = external.on_device::<u16>(&context)?;
            let mut end = DeviceBuffer::<u16>::allocate(&context, 32)?;
            call::memcpy_dtod_async(&mut end, &part, &second)?;
            call::memcpy_dtod_async(&mut end, &combined.on_device(&context)?, &second)?;
            context.synchronize()?;
            assert_eq!((pinned.as_slice()?, owned.as_slice()?), (&[7; 64][..], &[5; 64][..]));
            first.synchronize()?;
            second.synchronize()
        }
    );
}

#[test]
fn memory_is_copied_by_a_method() {
    each_call_fails!(
        [
            AddressRange::copy_from,
            DeviceBuffer::copy_from,
            Global::copy_from,
            ManagedBuffer::copy_from,
            PinnedBuffer::copy_from,
            Registered::copy_from,
            RegisteredHost::copy_from,
            SliceMut::copy_from,
            ViewMut::copy_from,
            WriteCombinedBuffer::copy_from,
            ManagedBuffer::into_raw,
            ManagedBuffer::from_raw,
        ],
        |given| {
            const PTX: &std::ffi::CStr = c"
                .version 7.0
                .target sm_70
                .address_size 64
                .visible .global .align 4 .b8 table[8];
            ";
            let (context, stream) = given.stream()?;
            let mut pinned = PinnedBuffer::<u8>::zeroed(&context, 8)?;
            let mut combined = WriteCombinedBuffer::<u8>::zeroed(&context, 8)?;
            let mut managed = ManagedBuffer::<u8>::uninitialized(&context, 8)?;
            let mut table = Module::from_ptx(&context, PTX)?.global::<u8>(c"table")?;
            let mut device = DeviceBuffer::<u8>::allocate(&context, 8)?;
            let mut range = AddressRange::<u8>::reserve(&context, 8)?;
            range.grow(8)?;
            let mut owned = RegisteredHost::new(&context, vec![0_u8; 8])?;
            let mut borrowed = [0_u8; 8];

            pinned.copy_from(&[1, 2, 3, 4, 5, 6, 7, 8], &stream)?;
            combined.copy_from(&pinned, &stream)?;
            managed.copy_from(&combined, &stream)?;
            table.copy_from(&managed, &stream)?;
            device.copy_from(&table, &stream)?;
            range.slice_mut(..8)?.copy_from(&device, &stream)?;
            owned.view_mut()?.copy_from(&range.slice(..8)?, &stream)?;
            registered(&context, &mut borrowed, |it| it.copy_from(&owned, &stream).map(drop))??;
            owned.copy_from(&vec![0_u8; 8], &stream)?;
            let whole = vec![9_u8; range.len()];
            range.copy_from(&whole, &stream)?;
            assert_eq!(borrowed, [1, 2, 3, 4, 5, 6, 7, 8]);

            let words = managed.cast::<u32>()?;
            let address = words.into_raw()?;
            // SAFETY: it was such a buffer's of so many elements.
            drop(unsafe { ManagedBuffer::<u32>::from_raw(&context, address, 2) }?);
            stream.synchronize()
        }
    );
}

#[test]
fn what_is_viewed_without_asking() {
    asks_no_driver!(
        [
            AsView::as_view,
            ManagedBuffer::view,
            ManagedBuffer::view_mut,
            RegisteredHost::view,
            RegisteredHost::view_mut,
            WriteCombinedBuffer::view,
            WriteCombinedBuffer::view_mut,
            Slice::view,
            SliceMut::into_view,
            SliceMut::view,
            SliceMut::view_mut,
        ],
        |given| {
            let context = given.context()?;
            Ok((
                ManagedBuffer::<u8>::uninitialized(&context, 8)?,
                RegisteredHost::new(&context, vec![0_u8; 8])?,
                WriteCombinedBuffer::<u8>::zeroed(&context, 8)?,
            ))
        },
        |(mut managed, mut owned, mut combined)| {
            assert_eq!(managed.view()?.layout().shape(), [8]);
            assert_eq!(managed.view_mut()?.layout().shape(), [8]);
            assert_eq!(owned.view()?.layout().shape(), [8]);
            assert_eq!(owned.view_mut()?.layout().shape(), [8]);
            assert_eq!(combined.view()?.layout().shape(), [8]);
            assert_eq!(combined.view_mut()?.layout().shape(), [8]);
            assert_eq!(owned.slice(2..)?.view()?.layout().shape(), [6]);
            let mut part = owned.slice_mut(3..)?;
            assert_eq!(part.view()?.layout().shape(), [5]);
            assert_eq!(part.view_mut()?.layout().shape(), [5]);
            assert_eq!(part.into_view()?.layout().shape(), [5]);
            assert_eq!(AsView::as_view(&owned)?.layout().shape(), [8]);
            Ok((managed, owned, combined))
        }
    );
}

#[test]
fn what_is_registered_is_viewed_without_asking_more() {
    asks_no_driver!([Registered::view, Registered::view_mut], |given| {
        let context = given.context()?;
        let mut borrowed = [0_u8; 8];
        registered(&context, &mut borrowed, |it| {
            given.quiet(|| {
                assert_eq!(it.view()?.layout().shape(), [8]);
                assert_eq!(it.view_mut()?.layout().shape(), [8]);
                Ok(())
            })
        })?
    });
}
