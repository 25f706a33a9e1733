//! Copies as methods of what they go to: one name, whatever both sides are.
//!
//! What is only borrowed, a slice of the host, is done with on return; the rest is asynchronous.

use super::buffer::row;
use super::{Item, View, ViewMut};
use crate::copy::{Plan, copy};
use crate::error::Result;
use crate::memory::{
    AddressRange, DeviceBuffer, Element, ManagedBuffer, PinnedBuffer, Place, Registered,
    RegisteredHost, Slice, SliceMut, WriteCombinedBuffer,
};
use crate::module::Global;
use crate::stream::AnyStream;

/// Is what can be copied from: a view, and all that has one.
#[diagnostic::on_unimplemented(message = "`{Self}` is no array of `{T}`")]
pub trait AsView<T: Item> {
    /// Views it as it is.
    ///
    /// # Errors
    ///
    /// Refuses a size beyond what a layout counts.
    fn as_view(&self) -> Result<View<'_, T>>;
}

impl<T: Item> AsView<T> for View<'_, T> {
    fn as_view(&self) -> Result<View<'_, T>> {
        Ok(self.clone())
    }
}

impl<T: Item> AsView<T> for ViewMut<'_, T> {
    fn as_view(&self) -> Result<View<'_, T>> {
        Ok(Self::as_view(self))
    }
}

impl<T: Element> AsView<T> for [T] {
    fn as_view(&self) -> Result<View<'_, T>> {
        View::of_slice(self, row::<T>(self.len())?)
    }
}

impl<T: Element, const N: usize> AsView<T> for [T; N] {
    fn as_view(&self) -> Result<View<'_, T>> {
        self.as_slice().as_view()
    }
}

impl<T: Element> AsView<T> for Vec<T> {
    fn as_view(&self) -> Result<View<'_, T>> {
        self.as_slice().as_view()
    }
}

impl<T: Element, P: Place> AsView<T> for Slice<'_, T, P> {
    fn as_view(&self) -> Result<View<'_, T>> {
        self.view()
    }
}

impl<T: Item> ViewMut<'_, T> {
    /// Copies from memory of any kind, in the order of `stream`, as [`copy`] does, and answers how.
    ///
    /// Driver: [`cuMemcpyHtoDAsync_v2`](crate::call::memcpy_htod_async) or another of that family,
    /// by the places of both.
    ///
    /// # Errors
    ///
    /// As [`copy`].
    pub fn copy_from(
        &mut self,
        source: &(impl AsView<T> + ?Sized),
        stream: &impl AnyStream,
    ) -> Result<Plan> {
        copy(&source.as_view()?, self, stream)
    }
}

/// Lets memory be copied from, and to.
macro_rules! copied {
    ($([$($generics:tt)*] $memory:ty;)*) => { $(
        impl<$($generics)*> AsView<T> for $memory {
            fn as_view(&self) -> Result<View<'_, T>> {
                self.view()
            }
        }

        impl<$($generics)*> $memory {
            /// Copies from memory of any kind with as many elements, in the order of `stream`, as
            /// [`copy`] does, and answers how.
            ///
            /// Driver: [`cuMemcpyHtoDAsync_v2`](crate::call::memcpy_htod_async) or another of that
            /// family, by the places of both.
            ///
            /// # Errors
            ///
            /// As [`copy`].
            pub fn copy_from(
                &mut self,
                source: &(impl AsView<T> + ?Sized),
                stream: &impl AnyStream,
            ) -> Result<Plan> {
                self.view_mut()?.copy_from(source, stream)
            }
        }
    )* };
}

copied!(
    [T: Element] DeviceBuffer<T>;
    [T: Element] PinnedBuffer<T>;
    [T: Element] WriteCombinedBuffer<T>;
    [T: Element] ManagedBuffer<T>;
    [T: Element] Registered<'_, T>;
    [T: Element + Send] RegisteredHost<T>;
    [T: Element] AddressRange<T>;
    [T: Element] Global<T>;
    [T: Element, P: Place] SliceMut<'_, T, P>;
);
