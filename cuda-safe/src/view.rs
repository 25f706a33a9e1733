//! An array in memory that something else owns: a layout over a region.
//!
//! | make one | from |
//! |---|---|
//! | [`View::new`], [`ViewMut::new`] | any buffer and any layout that lies in it |
//! | [`View::of_type`], [`ViewMut::of_type`] | the same, where the type is known at run time |
//! | [`DeviceBuffer::view`], [`PinnedBuffer::view`] | a buffer, as it was allocated |
//! | [`View::of_slice`], [`ViewMut::of_mut_slice`] | a slice of the host, which is only borrowed |
//! | [`External`](crate::External) | a pointer of others, and what owns its memory |
//! | [`View::on_device`] | page-locked memory, by a device's address |
//! | [`View::slice`], [`View::permute`], … | another view |
//!
//! A view is checked when it is made, against the allocation itself: every element lies in it, and
//! in a mutable view no two elements share a byte. What copies views is `copy`.
//!
//! Memory that a stream may still use after a call returned has a record of its uses. What is only
//! borrowed, a slice of the host, has none: whatever is done with it is done on return.

mod axes;
mod buffer;
mod copied;
mod device;
mod host;
mod item;
#[cfg(feature = "ndarray")]
mod ndarray;
mod parts;
mod retype;

use std::fmt;
use std::marker::PhantomData;

use crate::dtype::DType;
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::memory::Element;
#[cfg(doc)]
use crate::memory::{DeviceBuffer, PinnedBuffer};
use crate::shim::{Kind, Region, Steady};

pub use copied::AsView;
pub use item::{Dynamic, Item, Typed};
pub use parts::ChunksMut;

/// Is an array that can be read; its elements are `T`s, or of a type that is known at run time
/// ([`Dynamic`]).
pub struct View<'a, T: Item> {
    region: Region<'a>,
    /// Whether other bytes of the region may be lent to somebody else.
    is_part: bool,
    layout: StridedLayout,
    kept: T::Kept,
    element: PhantomData<&'a T>,
}

/// Is an array that can be read and written; no two of its elements share a byte.
pub struct ViewMut<'a, T: Item> {
    region: Region<'a>,
    /// Whether other bytes of the region may be lent to somebody else.
    is_part: bool,
    layout: StridedLayout,
    kept: T::Kept,
    element: PhantomData<&'a mut T>,
}

/// Refuses a layout that is not one of such elements within the region.
#[inline]
fn check<T: Item>(
    call: &'static str,
    region: &Region<'_>,
    layout: &StridedLayout,
    kept: T::Kept,
) -> Result<()> {
    let refuse = |rule, need, have| Err(Error::refused(call, "layout", rule, need, have));
    let item_size = usize::try_from(layout.item_size()).unwrap_or(usize::MAX);
    if item_size != T::size(kept) {
        return refuse(Rule::ItemSize, T::size(kept).into(), item_size.into());
    }
    let need = layout.required_size().map_err(Error::from)?;
    match usize::try_from(need) {
        Ok(need) if need <= region.len() => Ok(()),
        Ok(need) => refuse(Rule::Reach, need.into(), region.len().into()),
        Err(_) => refuse(Rule::Reach, Quantity::Overflow, region.len().into()),
    }
}

/// Refuses to look at more of memory than was lent.
fn check_whole(call: &'static str, is_part: bool) -> Result<()> {
    if !is_part {
        return Ok(());
    }
    let (need, have) = (Quantity::Word("the whole memory"), Quantity::Word("a part"));
    Err(Error::refused(call, "self", Rule::Whole, need, have))
}

/// Refuses a layout of which it is not proved that its elements are apart.
fn check_injective(call: &'static str, layout: &StridedLayout) -> Result<()> {
    if layout.is_unique() {
        return Ok(());
    }
    let (need, have) = ("elements that share no byte", "elements that may share one");
    let (need, have) = (Quantity::Word(need), Quantity::Word(have));
    Err(Error::refused(call, "layout", Rule::Injective, need, have))
}

impl<'a, T: Element> View<'a, T> {
    /// Views `memory` as an array; the layout's offsets count from the memory's first byte.
    ///
    /// # Errors
    ///
    /// [`Rule::ItemSize`] if the layout's items are not as large as `T`; [`Rule::Reach`] if an
    /// element lies outside of the memory.
    pub fn new(memory: &'a (impl Steady + ?Sized), layout: StridedLayout) -> Result<Self> {
        Self::checked("View::new", memory.region(), layout, ())
    }
}

impl<'a> View<'a, Dynamic> {
    /// Views `memory` as an array of elements of a type that is known at run time.
    ///
    /// # Errors
    ///
    /// As [`View::new`].
    pub fn of_type(
        memory: &'a (impl Steady + ?Sized),
        dtype: DType,
        layout: StridedLayout,
    ) -> Result<Self> {
        Self::checked("View::of_type", memory.region(), layout, dtype)
    }
}

impl<'a, T: Item> View<'a, T> {
    #[inline]
    fn checked(
        call: &'static str,
        region: Region<'a>,
        layout: StridedLayout,
        kept: T::Kept,
    ) -> Result<Self> {
        check::<T>(call, &region, &layout, kept)?;
        Ok(Self { region, is_part: false, layout, kept, element: PhantomData })
    }

    /// Views elements of this view, or their bytes as other elements.
    fn over<U: Item>(&self, layout: StridedLayout, kept: U::Kept) -> Result<View<'a, U>> {
        let view = View::checked("View", self.region, layout, kept)?;
        Ok(View { is_part: self.is_part, ..view })
    }

    /// Returns the layout.
    pub const fn layout(&self) -> &StridedLayout {
        &self.layout
    }

    /// Returns how the memory was allocated.
    pub const fn kind(&self) -> Kind {
        self.region.kind()
    }

    /// Views the same memory with another layout.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); [`Rule::Whole`] if it is of memory of which other parts may be lent to
    /// somebody else.
    pub fn with_layout(&self, layout: StridedLayout) -> Result<Self> {
        check_whole("View::with_layout", self.is_part)?;
        Self::checked("View::with_layout", self.region, layout, self.kept)
    }

    pub(crate) const fn region(&self) -> &Region<'a> {
        &self.region
    }

    pub(crate) const fn kept(&self) -> T::Kept {
        self.kept
    }
}

impl<T: Item> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        let Self { region, is_part, ref layout, kept, element } = *self;
        Self { region, is_part, layout: layout.clone(), kept, element }
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
        Self::checked("ViewMut::new", memory.region(), layout, ())
    }
}

impl<'a> ViewMut<'a, Dynamic> {
    /// Views `memory` as an array of elements of a type that is known at run time.
    ///
    /// # Errors
    ///
    /// As [`ViewMut::new`].
    pub fn of_type(
        memory: &'a mut (impl Steady + ?Sized),
        dtype: DType,
        layout: StridedLayout,
    ) -> Result<Self> {
        Self::checked("ViewMut::of_type", memory.region(), layout, dtype)
    }
}

impl<'a, T: Item> ViewMut<'a, T> {
    fn checked(
        call: &'static str,
        region: Region<'a>,
        layout: StridedLayout,
        kept: T::Kept,
    ) -> Result<Self> {
        check::<T>(call, &region, &layout, kept)?;
        check_injective(call, &layout)?;
        Ok(Self { region, is_part: false, layout, kept, element: PhantomData })
    }

    /// Makes a view for writing of elements of this view, or of their bytes: they are apart, and so
    /// are these.
    fn over<U: Item>(&self, layout: StridedLayout, kept: U::Kept) -> Result<ViewMut<'a, U>> {
        let Self { region, is_part, .. } = *self;
        check::<U>("ViewMut", &region, &layout, kept)?;
        Ok(ViewMut { region, is_part, layout, kept, element: PhantomData })
    }

    /// Views the same memory with another layout, in the place of this view.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); [`Rule::Whole`] if it is of memory of which other parts may be lent to
    /// somebody else.
    pub fn with_layout(self, layout: StridedLayout) -> Result<Self> {
        check_whole("ViewMut::with_layout", self.is_part)?;
        Self::checked("ViewMut::with_layout", self.region, layout, self.kept)
    }

    /// Returns the layout.
    pub const fn layout(&self) -> &StridedLayout {
        &self.layout
    }

    /// Returns how the memory was allocated.
    pub const fn kind(&self) -> Kind {
        self.region.kind()
    }

    /// Lends the array for reading.
    pub fn as_view(&self) -> View<'_, T> {
        let Self { region, is_part, ref layout, kept, .. } = *self;
        View { is_part, region, layout: layout.clone(), kept, element: PhantomData }
    }

    /// Lends the array for writing.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        let Self { region, is_part, ref layout, kept, .. } = *self;
        ViewMut { is_part, region, layout: layout.clone(), kept, element: PhantomData }
    }

    pub(crate) const fn region(&self) -> &Region<'a> {
        &self.region
    }

    pub(crate) const fn kept(&self) -> T::Kept {
        self.kept
    }
}

impl<T: Item> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View({} over {:?})", self.layout, self.region)
    }
}

impl<T: Item> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ViewMut({} over {:?})", self.layout, self.region)
    }
}
