//! Views for devices: by the address that a device has, and as arguments of kernels.

use super::{Item, View, ViewMut};
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::memory::device_address;
use crate::shim::{Area, Given, KernelMemory, Kind, Region, sealed};

impl<'a, T: Item> View<'a, T> {
    /// Views the same array by the address that the device of `context` has for it, for kernels and
    /// copies there; memory of a device is what it was.
    ///
    /// ```
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// use cuda_safe::layout::s;
    /// use cuda_safe::{Device, PinnedBuffer};
    ///
    /// let context = Device::get(0)?.context()?;
    /// let numbers = PinnedBuffer::from_slice(&context, &[1_u32, 2, 3, 4])?;
    /// // What a launch takes as `input(&last)`.
    /// let last = numbers.view()?.slice(&s![2..])?.on_device(&context)?;
    /// assert_eq!(last.layout().shape(), [2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer), for
    /// memory of the host.
    ///
    /// # Errors
    ///
    /// [`Rule::Kind`] if no device reaches it: it is only borrowed, and not page-locked. As the
    /// driver answers.
    pub fn on_device(&self, context: &'a Context) -> Result<Self> {
        let region = on_device("View::on_device", self.region, context)?;
        Ok(Self { region, ..self.clone() })
    }
}

impl<'a, T: Item> ViewMut<'a, T> {
    /// Views the same array by the address that the device of `context` has for it, in the place of
    /// this view.
    ///
    /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer), for
    /// memory of the host.
    ///
    /// # Errors
    ///
    /// As [`View::on_device`].
    pub fn on_device(self, context: &'a Context) -> Result<Self> {
        let region = on_device("ViewMut::on_device", self.region, context)?;
        Ok(Self { region, ..self })
    }
}

fn on_device<'a>(
    call: &'static str,
    region: Region<'a>,
    context: &'a Context,
) -> Result<Region<'a>> {
    match region.kind() {
        Kind::Pageable => {
            let need = Quantity::Word("page-locked memory, or a device's");
            let have = Quantity::Word(Kind::Pageable.name());
            Err(Error::refused(call, "self", Rule::Kind, need, have))
        }
        kind if kind.is_host() => device_address(region, context),
        _ => Ok(region),
    }
}

impl<T: Item> sealed::Sealed for View<'_, T> {}
impl<T: Item> sealed::Sealed for ViewMut<'_, T> {}

/// Passes the address of the first element.
impl<T: Item> KernelMemory for View<'_, T> {
    fn given(&self) -> Given<'_> {
        given(self.region, &self.layout)
    }
}

/// Passes the address of the first element.
impl<T: Item> KernelMemory for ViewMut<'_, T> {
    fn given(&self) -> Given<'_> {
        given(self.region, &self.layout)
    }
}

fn given<'a>(region: Region<'a>, layout: &StridedLayout) -> Given<'a> {
    let offset = region.allocation().map_or(0, |(_, offset)| offset);
    // A layout that was checked reaches no further than the region.
    let address = region.address().wrapping_add(count(layout.byte_offset()));
    Given { address, region, area: area(offset, layout) }
}

/// Returns the bytes of the allocation that the elements have: rows where they are such, else all
/// that they span.
fn area(start: usize, layout: &StridedLayout) -> Area {
    let Some((first, last)) = layout.byte_bounds() else { return Area::EMPTY };
    let (start, item) = (start.saturating_add(count(first)), count(layout.item_size()));
    let all = Area::bytes(start, count(last - first).saturating_add(1));
    let Ok(rows) = layout.coalesce() else { return all };
    match (rows.shape(), rows.byte_strides()) {
        (&[len], &[stride]) => Area::rows(start, count(stride), item, count(len)),
        (&[height, width], &[pitch, stride]) if count(stride) == item => {
            Area::rows(start, count(pitch), count(width).saturating_mul(item), count(height))
        }
        _ => all,
    }
}

/// Turns a number of a checked layout into a size.
fn count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}
