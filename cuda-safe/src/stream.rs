//! Streams: work in order.
#![expect(unsafe_code, reason = "owns a stream's handle")]

mod any;
mod options;
mod per_thread;

use std::any::Any;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use cuda_sys::{CU_STREAM_LEGACY, CUevent, CUstream, CUstream_flags};

use crate::call;
use crate::context::Context;
use crate::deferred;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{Handle, Relaxed, Timeline, raw};

pub use any::AnyStream;
pub(crate) use any::on;
pub use options::StreamOptions;
pub use per_thread::PerThreadStream;

/// Is a stream. Its drop waits for nothing: the work goes on.
///
/// Driver: [`CUstream`](crate::sys::CUstream), chapter Stream Management.
pub struct Stream {
    raw: CUstream,
    owner: Owner,
    timeline: Arc<Timeline>,
    context: Context,
}

/// Is whose a stream's handle is.
enum Owner {
    /// The value's: its drop destroys the stream.
    Value,
    /// The driver's, which has such a stream in every context.
    Driver,
    /// Somebody else's, who keeps the stream as long as this lives.
    Other { _owner: Box<dyn Any + Send + Sync> },
}

// SAFETY: a stream may be used from every thread.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver orders what threads enqueue at the same time.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream that does not wait for the default stream, nor that for it.
    ///
    /// Driver: [`cuStreamCreate`](crate::call::stream_create).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        Self::with_options(context, StreamOptions::new())
    }

    /// Makes a stream as the options say.
    ///
    /// ```
    /// use cuda_safe::{Device, Stream, StreamOptions};
    ///
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// let context = Device::get(0)?.context()?;
    /// let first = *Stream::priorities(&context)?.start();
    /// let stream = Stream::with_options(&context, StreamOptions::new().priority(first))?;
    /// assert_eq!(stream.priority()?, first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuStreamCreate`](crate::call::stream_create), or
    /// [`cuStreamCreateWithPriority`](crate::call::stream_create_with_priority) with a priority.
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn with_options(context: &Context, options: StreamOptions) -> Result<Self> {
        let raw = match options.priority {
            None => call::stream_create(context, options.flags()),
            Some(priority) => call::stream_create_with_priority(context, options.flags(), priority),
        }?;
        let timeline = Timeline::new(context, raw);
        Ok(Self { raw, owner: Owner::Value, timeline, context: context.clone() })
    }

    /// Returns the context's default stream, which calls without a stream are ordered on.
    pub fn legacy(context: &Context) -> Self {
        let timeline = context.legacy_timeline();
        let owner = Owner::Driver;
        Self { raw: CU_STREAM_LEGACY, owner, timeline, context: context.clone() }
    }

    /// Adopts a stream of others. Its drop destroys nothing, and drops `owner`; pass what keeps the
    /// stream alive, or `()`.
    ///
    /// What is enqueued on it by this crate records an event at once (about 160 ns), since later the
    /// others may have enqueued something that lasts, or have destroyed it.
    ///
    /// Driver: [`cuStreamGetCtx_v2`](crate::call::stream_get_ctx), which tells whose the stream is.
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; as the driver answers.
    ///
    /// # Safety
    ///
    /// The stream is alive until `owner` is dropped, is none of the driver's default streams, and
    /// does not capture while it is used here. What others do on it to memory of this crate, they
    /// order themselves.
    pub unsafe fn adopt(
        context: &Context,
        raw: CUstream,
        owner: impl Any + Send + Sync,
    ) -> Result<Self> {
        let (timeline, owner) =
            (Timeline::eager(context, raw), Owner::Other { _owner: Box::new(owner) });
        let stream = Self { raw, owner, timeline, context: context.clone() };
        let home = match call::stream_get_ctx(&stream) {
            Ok((home, _)) => home,
            // Drivers before CUDA 12.5 do not have the call; then it is the caller's word.
            Err(error) if error.is_unsupported() => context.raw(),
            Err(error) => return Err(error),
        };
        if home == context.raw() {
            return Ok(stream);
        }
        let (need, have) = (Quantity::Context(context.id()), Quantity::Word("another context"));
        Err(Error::refused("Stream::adopt", "raw", Rule::Home, need, have))
    }

    /// Returns the priorities that streams can have, from the first to come to the last: of two
    /// numbers, the lower comes first.
    ///
    /// Driver: [`cuCtxGetStreamPriorityRange`](crate::call::ctx_get_stream_priority_range).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn priorities(context: &Context) -> Result<RangeInclusive<i32>> {
        let (least, greatest) = call::ctx_get_stream_priority_range(context)?;
        Ok(greatest..=least)
    }

    /// Returns its priority.
    ///
    /// Driver: [`cuStreamGetPriority`](crate::call::stream_get_priority).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn priority(&self) -> Result<i32> {
        call::stream_get_priority(self)
    }

    /// Tells whether it and the default stream wait for each other.
    ///
    /// Driver: [`cuStreamGetFlags`](crate::call::stream_get_flags).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn waits_for_default(&self) -> Result<bool> {
        let flags = call::stream_get_flags(self)?;
        Ok(flags & CUstream_flags::CU_STREAM_NON_BLOCKING.0 == 0)
    }

    /// Returns the driver's number for it, which no other stream of the process has or had.
    ///
    /// Driver: [`cuStreamGetId`](crate::call::stream_get_id).
    ///
    /// # Errors
    ///
    /// As the driver answers; drivers before CUDA 12 have no numbers.
    pub fn driver_id(&self) -> Result<u64> {
        call::stream_get_id(self)
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) const fn timeline(&self) -> &Arc<Timeline> {
        &self.timeline
    }

    /// Waits until everything that was enqueued on it is done, and frees what it keeps.
    ///
    /// Driver: [`cuStreamSynchronize`](crate::call::stream_synchronize).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        deferred::release(&self.context, &self.timeline, self.timeline.take_all_kept());
        let mark = self.timeline.cut();
        let relaxed = Relaxed::enter();
        call::stream_synchronize(self)?;
        drop(relaxed);
        self.timeline.note_reached(mark);
        self.context.queue().collect(&self.context);
        Ok(())
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
        let mark = self.timeline.cut();
        let done = crate::wait::poll(limit, || self.query())?;
        if done {
            self.timeline.note_reached(mark);
        }
        Ok(done)
    }

    /// Tells whether everything that was enqueued on it is done.
    ///
    /// Driver: [`cuStreamQuery`](crate::call::stream_query).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn is_done(&self) -> Result<bool> {
        let mark = self.timeline.cut();
        let done = self.query()?;
        if done {
            self.timeline.note_reached(mark);
        }
        Ok(done)
    }

    fn query(&self) -> Result<bool> {
        let _relaxed = Relaxed::enter();
        match call::stream_query(self) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes what comes on the stream wait for what `event` recorded, in whichever context.
    ///
    /// Driver: [`cuStreamWaitEvent`](crate::call::stream_wait_event).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn wait_for(&self, event: &impl Handle<Raw = CUevent>) -> Result<()> {
        call::stream_wait_event(self, &OfAnyContext(event))
    }

    /// Calls a closure on a thread of the driver's, once the stream comes to it; what comes behind
    /// waits for its end.
    ///
    /// A panic is caught, and told to [`Context::on_error`]. If the context ends or fails before, the
    /// closure is dropped without having run. No call of the driver can be made in it: each is
    /// refused by [`Rule::Outside`], and memory that it drops is freed later.
    ///
    /// ```
    /// use cuda_safe::{Device, Stream};
    /// use std::sync::mpsc;
    ///
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// let context = Device::get(0)?.context()?;
    /// let stream = Stream::new(&context)?;
    /// let (sender, receiver) = mpsc::channel();
    /// stream.call(move || drop(sender.send("done")))?;
    /// stream.synchronize()?;
    /// assert_eq!(receiver.recv()?, "done");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuLaunchHostFunc`](crate::call::launch_host_func).
    ///
    /// # Errors
    ///
    /// As the driver answers; then the closure is dropped.
    pub fn call(&self, closure: impl FnOnce() + Send + 'static) -> Result<()> {
        call::launch_host_func(self, closure)
    }

    /// Notes that something comes on the stream that may block it for as long as others like: who
    /// waits for earlier work then does not wait for that.
    ///
    /// Driver: [`cuEventRecord`](crate::call::event_record).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn fence(&self) -> Result<()> {
        self.timeline.fence()
    }
}

/// Is an event that a stream of another context may wait for, too.
struct OfAnyContext<'a, E>(&'a E);

// SAFETY: the event vouches for its handle. Only a record must be in the event's own context.
unsafe impl<E: Handle<Raw = CUevent>> Handle for OfAnyContext<'_, E> {
    type Raw = CUevent;

    fn raw(&self) -> CUevent {
        self.0.raw()
    }

    fn home(&self) -> Option<&Context> {
        None
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("timeline", &self.timeline)
            .field("context", &self.context.id())
            .finish_non_exhaustive()
    }
}

// SAFETY: the stream lives as long as the value, in its context.
unsafe impl Handle for Stream {
    type Raw = CUstream;

    #[inline]
    fn raw(&self) -> CUstream {
        self.raw
    }

    #[inline]
    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.context.is_own_process() {
            return;
        }
        match self.owner {
            Owner::Value => {}
            Owner::Driver => {
                let kept = self.timeline.take_all_kept();
                return deferred::release(&self.context, &self.timeline, kept);
            }
            // The events are recorded already; from here on the handle may go at any time.
            Owner::Other { .. } => return self.timeline.forsake(),
        }
        deferred::release(&self.context, &self.timeline, self.timeline.take_all_kept());
        let entered = match self.context.enter("cuStreamDestroy_v2") {
            Ok(entered) => entered,
            // After a reset by others the handle must not be used: the driver would crash.
            Err(error) => return self.context.report(error),
        };
        if let Some((raw, recorded)) = self.timeline.retire() {
            // SAFETY: the handle is alive, and was taken from the only other place that has it.
            let destroyed = unsafe { raw::stream_destroy(raw) };
            if let Err(error) = recorded.and(destroyed) {
                self.context.report(error);
            }
        }
        drop(entered);
        // What another thread dropped in between; it is freed in the order of the context's own stream.
        deferred::release(&self.context, &self.timeline, self.timeline.take_all_kept());
    }
}
