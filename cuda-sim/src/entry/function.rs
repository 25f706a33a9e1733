//! The macro that makes C functions of safe bodies.
//!
//! The code that it makes is unsafe, because a C function is unsafe to call.

use cuda_sys::CUstream;

use crate::engine::handle::RawHandle;
use crate::engine::state::PER_THREAD;

/// Is which stream a call means that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultStream {
    /// The context's legacy stream.
    Legacy,
    /// The calling thread's own, as the `_ptsz` and `_ptds` functions mean it.
    PerThread,
}

impl DefaultStream {
    /// Returns the stream that a call means which names `stream`.
    pub(super) fn of(self, stream: CUstream) -> CUstream {
        match (self, stream.number()) {
            (Self::PerThread, 0) => CUstream::from_number(PER_THREAD),
            _ => stream,
        }
    }
}

/// Is the C type of a parameter.
macro_rules! parameter {
    (out $ty:ty) => { *mut $ty };
    (into $ty:ty) => { *const $ty };
    (opaque $ty:ty) => { $ty };
    (val $ty:ty) => { $ty };
}

/// Is what a body gets of a parameter.
macro_rules! argument {
    (out $name:ident) => {
        // SAFETY: the caller of the C function promises what its manual asks of the pointer.
        unsafe { crate::entry::Out::new($name) }
    };
    (into $name:ident) => {
        // SAFETY: the caller of the C function promises what its manual asks of the pointer.
        unsafe { crate::entry::In::new($name) }
    };
    (opaque $name:ident) => {
        crate::entry::Opaque($name)
    };
    (val $name:ident) => {
        $name
    };
}

/// Makes C functions of bodies. A parameter is a value (`val`), a value that is not printed
/// (`opaque`), a pointer that is written through (`out`) or read through (`into`).
///
/// `with cuX_ptsz` makes a second function of the body, for which no stream is the thread's own one.
macro_rules! simulate {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $parameters:tt $(with $twin:ident)? |$session:pat_param| $body:block
    )*) => {$(
        crate::entry::c_function! {
            $(#[$attribute])*
            fn $name(Legacy) $parameters |$session| $body
        }
        $(
            crate::entry::c_function! {
                /// Is the form in which no stream is the calling thread's own.
                fn $twin(PerThread) $parameters |$session| $body
            }
        )?
    )*};
}

/// Makes one C function of a body.
macro_rules! c_function {
    (
        $(#[$attribute:meta])*
        fn $name:ident($default_stream:ident)
        ($($parameter:ident: $kind:ident $ty:ty),* $(,)?)
        |$session:pat_param| $body:block
    ) => {
        $(#[$attribute])*
        #[expect(unsafe_code, reason = "a C function is unsafe to call")]
        pub(crate) unsafe extern "system" fn $name(
            $($parameter: crate::entry::parameter!($kind $ty)),*
        ) -> cuda_sys::CUresult {
            $(let $parameter = crate::entry::argument!($kind $parameter);)*
            crate::entry::enter(
                crate::table::Function::$name,
                crate::entry::DefaultStream::$default_stream,
                &[$((stringify!($parameter), &$parameter as &dyn std::fmt::Debug)),*],
                |$session: crate::entry::Session| -> crate::entry::Answer { $body },
            )
        }
    };
}

pub(crate) use {argument, c_function, parameter, simulate};
