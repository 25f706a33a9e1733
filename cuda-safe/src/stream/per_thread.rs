//! The default stream that each thread has in a context.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::Duration;

use cuda_sys::{CU_STREAM_PER_THREAD, CUevent};

use super::{Owner, Stream};
use crate::context::Context;
use crate::error::Result;
use crate::shim::{Handle, Timeline};

/// Is the calling thread's default stream in a context. It and the context's default stream wait
/// for each other.
///
/// The driver has one name for all of them and goes by the thread that calls, so that the value
/// stays in its thread. What is enqueued on it records an event at once (about 160 ns), since no
/// other thread could do so later.
///
/// ```
/// use cuda_safe::{Device, DeviceBuffer, PerThreadStream, call};
///
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// let context = Device::get(0)?.context()?;
/// let stream = PerThreadStream::new(&context);
/// let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64)?;
/// call::memset_d8_async(&mut buffer, 1, &stream)?;
/// stream.synchronize()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail,E0277
/// fn is_send<T: Send>() {}
/// is_send::<cuda_safe::PerThreadStream>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>() {}
/// is_sync::<cuda_safe::PerThreadStream>();
/// ```
///
/// Driver: [`CUstream`](crate::sys::CUstream),
/// [`CU_STREAM_PER_THREAD`](crate::sys::CU_STREAM_PER_THREAD), chapter Stream Management.
pub struct PerThreadStream {
    stream: Stream,
    /// Forbids other threads.
    thread: PhantomData<*const ()>,
}

thread_local! {
    /// Lists the thread's streams by the number of the context.
    static TIMELINES: RefCell<Vec<(u64, Weak<Timeline>)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the state of the thread's stream. A thread that ends has no list any more: then the
/// state is new, and at worst what is enqueued waits for more than it has to.
fn timeline(context: &Context) -> Arc<Timeline> {
    let made = || Timeline::eager(context, CU_STREAM_PER_THREAD);
    let listed = TIMELINES.try_with(|timelines| {
        let mut timelines = timelines.try_borrow_mut().ok()?;
        timelines.retain(|(_, known)| known.strong_count() > 0);
        let known = timelines.iter().find(|(id, _)| *id == context.id());
        if let Some(known) = known.and_then(|(_, known)| known.upgrade()) {
            return Some(known);
        }
        let timeline = made();
        timelines.push((context.id(), Arc::downgrade(&timeline)));
        Some(timeline)
    });
    listed.ok().flatten().unwrap_or_else(made)
}

impl PerThreadStream {
    /// Returns the calling thread's default stream in `context`.
    pub fn new(context: &Context) -> Self {
        let (raw, owner) = (CU_STREAM_PER_THREAD, Owner::Driver);
        let stream = Stream { raw, owner, timeline: timeline(context), context: context.clone() };
        Self { stream, thread: PhantomData }
    }

    pub(super) const fn inner(&self) -> &Stream {
        &self.stream
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        self.stream.context()
    }

    /// Waits until everything that was enqueued on it is done.
    ///
    /// Driver: [`cuStreamSynchronize`](crate::call::stream_synchronize).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        self.stream.synchronize()
    }

    /// Waits as [`synchronize`](Self::synchronize) does, but no longer than `limit`; answers whether
    /// everything is done.
    ///
    /// Driver: [`cuStreamQuery`](crate::call::stream_query).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        self.stream.wait_timeout(limit)
    }

    /// Tells whether everything that was enqueued on it is done.
    ///
    /// Driver: [`cuStreamQuery`](crate::call::stream_query).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn is_done(&self) -> Result<bool> {
        self.stream.is_done()
    }

    /// Makes what comes on the stream wait for what `event` recorded.
    ///
    /// Driver: [`cuStreamWaitEvent`](crate::call::stream_wait_event).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn wait_for(&self, event: &impl Handle<Raw = CUevent>) -> Result<()> {
        self.stream.wait_for(event)
    }

    /// Calls a closure once the stream comes to it, as [`Stream::call`] does.
    ///
    /// Driver: [`cuLaunchHostFunc`](crate::call::launch_host_func).
    ///
    /// # Errors
    ///
    /// As the driver answers; then the closure is freed.
    pub fn call(&self, closure: impl FnOnce() + Send + 'static) -> Result<()> {
        self.stream.call(closure)
    }
}

impl fmt::Debug for PerThreadStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerThreadStream").field(&self.stream).finish()
    }
}
