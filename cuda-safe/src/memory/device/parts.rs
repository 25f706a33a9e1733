//! Parts of a device buffer: a range of one that is one run, or a row.

use core::ops::RangeBounds;

use super::DeviceBuffer;
use crate::error::{Error, Quantity, Result, Rule};
use crate::memory::Element;
use crate::memory::slice::{OnDevice, Slice, SliceMut};
use crate::shim::{Memory, Region};

impl<T: Element> DeviceBuffer<T> {
    /// Lends all of it for reading.
    ///
    /// # Errors
    ///
    /// [`Rule::Rows`] if it has several rows, whose elements don't lie one behind the other.
    pub fn as_part(&self) -> Result<Slice<'_, T, OnDevice>> {
        self.check_run("DeviceBuffer::as_part")?;
        Ok(Slice::of(self.region()))
    }

    /// Lends all of it for writing.
    ///
    /// # Errors
    ///
    /// As [`as_part`](Self::as_part).
    pub fn as_part_mut(&mut self) -> Result<SliceMut<'_, T, OnDevice>> {
        self.check_run("DeviceBuffer::as_part_mut")?;
        Ok(SliceMut::of(self.region()))
    }

    /// Lends a range of elements for reading.
    ///
    /// # Errors
    ///
    /// As [`as_part`](Self::as_part); [`Rule::Reach`] if the range is not within it.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Slice<'_, T, OnDevice>> {
        self.as_part()?.slice(range)
    }

    /// Lends a range of elements for writing.
    ///
    /// # Errors
    ///
    /// As [`slice`](Self::slice).
    pub fn slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<SliceMut<'_, T, OnDevice>> {
        self.as_part_mut()?.slice(range)
    }

    /// Divides it before the element `middle`; streams may use both halves at once.
    ///
    /// # Errors
    ///
    /// As [`as_part`](Self::as_part); [`Rule::Reach`] if it has not so many elements.
    pub fn split_at_mut(
        &mut self,
        middle: usize,
    ) -> Result<(SliceMut<'_, T, OnDevice>, SliceMut<'_, T, OnDevice>)> {
        self.as_part_mut()?.split_at(middle)
    }

    /// Lends a row for reading.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if there is no such row.
    pub fn row(&self, index: usize) -> Result<Slice<'_, T, OnDevice>> {
        self.row_region("DeviceBuffer::row", index).map(Slice::of)
    }

    /// Lends a row for writing.
    ///
    /// # Errors
    ///
    /// [`Rule::Reach`] if there is no such row.
    pub fn row_mut(&mut self, index: usize) -> Result<SliceMut<'_, T, OnDevice>> {
        self.row_region("DeviceBuffer::row_mut", index).map(SliceMut::of)
    }

    fn check_run(&self, call: &'static str) -> Result<()> {
        if self.rows == 1 {
            return Ok(());
        }
        Err(Error::refused(call, "self", Rule::Rows, Quantity::Word("one row"), self.rows.into()))
    }

    fn row_region(&self, call: &'static str, index: usize) -> Result<Region<'_>> {
        let refuse = || Error::refused(call, "index", Rule::Reach, index.into(), self.rows.into());
        let row = (index < self.rows).then(|| {
            let (offset, len) = (index * self.pitch, self.width * size_of::<T>());
            self.region().run(offset, len)
        });
        row.flatten().ok_or_else(refuse)
    }
}
