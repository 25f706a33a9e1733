//! Which types of Rust are which types of elements.

use cuda_safe::Element;

use crate::wire::DType;

/// Is an element of which a descriptor can say what it is.
pub trait Typed: Element + Send + Sync {
    /// What a descriptor says.
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
