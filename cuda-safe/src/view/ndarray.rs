//! Views of the host as `ndarray`'s, and back.
#![expect(unsafe_code, reason = "lends elements of checked views to the CPU")]

use core::ptr;

use ndarray::{
    ArrayView, ArrayViewD, ArrayViewMut, ArrayViewMutD, Axis, Dimension, IxDyn, RawArrayView,
    RawArrayViewMut, ShapeBuilder,
};

use super::host::{check_host, element, wait_to_read, wait_to_write};
use super::{View, ViewMut};
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::memory::Element;
use crate::shim::{Kind, Region};

impl<'a, T: Element> View<'a, T> {
    /// Views an array of `ndarray`, which is only borrowed: what is done with the view is done when
    /// it returns.
    ///
    /// # Errors
    ///
    /// Refuses elements without bytes and more than 64 axes.
    pub fn of_ndarray<D: Dimension>(array: &ArrayView<'a, T, D>) -> Result<Self> {
        let (region, layout) = reach(array.as_ptr(), array.shape(), array.strides())?;
        Ok(View { is_part: true, ..Self::checked("View::of_ndarray", region, layout, ())? })
    }

    /// Waits until nothing writes to the elements any more, and lends them as an array of `ndarray`.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes to them.
    ///
    /// # Errors
    ///
    /// [`Rule::Kind`] if the memory is not the host's; [`Rule::Strides`] if a stride is not a whole
    /// number of elements, which `ndarray` counts in; [`Rule::Align`] if an element's address is not
    /// a multiple of what `T` asks for; [`Rule::Fit`] if the elements are more than `ndarray` counts.
    /// As the driver answers while it waits.
    pub fn as_ndarray(&self) -> Result<ArrayViewD<'a, T>> {
        const CALL: &str = "View::as_ndarray";
        check_host(CALL, &self.region)?;
        let Parts { shape, strides, flipped, first } =
            Parts::<T>::of(CALL, &self.region, &self.layout)?;
        wait_to_read(&self.region, &self.layout)?;
        let shape = IxDyn(&shape).strides(IxDyn(&strides));
        // SAFETY: the elements lie in the region, from the lowest address on; the shape was checked
        // to be one that `ndarray` counts, and what the strides span lies in memory.
        let mut array = unsafe { RawArrayView::from_shape_ptr(shape, first) };
        flipped.into_iter().for_each(|axis| array.invert_axis(axis));
        // SAFETY: the elements lie in the memory that is borrowed for `'a`, at aligned addresses;
        // nothing writes to them any more, and a new write needs them mutably.
        Ok(unsafe { array.deref_into_view() })
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Views an array of `ndarray` that can be written.
    ///
    /// # Errors
    ///
    /// As [`View::of_ndarray`].
    pub fn of_ndarray<D: Dimension>(array: ArrayViewMut<'a, T, D>) -> Result<Self> {
        let (region, layout) = reach(array.as_ptr(), array.shape(), array.strides())?;
        Ok(ViewMut { is_part: true, ..Self::checked("ViewMut::of_ndarray", region, layout, ())? })
    }

    /// Waits until nothing uses the elements any more, and lends them as an array of `ndarray`.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses them.
    ///
    /// # Errors
    ///
    /// As [`View::as_ndarray`].
    pub fn as_ndarray(&mut self) -> Result<ArrayViewMutD<'_, T>> {
        const CALL: &str = "ViewMut::as_ndarray";
        check_host(CALL, &self.region)?;
        let Parts { shape, strides, flipped, first } =
            Parts::<T>::of(CALL, &self.region, &self.layout)?;
        wait_to_write(&self.region, &self.layout)?;
        let shape = IxDyn(&shape).strides(IxDyn(&strides));
        // SAFETY: as for reading.
        let mut array = unsafe { RawArrayViewMut::from_shape_ptr(shape, first.cast_mut()) };
        flipped.into_iter().for_each(|axis| array.invert_axis(axis));
        // SAFETY: as for reading; no two elements share a byte, and they are borrowed mutably, by
        // this view alone.
        Ok(unsafe { array.deref_into_view_mut() })
    }
}

/// Returns the memory from the first byte of an array to its last, and the array's layout in it.
fn reach<'a, T: Element>(
    first: *const T,
    shape: &[usize],
    strides: &[isize],
) -> Result<(Region<'a>, StridedLayout)> {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let shape: Vec<i64> = shape.iter().map(|&extent| number(extent)).collect();
    let strides: Vec<i64> = strides.iter().map(|&stride| stride as i64).collect();
    let layout = StridedLayout::from_element_strides(&shape, &strides, number(size_of::<T>()))?;
    let Some((lowest, highest)) = layout.byte_bounds() else {
        return Ok((Region::new(0, 0, Kind::Pageable), layout));
    };
    let offset = usize::try_from(lowest.unsigned_abs()).unwrap_or(usize::MAX);
    // The array's elements are allocated, so that their addresses and what they span are numbers.
    let address = first.expose_provenance().wrapping_sub(offset);
    let len = usize::try_from(highest - lowest).unwrap_or(usize::MAX).saturating_add(1);
    Ok((Region::new(address, len, Kind::Pageable), layout.with_byte_offset(-lowest)?))
}

/// Is an array as `ndarray` takes it: no stride is negative, and the axes that run backwards are
/// turned round afterwards.
struct Parts<T> {
    shape: Vec<usize>,
    strides: Vec<usize>,
    flipped: Vec<Axis>,
    /// The lowest address of an element.
    first: *const T,
}

impl<T: Element> Parts<T> {
    fn of(call: &'static str, region: &Region<'_>, layout: &StridedLayout) -> Result<Self> {
        let shape = shape_of(call, layout)?;
        let mut strides = Vec::with_capacity(shape.len());
        let mut flipped = Vec::new();
        let axes = layout.shape().iter().zip(layout.byte_strides());
        for (axis, (&extent, &stride)) in axes.enumerate() {
            let counts = extent > 1 && !layout.is_empty();
            let bytes = if counts { stride.unsigned_abs() } else { 0 };
            let item_size = layout.item_size().unsigned_abs();
            if !bytes.is_multiple_of(item_size) {
                let (need, have) = (Quantity::MultipleOf(item_size), Quantity::Number(bytes));
                return Err(Error::refused(call, "layout", Rule::Strides, need, have));
            }
            let elements = bytes.checked_div(item_size).unwrap_or(0);
            strides.push(usize::try_from(elements).unwrap_or(usize::MAX));
            if counts && stride < 0 {
                flipped.push(Axis(axis));
            }
        }
        let first = match layout.byte_bounds() {
            Some((lowest, _)) => element::<T>(call, region, lowest)?,
            None => ptr::dangling(),
        };
        Ok(Self { shape, strides, flipped, first })
    }
}

/// Refuses a shape of more elements than `ndarray` counts; an axis of none doesn't count as such.
fn shape_of(call: &'static str, layout: &StridedLayout) -> Result<Vec<usize>> {
    let most = usize::try_from(isize::MAX).unwrap_or(usize::MAX);
    let shape: Vec<usize> = layout
        .shape()
        .iter()
        .map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX))
        .collect();
    let volume = shape
        .iter()
        .filter(|&&extent| extent != 0)
        .try_fold(1_usize, |volume, &extent| volume.checked_mul(extent));
    match volume {
        Some(volume) if volume <= most => Ok(shape),
        volume => {
            let need = volume.map_or(Quantity::Overflow, Quantity::from);
            Err(Error::refused(call, "layout", Rule::Fit, need, most.into()))
        }
    }
}
