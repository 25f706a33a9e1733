//! What the elements of a view are: a type of Rust, or one that is known at run time.

use crate::dtype::DType;
use crate::error::{Error, Quantity, Result, Rule};
use crate::memory::Element;

mod sealed {
    pub trait Sealed {}
}

/// Is what the elements of a [`View`](crate::View) are: an [`Element`], or [`Dynamic`].
pub trait Item: sealed::Sealed {
    /// What has to be kept of the type: nothing, or a [`DType`].
    type Kept: Copy + Send + Sync;

    /// Returns the bytes of an element.
    fn size(kept: Self::Kept) -> usize;

    /// Refuses two arrays whose elements differ in type.
    #[doc(hidden)]
    fn check_same(call: &'static str, need: Self::Kept, have: Self::Kept) -> Result<()>;
}

impl<T: Element> sealed::Sealed for T {}

impl<T: Element> Item for T {
    type Kept = ();

    #[inline]
    fn size((): ()) -> usize {
        size_of::<T>()
    }

    #[inline]
    fn check_same(_call: &'static str, (): (), (): ()) -> Result<()> {
        Ok(())
    }
}

/// Stands for elements whose type is known at run time: `View<'_, Dynamic>`.
#[derive(Clone, Copy, Debug)]
pub enum Dynamic {}

impl sealed::Sealed for Dynamic {}

impl Item for Dynamic {
    type Kept = DType;

    #[inline]
    fn size(kept: DType) -> usize {
        usize::try_from(kept.size()).unwrap_or(usize::MAX)
    }

    fn check_same(call: &'static str, need: DType, have: DType) -> Result<()> {
        if need == have {
            return Ok(());
        }
        let (need, have) = (Quantity::Type(need), Quantity::Type(have));
        Err(Error::refused(call, "dtype", Rule::ElementType, need, have))
    }
}

/// Is an element that has a [`DType`].
pub trait Typed: Element + Send + Sync {
    /// The type.
    const DTYPE: DType;
}

macro_rules! typed {
    ($($ty:ty = $dtype:ident),* $(,)?) => { $(
        impl Typed for $ty {
            const DTYPE: DType = DType::$dtype;
        }
    )* };
}

typed!(
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    f32 = F32,
    f64 = F64,
);

#[cfg(feature = "half")]
typed!(half::f16 = F16, half::bf16 = BF16);
