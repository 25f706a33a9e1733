//! One slot a function: looked up at first use by its exact name, then as fast as a linked call.
//!
//! The macro [`bind`] turns a library's list of functions into its table. Where the library comes
//! from is not known here; see `library`.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::Version;
use crate::library::{Library, Opened, Unavailable};

/// Is what is known of a function without loading its library.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The exact name that is looked up.
    pub name: &'static CStr,
    /// The header that declares it.
    pub header: &'static str,
    /// The release that brought it.
    pub since: Version,
    /// The release whose headers first call it deprecated.
    pub deprecated: Option<Version>,
}

/// Is why a function cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The library was not found or could not be opened.
    NoLibrary,
    /// The library does not have the function.
    Missing,
}

/// Is a return type that can say why nothing was called.
pub trait Absent {
    /// Returns what stands for the absence.
    fn absent(absence: Absence) -> Self;
}

/// Functions that return text never return null.
impl Absent for *const c_char {
    fn absent(absence: Absence) -> Self {
        let text = match absence {
            Absence::NoLibrary => c"the library was not found",
            Absence::Missing => c"the library does not have this function",
        };
        text.as_ptr()
    }
}

/// Is the place of one function, of the type `F`, in the table of its library.
pub struct Slot<F: 'static> {
    /// [`Self::first`] until the function was found, then the function.
    function: AtomicPtr<c_void>,
    /// Looks the function up, then calls it or answers for it. Being a function itself, it makes a
    /// call one load and one jump, with nothing to test.
    first: F,
    pub(crate) symbol: Symbol,
    library: &'static Library,
}

impl<F: Copy> Slot<F> {
    /// Makes the slot of a function.
    ///
    /// # Safety
    ///
    /// `F` is the type of a pointer to the function that `library` has under the symbol's name, and
    /// `function` is `first`.
    #[doc(hidden)]
    pub const unsafe fn new(
        symbol: Symbol,
        library: &'static Library,
        first: F,
        function: *mut c_void,
    ) -> Self {
        Self { function: AtomicPtr::new(function), first, symbol, library }
    }

    /// Returns what is known of the function without loading the library.
    pub const fn symbol(&self) -> &Symbol {
        &self.symbol
    }

    /// Returns the function.
    ///
    /// # Errors
    ///
    /// [`Unavailable::Load`] if the library cannot be opened, [`Unavailable::Missing`] if it does
    /// not have the function.
    pub fn get(&self) -> Result<F, Unavailable> {
        if self.is_found() {
            return Ok(self.current());
        }
        let opened = self.library.open().map_err(Unavailable::Load)?;
        if self.resolve(opened) {
            return Ok(self.current());
        }
        Err(Unavailable::Missing(self.library.missing(&self.symbol)))
    }

    /// Returns the function, or what looks it up and answers for it.
    #[inline]
    #[doc(hidden)]
    pub fn current(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let function = self.function.load(Ordering::Acquire);
        // SAFETY: `new`'s caller promised that the symbol has this type, and both are one pointer
        // wide.
        unsafe { core::mem::transmute_copy(&function) }
    }

    /// Looks the function up; says in one word why there is none.
    ///
    /// A library that could not be opened is not remembered, so that one that appears later is used.
    #[cold]
    pub(crate) fn find(&self) -> Result<F, Absence> {
        let opened = self.library.open().map_err(|_| Absence::NoLibrary)?;
        if self.resolve(opened) { Ok(self.current()) } else { Err(Absence::Missing) }
    }

    fn is_found(&self) -> bool {
        // SAFETY: `F` is a function pointer, as above.
        let first: *mut c_void = unsafe { core::mem::transmute_copy(&self.first) };
        self.function.load(Ordering::Acquire) != first
    }

    /// Puts the function in its place; tells whether the library has it.
    fn resolve(&self, opened: &Opened) -> bool {
        let Some(function) = opened.symbol(self.symbol.name) else { return false };
        self.function.store(function.as_ptr(), Ordering::Release);
        true
    }
}

impl<F> core::fmt::Debug for Slot<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Slot").field("symbol", &self.symbol).finish_non_exhaustive()
    }
}

/// Makes of a library's functions: `signature` (a pointer type each), `since` (a release each), the
/// table of slots, and the functions themselves.
macro_rules! bind {
    ($([$header:literal $since:literal $deprecated:literal]
        $name:ident($($parameter:ident: $ty:ty),*) -> $output:ty;)*) => {
        /// The type of a pointer to each function, by its symbol.
        pub mod signature {
            use super::super::types::*;
            use core::ffi::*;

            $(pub type $name = unsafe extern "system" fn($($parameter: $ty),*) -> $output;)*
        }

        /// The release that brought each function, by its symbol.
        pub mod since {
            use crate::Version;

            $(pub const $name: Version = Version::from_number($since);)*
        }

        /// Is a slot a function, by its symbol.
        #[derive(Debug)]
        pub struct Table {
            $(pub $name: crate::bind::Slot<signature::$name>,)*
        }

        /// Holds the slot of every function.
        pub static TABLE: Table = Table {
            // SAFETY: the signature is what the library's header declares for the symbol, and the
            // last two arguments are one function.
            $($name: unsafe { crate::bind::Slot::new(
                crate::bind::Symbol {
                    name: crate::bind::symbol_name(concat!(stringify!($name), "\0")),
                    header: $header,
                    since: Version::from_number($since),
                    deprecated: crate::bind::release($deprecated),
                },
                &LIBRARY,
                first::$name as signature::$name,
                first::$name as signature::$name as *mut core::ffi::c_void,
            ) },)*
        };

        /// What each slot holds until its function is found.
        mod first {
            use super::super::types::*;
            use super::TABLE;
            use core::ffi::*;

            $(pub(super) unsafe extern "system" fn $name($($parameter: $ty),*) -> $output {
                match TABLE.$name.find() {
                    // SAFETY: the caller's promise is the C function's own contract.
                    Ok(function) => unsafe { function($($parameter),*) },
                    Err(absence) => crate::bind::Absent::absent(absence),
                }
            })*
        }

        /// Lists every function that this crate binds.
        pub static SYMBOLS: &[&crate::bind::Symbol] = &[$(&TABLE.$name.symbol,)*];

        $(
            #[doc = concat!("Calls `", stringify!($name), "` of ", $header, ".")]
            ///
            /// # Safety
            ///
            /// As the manual says of the call.
            #[inline]
            pub unsafe fn $name($($parameter: $ty),*) -> $output {
                let function = TABLE.$name.current();
                // SAFETY: the caller's promise is the C function's own contract.
                unsafe { function($($parameter),*) }
            }
        )*
    };
}

/// Says which values of a status type stand for an absence.
macro_rules! status {
    ($status:ident: no_library = $no_library:ident, missing = $missing:ident) => {
        impl crate::bind::Absent for $status {
            fn absent(absence: crate::bind::Absence) -> Self {
                match absence {
                    crate::bind::Absence::NoLibrary => Self::$no_library,
                    crate::bind::Absence::Missing => Self::$missing,
                }
            }
        }
    };
}

pub(crate) use {bind, status};

/// Reads a name that ends in a zero byte.
pub(crate) const fn symbol_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Reads a release's number, 0 for none.
pub(crate) const fn release(number: u32) -> Option<Version> {
    if number == 0 { None } else { Some(Version::from_number(number)) }
}
