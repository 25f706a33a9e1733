//! Views of memory of the host: of slices that are borrowed, and back to slices.
#![expect(unsafe_code, reason = "lends elements of checked views to the CPU")]

use core::ptr;
use core::slice;

use super::{View, ViewMut};
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::memory::Element;
use crate::shim::{Area, Memory, Region};

impl<'a, T: Element> View<'a, T> {
    /// Views a slice as an array; the layout's offsets count from its first byte.
    ///
    /// The slice is only borrowed: what is done with the view is done when it returns.
    ///
    /// # Errors
    ///
    /// As [`View::new`].
    pub fn of_slice(slice: &'a [T], layout: StridedLayout) -> Result<Self> {
        Self::checked("View::of_slice", slice.region(), layout, ())
    }

    /// Waits until nothing writes to the elements any more, and lends them as a slice.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes to them.
    ///
    /// # Errors
    ///
    /// [`Rule::Kind`] if the memory is not the host's, [`Rule::Contiguous`] if the elements don't
    /// lie side by side in the order of their indices, [`Rule::Align`] if their address is not a
    /// multiple of what `T` asks for. As the driver answers while it waits.
    pub fn as_slice(&self) -> Result<&'a [T]> {
        let (first, len) = run::<T>("View::as_slice", &self.region, &self.layout)?;
        wait_to_read(&self.region, &self.layout)?;
        // SAFETY: `run` has seen that so many aligned elements lie there, within the memory that is
        // borrowed for `'a`; nothing writes to them any more, and a new write needs them mutably.
        Ok(unsafe { slice::from_raw_parts(first, len) })
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Views a slice as an array that can be written.
    ///
    /// # Errors
    ///
    /// As [`ViewMut::new`].
    pub fn of_mut_slice(slice: &'a mut [T], layout: StridedLayout) -> Result<Self> {
        Self::checked("ViewMut::of_mut_slice", slice.region(), layout, ())
    }

    /// Waits until nothing uses the elements any more, and lends them as a slice.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses them.
    ///
    /// # Errors
    ///
    /// As [`View::as_slice`].
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        let (first, len) = run::<T>("ViewMut::as_mut_slice", &self.region, &self.layout)?;
        wait_to_write(&self.region, &self.layout)?;
        // SAFETY: as in `as_slice`; the elements are borrowed mutably, by this view alone.
        Ok(unsafe { slice::from_raw_parts_mut(first.cast_mut(), len) })
    }
}

/// Returns the address of the first element and the number of elements if they are one run.
fn run<T: Element>(
    call: &'static str,
    region: &Region<'_>,
    layout: &StridedLayout,
) -> Result<(*const T, usize)> {
    check_host(call, region)?;
    if !layout.is_c_contiguous() {
        let (need, have) = (Quantity::Word("one run of elements"), Quantity::Word("gaps"));
        return Err(Error::refused(call, "layout", Rule::Contiguous, need, have));
    }
    let Some((first, last)) = layout.byte_bounds() else {
        return Ok((ptr::dangling(), 0));
    };
    let address = element::<T>(call, region, first)?;
    // Contiguous elements fill what they span.
    let bytes = usize::try_from(last - first).unwrap_or(0).saturating_add(1);
    Ok((address, bytes.checked_div(size_of::<T>()).unwrap_or(0)))
}

/// Refuses memory that the CPU doesn't reach.
pub(super) fn check_host(call: &'static str, region: &Region<'_>) -> Result<()> {
    let kind = region.kind();
    if kind.is_host() {
        return Ok(());
    }
    let (need, have) = (Quantity::Word("memory of the host"), Quantity::Word(kind.name()));
    Err(Error::refused(call, "self", Rule::Kind, need, have))
}

/// Returns the address of the element at an offset, which is one of the layout's.
pub(super) fn element<T>(call: &'static str, region: &Region<'_>, offset: i64) -> Result<*const T> {
    let offset = usize::try_from(offset).unwrap_or(0);
    // A layout that was checked reaches no further than the region, whose end has an address.
    let address = region.address().wrapping_add(offset);
    if !address.is_multiple_of(align_of::<T>()) {
        let have = 1_usize << address.trailing_zeros();
        return Err(Error::refused(
            call,
            "layout",
            Rule::Align,
            align_of::<T>().into(),
            have.into(),
        ));
    }
    Ok(ptr::with_exposed_provenance(address))
}

/// Waits until nothing writes to the array any more.
pub(super) fn wait_to_read(region: &Region<'_>, layout: &StridedLayout) -> Result<()> {
    match region.allocation() {
        Some((allocation, start)) => allocation.wait_for_writes(area(start, layout)),
        None => Ok(()),
    }
}

/// Waits until nothing uses the array any more.
pub(super) fn wait_to_write(region: &Region<'_>, layout: &StridedLayout) -> Result<()> {
    match region.allocation() {
        Some((allocation, start)) => allocation.wait_for_all(area(start, layout)),
        None => Ok(()),
    }
}

/// Returns the bytes of the allocation that the array spans.
fn area(start: usize, layout: &StridedLayout) -> Area {
    let Some((first, last)) = layout.byte_bounds() else { return Area::EMPTY };
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    Area::bytes(start.saturating_add(count(first)), count(last - first).saturating_add(1))
}
