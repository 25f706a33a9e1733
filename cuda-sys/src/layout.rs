//! Turns the C compiler's word on every record into compile-time assertions.

/// Asserts size, alignment (in bytes) and the offset of every field.
macro_rules! layout {
    ($($record:ident: size $size:literal, align $align:literal {
        $($field:ident @ $offset:literal),*
    })*) => {
        $(const _: () = {
            assert!(size_of::<$record>() == $size);
            assert!(align_of::<$record>() == $align);
            $(assert!(core::mem::offset_of!($record, $field) == $offset);)*
        };)*
    };
}

pub(crate) use layout;
