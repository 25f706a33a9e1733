//! An array in memory that something else owns: a layout over a region.
//!
//! | make one | from |
//! |---|---|
//! | [`View::new`], [`ViewMut::new`] | any buffer and any layout that lies in it |
//! | [`DeviceBuffer::view`], [`PinnedBuffer::view`] | a buffer, as it was allocated |
//! | [`View::slice`], [`View::with_layout`] | another view |
//!
//! A view is checked when it is made, against the allocation itself: every element lies in it, and
//! in a mutable view no two elements share a byte. What copies views is `copy`.

use std::fmt;
use std::marker::PhantomData;

use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::{Index, StridedLayout};
use crate::memory::{DeviceBuffer, Element, PinnedBuffer};
use crate::shim::{Region, Steady};

/// Is an array that can be read.
pub struct View<'a, T: Element> {
    region: Region<'a>,
    layout: StridedLayout,
    element: PhantomData<&'a T>,
}

/// Is an array that can be read and written; no two of its elements share a byte.
pub struct ViewMut<'a, T: Element> {
    region: Region<'a>,
    layout: StridedLayout,
    element: PhantomData<&'a mut T>,
}

/// Refuses a layout that is not one of `T`s within the region.
fn check<T>(call: &'static str, region: &Region<'_>, layout: &StridedLayout) -> Result<()> {
    let refuse = |rule, need, have| Err(Error::refused(call, "layout", rule, need, have));
    let item_size = usize::try_from(layout.item_size()).unwrap_or(usize::MAX);
    if item_size != size_of::<T>() {
        return refuse(Rule::ItemSize, size_of::<T>().into(), item_size.into());
    }
    let need = layout.required_size().map_err(Error::from)?;
    match usize::try_from(need) {
        Ok(need) if need <= region.len() => Ok(()),
        Ok(need) => refuse(Rule::Reach, need.into(), region.len().into()),
        Err(_) => refuse(Rule::Reach, Quantity::Overflow, region.len().into()),
    }
}

impl<'a, T: Element> View<'a, T> {
    /// Views `memory` as an array; the layout's offsets count from the memory's first byte.
    ///
    /// # Errors
    ///
    /// [`Rule::ItemSize`] if the layout's items are not as large as `T`; [`Rule::Reach`] if an
    /// element lies outside of the memory.
    pub fn new(memory: &'a (impl Steady + ?Sized), layout: StridedLayout) -> Result<Self> {
        let region = memory.region();
        check::<T>("View::new", &region, &layout)?;
        Ok(Self { region, layout, element: PhantomData })
    }

    /// Returns the layout.
    pub const fn layout(&self) -> &StridedLayout {
        &self.layout
    }

    /// Views the same memory with another layout.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_layout(&self, layout: StridedLayout) -> Result<Self> {
        check::<T>("View::with_layout", &self.region, &layout)?;
        Ok(Self { region: self.region, layout, element: PhantomData })
    }

    /// Views a part: one index, range, new axis or ellipsis an axis, as [`s!`](crate::s) writes
    /// them.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::slice`].
    pub fn slice(&self, index: &[Index]) -> Result<Self> {
        self.with_layout(self.layout.slice(index)?)
    }

    pub(crate) const fn region(&self) -> &Region<'a> {
        &self.region
    }
}

impl<T: Element> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        Self { region: self.region, layout: self.layout.clone(), element: PhantomData }
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Views `memory` as an array that can be written.
    ///
    /// # Errors
    ///
    /// As [`View::new`]; [`Rule::Injective`] if two elements share a byte, or if that they don't is
    /// not proved.
    pub fn new(memory: &'a mut (impl Steady + ?Sized), layout: StridedLayout) -> Result<Self> {
        Self::checked("ViewMut::new", memory.region(), layout)
    }

    fn checked(call: &'static str, region: Region<'a>, layout: StridedLayout) -> Result<Self> {
        check::<T>(call, &region, &layout)?;
        if !layout.is_unique() {
            let (need, have) = ("elements that share no byte", "elements that may share one");
            let (need, have) = (Quantity::Word(need), Quantity::Word(have));
            return Err(Error::refused(call, "layout", Rule::Injective, need, have));
        }
        Ok(Self { region, layout, element: PhantomData })
    }

    /// Returns the layout.
    pub const fn layout(&self) -> &StridedLayout {
        &self.layout
    }

    /// Views the same memory with another layout, in the place of this view.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_layout(self, layout: StridedLayout) -> Result<Self> {
        Self::checked("ViewMut::with_layout", self.region, layout)
    }

    /// Views a part, in the place of this view.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::slice`].
    pub fn slice(self, index: &[Index]) -> Result<Self> {
        let layout = self.layout.slice(index)?;
        self.with_layout(layout)
    }

    /// Lends the array for reading.
    pub fn as_view(&self) -> View<'_, T> {
        View { region: self.region, layout: self.layout.clone(), element: PhantomData }
    }

    pub(crate) const fn region(&self) -> &Region<'a> {
        &self.region
    }
}

impl<T: Element> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} over {:?})", self.layout, self.region)
    }
}

impl<T: Element> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ViewMut({} over {:?})", self.layout, self.region)
    }
}

impl<T: Element> DeviceBuffer<T> {
    /// Views the buffer as it was allocated: one axis, or rows and what is in them.
    ///
    /// # Errors
    ///
    /// Refuses a size beyond what a layout counts.
    pub fn view(&self) -> Result<View<'_, T>> {
        View::new(self, self.own_layout()?)
    }

    /// Views the buffer as it was allocated, for writing.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
        let layout = self.own_layout()?;
        ViewMut::new(self, layout)
    }

    fn own_layout(&self) -> Result<StridedLayout> {
        if self.rows() == 1 {
            return row::<T>(self.len());
        }
        let item_size = extent(size_of::<T>())?;
        let shape = [extent(self.rows())?, extent(self.width())?];
        let strides = [extent(self.pitch())?, item_size];
        Ok(StridedLayout::from_byte_strides(&shape, &strides, item_size)?)
    }
}

impl<T: Element> PinnedBuffer<T> {
    /// Views the buffer as one axis.
    ///
    /// # Errors
    ///
    /// Refuses a size beyond what a layout counts.
    pub fn view(&self) -> Result<View<'_, T>> {
        View::new(self, row::<T>(self.len())?)
    }

    /// Views the buffer as one axis, for writing.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
        let layout = row::<T>(self.len())?;
        ViewMut::new(self, layout)
    }
}

/// Lays elements out one behind the other.
fn row<T>(len: usize) -> Result<StridedLayout> {
    let item_size = extent(size_of::<T>())?;
    Ok(StridedLayout::from_byte_strides(&[extent(len)?], &[item_size], item_size)?)
}

fn extent(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(|_| {
        let most = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
        Error::refused("view", "len", Rule::Fit, number.into(), most.into())
    })
}
