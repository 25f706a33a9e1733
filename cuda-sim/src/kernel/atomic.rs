//! Atomic operations of kernels.

use bytemuck::Pod;
use cuda_sys::CUdeviceptr;

use super::{KernelError, Launch};
use crate::engine::access::AccessKind;
use crate::engine::execute;

/// Is an element of which kernels can update one without a race.
pub trait Atomic: Pod + PartialEq + sealed::Sealed {
    /// Adds, and wraps where integers overflow.
    #[must_use]
    fn plus(self, other: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! atomic {
    ($($ty:ident $sum:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Atomic for $ty {
            fn plus(self, other: Self) -> Self {
                let sum: fn(Self, Self) -> Self = $sum;
                sum(self, other)
            }
        }
    )*};
}

atomic! {
    i32 Self::wrapping_add;
    u32 Self::wrapping_add;
    i64 Self::wrapping_add;
    u64 Self::wrapping_add;
    f32 |left, right| left + right;
    f64 |left, right| left + right;
}

impl Launch<'_> {
    /// Adds to an element, and returns what was there.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn atomic_add<T: Atomic>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        value: T,
    ) -> Result<T, KernelError> {
        self.atomic_update(address, index, |old: T| old.plus(value))
    }

    /// Replaces an element, and returns what was there.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn atomic_exchange<T: Atomic>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        value: T,
    ) -> Result<T, KernelError> {
        self.atomic_update(address, index, |_| value)
    }

    /// Replaces an element that has the bytes of `expected`, and returns what was there.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn atomic_compare_exchange<T: Atomic>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        expected: T,
        value: T,
    ) -> Result<T, KernelError> {
        let is_expected = |old: &T| bytemuck::bytes_of(old) == bytemuck::bytes_of(&expected);
        self.atomic_update(address, index, |old| if is_expected(&old) { value } else { old })
    }

    /// Replaces an element by what `update` makes of it, and returns what was there.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub fn atomic_update<T: Atomic>(
        &mut self,
        address: CUdeviceptr,
        index: u64,
        update: impl FnOnce(T) -> T,
    ) -> Result<T, KernelError> {
        let place = self.locate::<T>(AccessKind::Atomic, address, index, 1)?;
        let mut old = T::zeroed();
        execute::kernel_reads(place.clone(), bytemuck::bytes_of_mut(&mut old));
        execute::kernel_writes(place, bytemuck::bytes_of(&update(old)));
        Ok(old)
    }
}
