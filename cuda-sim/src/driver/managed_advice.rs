//! What is advised of managed memory, and told of it. All answers are manual.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_void};

use cuda_sys::{
    CUdevice, CUdeviceptr, CUmem_advise, CUmem_range_attribute, CUmemLocation, CUmemLocationType,
    CUresult,
};

use crate::driver::managed::{Range, device_of};
use crate::engine::managed::{Advice, Location};
use crate::entry::{Answer, INVALID_VALUE, Opaque, Out, Session, simulate};

/// Takes an advice; `location` is asked for by those that are of one.
fn advise(
    mut session: Session,
    address: CUdeviceptr,
    bytes: usize,
    advice: CUmem_advise,
    location: impl FnOnce(&Session) -> Result<Location, CUresult>,
) -> Answer {
    use CUmem_advise as A;
    session.context()?;
    let call = session.call();
    let Range { memory, start, end } = session.managed_range(call, "devPtr", address, bytes)?;
    let managed = &mut session.managed;
    match advice {
        A::CU_MEM_ADVISE_SET_READ_MOSTLY | A::CU_MEM_ADVISE_UNSET_READ_MOSTLY => {
            let set = advice == A::CU_MEM_ADVISE_SET_READ_MOSTLY;
            managed.advise(memory, start, end, |page| page.read_mostly = set);
        }
        A::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => {
            managed.advise(memory, start, end, |page| page.preferred = None);
        }
        A::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => {
            let location = location(&session)?;
            let change = |page: &mut Advice| page.preferred = Some(location);
            session.managed.advise(memory, start, end, change);
        }
        A::CU_MEM_ADVISE_SET_ACCESSED_BY | A::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
            let device = match location(&session)? {
                found @ (Location::Device(_) | Location::Host) => device_of(found),
                Location::HostNode(_) | Location::HostNodeOfCaller => return Err(INVALID_VALUE),
            };
            let set = advice == A::CU_MEM_ADVISE_SET_ACCESSED_BY;
            session.managed.advise(memory, start, end, |page| {
                if set {
                    page.accessed_by.insert(device);
                } else {
                    page.accessed_by.remove(&device);
                }
            });
        }
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

/// Returns what all pages have; none if they differ.
fn common<T: PartialEq + Copy>(pages: &[&Advice], of: impl Fn(&Advice) -> T) -> Option<T> {
    let first = of(pages.first()?);
    pages.iter().all(|page| of(page) == first).then_some(first)
}

/// Returns a location as a type and a number.
const fn typed(location: Option<Location>) -> (CUmemLocationType, c_int) {
    match location {
        None => (CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, 0),
        Some(Location::Device(device)) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, device),
        Some(Location::Host) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
        Some(Location::HostNode(node)) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node),
        Some(Location::HostNodeOfCaller) => {
            (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0)
        }
    }
}

/// Tells an attribute of pages, of as many bytes as there is room for.
fn tell(
    pages: &[&Advice],
    attribute: CUmem_range_attribute,
    out: *mut c_void,
    room: usize,
) -> Answer {
    use CUmem_range_attribute as A;
    let out: Out<c_int> = Out::of_attribute(out);
    out.required()?;
    let invalid = cuda_sys::CU_DEVICE_INVALID.0;
    if attribute == A::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY {
        if room == 0 || !room.is_multiple_of(size_of::<c_int>()) {
            return Err(INVALID_VALUE);
        }
        let first = pages.first().map(|page| page.accessed_by.clone()).unwrap_or_default();
        let mut devices = first
            .iter()
            .filter(|&device| pages.iter().all(|page| page.accessed_by.contains(device)));
        for index in 0..room / size_of::<c_int>() {
            out.write_at(index, devices.next().copied().unwrap_or(invalid));
        }
        return Ok(());
    }
    if room != size_of::<c_int>() {
        return Err(INVALID_VALUE);
    }
    let preferred = common(pages, |page| page.preferred).flatten();
    let prefetched = common(pages, |page| page.prefetched).flatten();
    let number = |kind: CUmemLocationType| c_int::try_from(kind.0).unwrap_or(0);
    out.write(match attribute {
        A::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            c_int::from(pages.iter().all(|page| page.read_mostly))
        }
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => preferred.map_or(invalid, device_of),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => prefetched.map_or(invalid, device_of),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => number(typed(preferred).0),
        A::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => typed(preferred).1,
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => number(typed(prefetched).0),
        A::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => typed(prefetched).1,
        _ => return Err(INVALID_VALUE),
    });
    Ok(())
}

simulate! {
    /// Advises how a range is used; a device of −1 is the host.
    fn cuMemAdvise(
        address: val CUdeviceptr, bytes: val usize, advice: val CUmem_advise, device: val CUdevice,
    ) |session| {
        advise(session, address, bytes, advice, |session| session.location_of(device))
    }

    /// Advises how a range is used.
    fn cuMemAdvise_v2(
        address: val CUdeviceptr, bytes: val usize, advice: val CUmem_advise,
        location: opaque CUmemLocation,
    ) |session| {
        let Opaque(location) = location;
        advise(session, address, bytes, advice, |session| session.location(&location))
    }

    /// Tells an attribute that all pages of a range have.
    fn cuMemRangeGetAttribute(
        data: out c_void, room: val usize, attribute: val CUmem_range_attribute,
        address: val CUdeviceptr, bytes: val usize,
    ) |mut session| {
        let call = session.call();
        let range = session.managed_range(call, "devPtr", address, bytes)?;
        let pages = session.managed.advice(range.memory, range.start, range.end);
        tell(&pages, attribute, data.pointer(), room)
    }

    /// Tells several attributes that all pages of a range have.
    fn cuMemRangeGetAttributes(
        data: out *mut c_void, rooms: out usize, attributes: out CUmem_range_attribute,
        count: val usize, address: val CUdeviceptr, bytes: val usize,
    ) |mut session| {
        let call = session.call();
        let range = session.managed_range(call, "devPtr", address, bytes)?;
        let pages = session.managed.advice(range.memory, range.start, range.end);
        for index in 0..count {
            let attribute = attributes.read_at(index)?;
            tell(&pages, attribute, data.read_at(index)?, rooms.read_at(index)?)?;
        }
        Ok(())
    }
}
