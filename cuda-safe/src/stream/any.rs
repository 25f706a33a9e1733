//! What calls are enqueued on: a stream of any kind.
//!
//! A call's own parameter is a [`Stream`]; of a [`PerThreadStream`] no such reference gets out, since
//! it could be sent to another thread, where the driver takes the handle for another stream.

use super::{PerThreadStream, Stream};

/// Is a stream that calls can be enqueued on.
///
/// Driver: [`CUstream`](crate::sys::CUstream), chapter Stream Management.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a stream")]
pub trait AnyStream: sealed::Sealed {
    /// Returns the stream, to those alone who have the key.
    #[doc(hidden)]
    fn stream(&self, key: &Key) -> &Stream;
}

/// Is what only this crate has.
#[doc(hidden)]
#[derive(Debug)]
pub struct Key(());

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Stream {}
    impl Sealed for super::PerThreadStream {}
}

/// Returns the stream that a call is enqueued on.
#[inline]
pub(crate) fn on(stream: &impl AnyStream) -> &Stream {
    stream.stream(&Key(()))
}

impl AnyStream for Stream {
    #[inline]
    fn stream(&self, _key: &Key) -> &Stream {
        self
    }
}

impl AnyStream for PerThreadStream {
    #[inline]
    fn stream(&self, _key: &Key) -> &Stream {
        self.inner()
    }
}
