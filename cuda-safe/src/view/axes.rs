//! The operations of layouts, on views: another array over the same memory.
//!
//! A view for reading stays and gives another one; a view for writing is used up, so that no two
//! reach the same bytes. Operations by which elements would share bytes are those of views for
//! reading alone.

use super::{Item, View, ViewMut};
use crate::error::Result;
use crate::layout::Index;
#[cfg(doc)]
use crate::layout::StridedLayout;

impl<T: Item> View<'_, T> {
    /// Views a part: one index, range, new axis or ellipsis an axis, as [`s!`](crate::s) writes
    /// them.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::slice`].
    pub fn slice(&self, index: &[Index]) -> Result<Self> {
        self.over(self.layout.slice(index)?, self.kept)
    }

    /// Repeats the array to a shape, without a copy.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::broadcast_to`].
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Self> {
        self.over(self.layout.broadcast_to(shape)?, self.kept)
    }

    /// Views all windows of a size per axis.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::windows`].
    pub fn windows(&self, sizes: &[i64]) -> Result<Self> {
        self.over(self.layout.windows(sizes)?, self.kept)
    }

    /// Views the windows of `size` elements along one axis that start every `step` elements.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::unfold`].
    pub fn unfold(&self, axis: i64, size: i64, step: i64) -> Result<Self> {
        self.over(self.layout.unfold(axis, size, step)?, self.kept)
    }

    /// Views the two sides of a split.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::split_at`].
    pub fn split_at(&self, axis: i64, element: i64) -> Result<(Self, Self)> {
        let (left, right) = self.layout.split_at(axis, element)?;
        Ok((self.over(left, self.kept)?, self.over(right, self.kept)?))
    }

    /// Goes through the consecutive parts of `size` elements of an axis.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::chunks`].
    pub fn chunks(&self, axis: i64, size: i64) -> Result<impl Iterator<Item = Self>> {
        let parts = self.layout.chunks(axis, size)?;
        // A part of an array lies where the array lies.
        Ok(parts.filter_map(|part| self.over(part, self.kept).ok()))
    }
}

impl<T: Item> ViewMut<'_, T> {
    /// Views a part, in the place of this view.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::slice`].
    pub fn slice(self, index: &[Index]) -> Result<Self> {
        let layout = self.layout.slice(index)?;
        self.over(layout, self.kept)
    }
}

/// Gives both kinds of views the operations that keep elements apart.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $ty:ty),*);)*) => {
        impl<T: Item> View<'_, T> { $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`StridedLayout::", stringify!($name), "`].")]
            pub fn $name(&self, $($parameter: $ty),*) -> Result<Self> {
                self.over(self.layout.$name($($parameter),*)?, self.kept)
            }
        )* }

        impl<T: Item> ViewMut<'_, T> { $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`StridedLayout::", stringify!($name), "`].")]
            pub fn $name(self, $($parameter: $ty),*) -> Result<Self> {
                let layout = self.layout.$name($($parameter),*)?;
                self.over(layout, self.kept)
            }
        )* }
    };
}

operations! {
    /// Orders the axes: axis `k` is axis `axes[k]` of this view.
    permute(axes: &[i64]);
    /// Puts the axes into reverse order.
    transpose();
    /// Reverses an axis.
    flip(axis: i64);
    /// Drops the axes of extent 1.
    squeeze();
    /// Inserts axes of extent 1; `axes` are their positions in the result.
    unsqueeze(axes: &[i64]);
    /// Gives the array another shape, in the order of its indices, without a copy.
    reshape(shape: &[i64]);
    /// Merges neighbouring axes that are evenly spaced.
    flatten();
    /// Merges neighbouring axes among those from `first` to `last`.
    flatten_axes(first: i64, last: i64);
    /// Takes the elements on a diagonal of two axes as a last axis.
    diagonal(above: i64, row_axis: i64, column_axis: i64);
}
