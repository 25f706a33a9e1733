//! Reserved addresses, and physical memory mapped there.

use cuda_safe::sys::CUmemAllocationHandleType;
use cuda_safe::{AddressRange, DeviceAccess, PhysicalMemory, PinnedBuffer, Stream, call};

/// Elements of 4 bytes in 2 MiB.
const PAGE: usize = 1 << 19;

#[test]
fn row_104_what_was_done_of_a_mapping_is_undone() {
    each_call_fails!(
        [
            AddressRange::reserve,
            AddressRange::grow,
            AddressRange::map,
            AddressRange::unmap_last,
            AddressRange::set_access,
            AddressRange::fill,
            PhysicalMemory::new,
            PhysicalMemory::with_handle_types,
            PhysicalMemory::granularity,
        ],
        |given| {
            let (context, first) = given.stream()?;
            let second = Stream::new(&context)?;
            assert_eq!(PhysicalMemory::granularity(&context)?, 4 * PAGE);
            let mut range = AddressRange::<u32>::reserve(&context, 3 * PAGE)?;
            range.grow(PAGE)?;
            range.fill(3, &first)?;
            range.grow(PAGE + 1)?;
            range.slice_mut(PAGE..)?.fill(4, &second)?;
            let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            range.map(PhysicalMemory::with_handle_types(&context, 1, kind)?)?;
            drop(range.unmap_last()?);
            let moved = range.unmap_last()?;
            let mut other = AddressRange::<u32>::reserve(&context, PAGE)?;
            if let Some(memory) = moved {
                other.map(memory)?;
            }
            other.set_access(context.device(), DeviceAccess::ReadWrite)?;
            let mut answer = PinnedBuffer::<u32>::zeroed(&context, 8)?;
            call::memcpy_dtoh_async(&mut answer, &other.slice(..8)?, &first)?;
            assert_eq!(answer.as_slice()?, [4; 8]);
            // All of it is in use when it is dropped.
            other.fill(1, &second)?;
            range.fill(1, &first)?;
            let unused = PhysicalMemory::new(&context, 1)?;
            drop((range, other, unused));
            first.synchronize()?;
            second.synchronize()
        }
    );
}

#[test]
fn what_a_range_knows_without_asking() {
    asks_no_driver!(
        [
            AddressRange::access,
            AddressRange::allocation,
            AddressRange::as_device_ptr,
            AddressRange::as_part,
            AddressRange::as_part_mut,
            AddressRange::capacity,
            AddressRange::context,
            AddressRange::in_context,
            AddressRange::in_context_mut,
            AddressRange::is_empty,
            AddressRange::len,
            AddressRange::slice,
            AddressRange::slice_mut,
            AddressRange::split_at_mut,
            AddressRange::view,
            AddressRange::view_mut,
        ],
        |given| {
            let mut range = AddressRange::<u32>::reserve(&given.context()?, 2 * PAGE)?;
            range.grow(1)?;
            Ok(range)
        },
        |mut range| {
            assert_eq!((range.len(), range.is_empty(), range.capacity()), (PAGE, false, 2 * PAGE));
            assert_eq!(range.allocation().len(), 8 * PAGE);
            let context = range.context().clone();
            assert_eq!(range.access(context.device()), DeviceAccess::ReadWrite);
            // SAFETY: the address is only compared.
            assert_ne!(unsafe { range.as_device_ptr() }.0, 0);
            assert_eq!((range.as_part().len(), range.as_part_mut().len()), (PAGE, PAGE));
            assert_eq!(range.in_context(&context)?.len(), PAGE);
            assert_eq!(range.in_context_mut(&context)?.len(), PAGE);
            assert_eq!((range.slice(2..)?.len(), range.slice_mut(..2)?.len()), (PAGE - 2, 2));
            assert_eq!(range.split_at_mut(10)?.0.len(), 10);
            assert_eq!(range.view()?.layout().ndim(), 1);
            assert_eq!(range.view_mut()?.layout().ndim(), 1);
            Ok(range)
        }
    );
}

#[test]
fn what_physical_memory_knows_without_asking() {
    asks_no_driver!(
        [
            PhysicalMemory::context,
            PhysicalMemory::device,
            PhysicalMemory::is_empty,
            PhysicalMemory::len,
            PhysicalMemory::raw,
        ],
        |given| PhysicalMemory::new(&given.context()?, 1),
        |memory| {
            assert_eq!((memory.len(), memory.is_empty()), (4 * PAGE, false));
            assert_eq!(memory.device(), memory.context().device());
            assert_ne!(memory.raw().0, 0);
            Ok(memory)
        }
    );
}
