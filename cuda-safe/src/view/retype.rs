//! The same bytes as elements of another type.

use super::{Dynamic, Element, Item, Typed, View, ViewMut};
use crate::dtype::DType;
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::Packing;
#[cfg(doc)]
use crate::layout::StridedLayout;

/// Returns the bytes of an element of `T`.
fn item_size<T: Item>(kept: T::Kept) -> Result<i64> {
    let have = T::size(kept);
    i64::try_from(have).map_err(|_| {
        let most = usize::try_from(i64::MAX).unwrap_or(usize::MAX);
        Error::refused("View::repack", "T", Rule::Fit, have.into(), most.into())
    })
}

fn check_type<T: Typed>(call: &'static str, have: DType) -> Result<()> {
    if T::DTYPE == have {
        return Ok(());
    }
    let (need, have) = (Quantity::Type(T::DTYPE), Quantity::Type(have));
    Err(Error::refused(call, "T", Rule::ElementType, need, have))
}

impl<'a, T: Item> View<'a, T> {
    /// Views neighbouring elements as one, or each as several: the channels of an image as pixels.
    ///
    /// ```
    /// use cuda_safe::View;
    /// use cuda_safe::layout::{Order, Packing, StridedLayout};
    ///
    /// let bytes = [0_u8; 24];
    /// let channels = View::of_slice(&bytes, StridedLayout::dense(&[2, 4, 3], 1, Order::C)?)?;
    /// let pixels = channels.repack::<[u8; 3]>(Packing { keep_axis: false, ..Packing::LAST_AXIS })?;
    /// assert_eq!(pixels.layout().shape(), [2, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::repack`].
    pub fn repack<U: Element>(&self, packing: Packing) -> Result<View<'a, U>> {
        self.over(self.layout.repack(item_size::<U>(())?, packing)?, ())
    }

    /// Views neighbouring elements as one of a type that is known at run time, or each as several.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::repack`].
    pub fn repack_as(&self, dtype: DType, packing: Packing) -> Result<View<'a, Dynamic>> {
        self.over(self.layout.repack(dtype.size(), packing)?, dtype)
    }
}

impl<'a, T: Item> ViewMut<'a, T> {
    /// Views neighbouring elements as one, or each as several, in the place of this view.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::repack`].
    pub fn repack<U: Element>(self, packing: Packing) -> Result<ViewMut<'a, U>> {
        self.over(self.layout.repack(item_size::<U>(())?, packing)?, ())
    }

    /// Views neighbouring elements as one of a type that is known at run time, or each as several.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::repack`].
    pub fn repack_as(self, dtype: DType, packing: Packing) -> Result<ViewMut<'a, Dynamic>> {
        self.over(self.layout.repack(dtype.size(), packing)?, dtype)
    }
}

impl<'a, T: Typed> View<'a, T> {
    /// Forgets the type at compile time, and keeps it at run time.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn into_dynamic(self) -> Result<View<'a, Dynamic>> {
        self.over(self.layout.clone(), T::DTYPE)
    }
}

impl<'a, T: Typed> ViewMut<'a, T> {
    /// Forgets the type at compile time, and keeps it at run time.
    ///
    /// # Errors
    ///
    /// Never refuses; it returns what all operations return.
    pub fn into_dynamic(self) -> Result<ViewMut<'a, Dynamic>> {
        self.over(self.layout.clone(), T::DTYPE)
    }
}

impl<'a> View<'a, Dynamic> {
    /// Returns the type of the elements.
    pub const fn dtype(&self) -> DType {
        self.kept
    }

    /// Views the elements as `T`s, which they must be.
    ///
    /// ```
    /// use cuda_safe::View;
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let numbers = [0_f32; 6];
    /// let matrix = View::of_slice(&numbers, StridedLayout::dense(&[2, 3], 4, Order::C)?)?;
    /// let dynamic = matrix.into_dynamic()?;
    /// assert_eq!(dynamic.dtype().to_string(), "float32");
    /// assert!(dynamic.cast::<f32>().is_ok());
    /// assert_eq!(
    ///     dynamic.cast::<i32>().unwrap_err().to_string(),
    ///     "View::cast: `T` breaks ElementType: needs int32, has float32",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rule::ElementType`] if they are of another type.
    pub fn cast<T: Typed>(&self) -> Result<View<'a, T>> {
        check_type::<T>("View::cast", self.kept)?;
        self.over(self.layout.clone(), ())
    }
}

impl<'a> ViewMut<'a, Dynamic> {
    /// Returns the type of the elements.
    pub const fn dtype(&self) -> DType {
        self.kept
    }

    /// Views the elements as `T`s, which they must be.
    ///
    /// # Errors
    ///
    /// [`Rule::ElementType`] if they are of another type.
    pub fn cast<T: Typed>(self) -> Result<ViewMut<'a, T>> {
        check_type::<T>("ViewMut::cast", self.kept)?;
        self.over(self.layout.clone(), ())
    }
}
