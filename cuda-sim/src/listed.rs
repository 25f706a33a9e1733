//! Enums that know all of their variants.

/// Makes an enum, the list of its variants, and a function that says what each is called. One list is
/// all three, so that no variant is forgotten where tests and texts go through them.
macro_rules! listed {
    (
        $(#[$attribute:meta])* enum $name:ident {
            $($(#[$about:meta])* $variant:ident = $text:literal,)*
        }
        $(#[$about_text:meta])* $visibility:vis fn $function:ident
    ) => {
        $(#[$attribute])*
        pub enum $name { $($(#[$about])* $variant,)* }

        impl $name {
            /// Lists all of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            $(#[$about_text])*
            $visibility const fn $function(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

pub(crate) use listed;
