//! What memory of one's own is made with: records of uses, regions, areas.

use std::time::Duration;

use cuda_safe::shim::{Access, Allocation, Area, Kind, Memory, Plain, Region, pending_callbacks};
use cuda_safe::{DeviceBuffer, Stream};

#[test]
fn records_are_waited_for() {
    each_call_fails!(
        [
            shim::Allocation::wait_for_writes,
            shim::Allocation::wait_for_all,
            shim::Allocation::wait_timeout,
            shim::Allocation::is_idle,
        ],
        |given| {
            let (context, stream) = given.stream()?;
            let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
            let other = Stream::new(&context)?;
            buffer.fill(1, &stream)?;
            buffer.fill(2, &other)?;
            let all = Area::bytes(0, 64);
            buffer.allocation().wait_for_writes(all)?;
            buffer.fill(3, &stream)?;
            buffer.allocation().wait_for_all(all)?;
            buffer.fill(4, &stream)?;
            assert!(buffer.allocation().wait_timeout(all, Duration::from_secs(20))?);
            buffer.fill(5, &stream)?;
            stream.synchronize()?;
            assert!(buffer.allocation().is_idle());
            Ok(())
        }
    );
}

#[test]
fn records_and_areas_ask_nothing() {
    asks_no_driver!(
        [
            shim::Access::conflicts,
            shim::Allocation::new,
            shim::Allocation::of_buffer,
            shim::Allocation::id,
            shim::Allocation::len,
            shim::Allocation::is_empty,
            shim::Area::bytes,
            shim::Area::rows,
            shim::Area::contains,
            shim::Area::overlaps,
            shim::Area::start,
            shim::Area::end,
            shim::Area::is_empty,
            shim::Kind::is_host,
            shim::Kind::name,
            shim::Memory::region,
            shim::Plain::holds_address,
            shim::Region::new,
            shim::Region::len,
            shim::Region::is_empty,
            shim::Region::kind,
            shim::Region::part,
            shim::Region::first,
            shim::Region::with_home,
            shim::Region::with_planes,
            shim::Region::with_rows,
            shim::Region::within,
            shim::pending_callbacks,
        ],
        |given| given.context(),
        |context| {
            assert!(Access::Write.conflicts(Access::Read) && !Access::Read.conflicts(Access::Read));
            let (first, second) = (Allocation::new(64), Allocation::of_buffer(0, 8));
            assert_ne!(first.id(), second.id());
            assert_eq!((first.len(), first.is_empty()), (64, false));
            let (run, rows) = (Area::bytes(8, 8), Area::rows(0, 4, 1, 4));
            assert_eq!((run.start(), run.end(), run.is_empty()), (8, 16, false));
            assert!(rows.overlaps(&run) && run.contains(&Area::bytes(9, 2)));
            assert!(Kind::Pinned.is_host() && Kind::Alloc.name() == "Alloc");
            let region = Region::new(4096, 64, Kind::Alloc).with_home(&context).within(&first, 0);
            assert_eq!((region.len(), region.is_empty(), region.kind()), (64, false, Kind::Alloc));
            assert_eq!(region.part(60).map(|part| part.len()), Some(4));
            assert!(region.first(65).is_none());
            assert_eq!(region.with_rows(16, 8, 4).with_planes(4).len(), 64);
            assert_eq!([0_u8; 3].region().len(), 3);
            assert!(!0_u8.holds_address());
            assert_eq!(pending_callbacks(), 0);
            Ok(context)
        }
    );
}
