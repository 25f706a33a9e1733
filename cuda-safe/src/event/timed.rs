//! Events that say when they were reached.
#![expect(unsafe_code, reason = "vouches for an event's handle")]

use std::fmt;
use std::time::Duration;

use cuda_sys::{CUevent, CUevent_flags};

use super::EventOptions;
use super::owned::Owned;
use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::shim::{AnyStream, Handle};

/// Is an event that notes the time at which its stream came to it. Its drop waits for nothing.
///
/// Recording one costs the host about six times what an [`Event`](crate::Event) costs.
///
/// ```
/// use cuda_safe::{Device, DeviceBuffer, Stream, TimedEvent, call};
///
/// # cuda_sim::install(cuda_sim::Config::new())?;
/// let context = Device::get(0)?.context()?;
/// let stream = Stream::new(&context)?;
/// let (start, end) = (TimedEvent::new(&context)?, TimedEvent::new(&context)?);
/// let mut buffer = DeviceBuffer::<u8>::allocate(&context, 1 << 20)?;
///
/// start.record(&stream)?;
/// call::memset_d8_async(&mut buffer, 0, &stream)?;
/// end.record(&stream)?;
/// end.synchronize()?;
/// assert!(end.milliseconds_since(&start)?.is_some_and(|time| time >= 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Driver: [`CUevent`](crate::sys::CUevent), chapter Event Management.
pub struct TimedEvent(Owned);

impl TimedEvent {
    /// Makes an event that has recorded nothing yet, which counts as done but has no time.
    ///
    /// Driver: [`cuEventCreate`](crate::call::event_create).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn new(context: &Context) -> Result<Self> {
        Self::with_options(context, EventOptions::new())
    }

    /// Makes an event as the options say.
    ///
    /// Driver: [`cuEventCreate`](crate::call::event_create).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn with_options(context: &Context, options: EventOptions) -> Result<Self> {
        Owned::new(context, options.flags(CUevent_flags::CU_EVENT_DEFAULT)).map(Self)
    }

    /// Returns its context.
    pub const fn context(&self) -> &Context {
        self.0.context()
    }

    /// Records what was enqueued on `stream` so far.
    ///
    /// Driver: [`cuEventRecord`](crate::call::event_record).
    ///
    /// # Errors
    ///
    /// As the driver answers; [`Rule::Home`](crate::Rule::Home) for a stream of another context.
    pub fn record(&self, stream: &impl AnyStream) -> Result<()> {
        call::event_record(&self.0, stream)
    }

    /// Tells whether what it recorded is done.
    ///
    /// Driver: [`cuEventQuery`](crate::call::event_query).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn is_done(&self) -> Result<bool> {
        self.0.is_done()
    }

    /// Waits until what it recorded is done.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn synchronize(&self) -> Result<()> {
        self.0.synchronize()
    }

    /// Waits until what it recorded is done, but no longer than `limit`; answers whether it is.
    ///
    /// Driver: [`cuEventQuery`](crate::call::event_query).
    ///
    /// # Errors
    ///
    /// As the driver answers; it may be the answer to earlier work.
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool> {
        crate::wait::poll(limit, || self.is_done())
    }

    /// Returns how many milliseconds passed from `start` to this event, negative if this one came
    /// first; none as long as one of them is not done.
    ///
    /// The device's clock counts about half microseconds.
    ///
    /// Driver: [`cuEventElapsedTime_v2`](crate::call::event_elapsed_time), of older drivers
    /// [`cuEventElapsedTime`](crate::call::event_elapsed_time_v1).
    ///
    /// # Errors
    ///
    /// As the driver answers: `CUDA_ERROR_INVALID_HANDLE` if one has recorded nothing.
    pub fn milliseconds_since(&self, start: &Self) -> Result<Option<f32>> {
        let mut answer = call::event_elapsed_time(&start.0, &self.0);
        if answer.as_ref().is_err_and(|error| error.is_unsupported()) {
            // Drivers before CUDA 12.8 have the older call only.
            answer = call::event_elapsed_time_v1(&start.0, &self.0);
        }
        match answer {
            Ok(milliseconds) => Ok(Some(milliseconds)),
            Err(error) if error.is_not_ready() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl fmt::Debug for TimedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedEvent").field("context", &self.context().id()).finish_non_exhaustive()
    }
}

// SAFETY: the owner within vouches for it.
unsafe impl Handle for TimedEvent {
    type Raw = CUevent;

    fn raw(&self) -> CUevent {
        self.0.raw()
    }

    fn home(&self) -> Option<&Context> {
        self.0.home()
    }
}
