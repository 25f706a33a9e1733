//! Views of buffers as they were allocated, and buffers that are like a view.

use super::{Item, View, ViewMut};
use crate::context::Context;
use crate::error::{Error, Result, Rule};
use crate::layout::{Order, StridedLayout};
use crate::memory::{
    AddressRange, DeviceBuffer, Element, ManagedBuffer, PinnedBuffer, Place, Registered,
    RegisteredHost, Slice, SliceMut, WriteCombinedBuffer,
};
use crate::module::Global;
use crate::shim::Memory as _;

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

    /// Allocates memory for an array of the shape of `like`, and answers its dense layout; the
    /// elements are whatever the memory held before.
    ///
    /// Driver: [`cuMemAlloc_v2`](crate::call::mem_alloc).
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::dense_like`], and as the driver answers.
    pub fn empty_like<U: Item>(
        context: &Context,
        like: &View<'_, U>,
        order: Order<'_>,
    ) -> Result<(Self, StridedLayout)> {
        let (layout, len) = like_dense::<T>(like.layout(), order)?;
        Ok((Self::allocate(context, len)?, layout))
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

/// Lets memory be viewed as one axis.
macro_rules! one_axis {
    ($($memory:ty $(, $bound:ident)?;)*) => { $(
        impl<T: Element $(+ $bound)?> $memory {
            /// Views it as one axis.
            ///
            /// # Errors
            ///
            /// Refuses a size beyond what a layout counts.
            pub fn view(&self) -> Result<View<'_, T>> {
                View::new(self, row::<T>(self.len())?)
            }

            /// Views it as one axis, for writing.
            ///
            /// # Errors
            ///
            /// As [`view`](Self::view).
            pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
                let layout = row::<T>(self.len())?;
                ViewMut::new(self, layout)
            }
        }
    )* };
}

one_axis!(
    PinnedBuffer<T>;
    WriteCombinedBuffer<T>;
    ManagedBuffer<T>;
    Registered<'_, T>;
    RegisteredHost<T>, Send;
    AddressRange<T>;
    Global<T>;
);

impl<'a, T: Element, P: Place> Slice<'a, T, P> {
    /// Views it as one axis.
    ///
    /// # Errors
    ///
    /// Refuses a size beyond what a layout counts.
    pub fn view(&self) -> Result<View<'a, T>> {
        View::checked("Slice::view", self.lent(), row::<T>(self.len())?, ())
    }
}

impl<'a, T: Element, P: Place> SliceMut<'a, T, P> {
    /// Views it as one axis.
    ///
    /// # Errors
    ///
    /// Refuses a size beyond what a layout counts.
    pub fn view(&self) -> Result<View<'_, T>> {
        View::checked("SliceMut::view", self.region(), row::<T>(self.len())?, ())
    }

    /// Views it as one axis, for writing, in the place of the slice.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub fn into_view(self) -> Result<ViewMut<'a, T>> {
        let layout = row::<T>(self.len())?;
        ViewMut::checked("SliceMut::into_view", self.lent(), layout, ())
    }

    /// Views it as one axis, for writing.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub fn view_mut(&mut self) -> Result<ViewMut<'_, T>> {
        self.as_mut().into_view()
    }
}

impl<T: Element> PinnedBuffer<T> {
    /// Allocates memory for an array of the shape of `like`, all bytes zero, and answers its dense
    /// layout.
    ///
    /// Driver: [`cuMemHostAlloc`](crate::call::mem_host_alloc).
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::dense_like`], and as the driver answers.
    pub fn zeroed_like<U: Item>(
        context: &Context,
        like: &View<'_, U>,
        order: Order<'_>,
    ) -> Result<(Self, StridedLayout)> {
        let (layout, len) = like_dense::<T>(like.layout(), order)?;
        Ok((Self::zeroed(context, len)?, layout))
    }
}

/// Lays the shape of an array out densely for `T`s, and counts them.
fn like_dense<T: Element>(
    like: &StridedLayout,
    order: Order<'_>,
) -> Result<(StridedLayout, usize)> {
    let item_size = extent(size_of::<T>())?;
    let layout = match order {
        Order::Keep if like.item_size() == item_size => like.to_dense(order)?,
        // Which axis is slow has nothing to do with the size of the items.
        Order::Keep => {
            StridedLayout::dense(like.shape(), item_size, Order::Axes(&like.stride_order()))?
        }
        other => StridedLayout::dense(like.shape(), item_size, other)?,
    };
    let volume = layout.volume()?;
    let len = usize::try_from(volume).map_err(|_| too_long(usize::MAX))?;
    Ok((layout, len))
}

/// Lays elements out one behind the other.
pub(super) fn row<T>(len: usize) -> Result<StridedLayout> {
    let item_size = extent(size_of::<T>())?;
    Ok(StridedLayout::from_byte_strides(&[extent(len)?], &[item_size], item_size)?)
}

fn extent(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(|_| too_long(number))
}

fn too_long(have: usize) -> Error {
    let most = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
    Error::refused("view", "len", Rule::Fit, have.into(), most.into())
}
