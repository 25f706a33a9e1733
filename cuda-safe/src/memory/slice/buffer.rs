//! What all buffers have: themselves as a part, and parts of that.

/// Gives a buffer its parts.
macro_rules! buffer {
    ($buffer:ty, $place:ty $(, $bound:ident)?) => {
        impl<T: Element $(+ $bound)?> $buffer {
            /// Lends all of it for reading.
            pub fn as_part(&self) -> Slice<'_, T, $place> {
                Slice::of(self.region())
            }

            /// Lends all of it for writing.
            pub fn as_part_mut(&mut self) -> SliceMut<'_, T, $place> {
                SliceMut::of(self.region())
            }

            /// Lends a range of elements for reading.
            ///
            /// # Errors
            ///
            /// [`Rule::Reach`](crate::Rule::Reach) if the range is not within it.
            pub fn slice(
                &self,
                range: impl core::ops::RangeBounds<usize>,
            ) -> Result<Slice<'_, T, $place>> {
                self.as_part().slice(range)
            }

            /// Lends a range of elements for writing.
            ///
            /// # Errors
            ///
            /// [`Rule::Reach`](crate::Rule::Reach) if the range is not within it.
            pub fn slice_mut(
                &mut self,
                range: impl core::ops::RangeBounds<usize>,
            ) -> Result<SliceMut<'_, T, $place>> {
                self.as_part_mut().slice(range)
            }

            /// Divides it before the element `middle`; streams and the CPU may use both halves at
            /// once.
            ///
            /// # Errors
            ///
            /// [`Rule::Reach`](crate::Rule::Reach) if it has not so many elements.
            pub fn split_at_mut(
                &mut self,
                middle: usize,
            ) -> Result<(SliceMut<'_, T, $place>, SliceMut<'_, T, $place>)> {
                self.as_part_mut().split_at(middle)
            }
        }
    };
}

/// Gives a buffer what the CPU needs.
macro_rules! host_buffer {
    ($buffer:ty $(, $bound:ident)?) => {
        impl<T: Element $(+ $bound)?> $buffer {
            /// Waits until nothing writes to it any more, and lends it for reading.
            ///
            /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes
            /// to it.
            ///
            /// # Errors
            ///
            /// As the driver answers while it waits; it may be the answer to earlier work.
            pub fn as_slice(&self) -> Result<&[T]> {
                self.as_part().as_slice()
            }

            /// Waits until nothing uses it any more, and lends it for writing.
            ///
            /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
            ///
            /// # Errors
            ///
            /// As the driver answers while it waits; it may be the answer to earlier work.
            pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
                self.as_part_mut().into_mut_slice()
            }
        }
    };
}

/// Gives a buffer of page-locked memory itself by a device's address.
macro_rules! locked_buffer {
    ($buffer:ty $(, $bound:ident)?) => {
        impl<T: Element $(+ $bound)?> $buffer {
            /// Lends all of it for reading, by the address that the device of `context` has for it:
            /// for kernels and copies there.
            ///
            /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer).
            ///
            /// # Errors
            ///
            /// As the driver answers.
            pub fn on_device<'a>(
                &'a self,
                context: &'a Context,
            ) -> Result<Slice<'a, T, $crate::OnDevice>> {
                Ok(Slice::of($crate::memory::device_address(self.region(), context)?))
            }

            /// Lends all of it for writing, by the address that the device of `context` has for it.
            ///
            /// Driver: [`cuMemHostGetDevicePointer_v2`](crate::call::mem_host_get_device_pointer).
            ///
            /// # Errors
            ///
            /// As the driver answers.
            pub fn on_device_mut<'a>(
                &'a mut self,
                context: &'a Context,
            ) -> Result<SliceMut<'a, T, $crate::OnDevice>> {
                Ok(SliceMut::of($crate::memory::device_address(self.region(), context)?))
            }
        }
    };
}

pub(crate) use {buffer, host_buffer, locked_buffer};
