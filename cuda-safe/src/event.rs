//! Events: points in a stream.
#![expect(unsafe_code, reason = "vouches for an event's handle")]

mod options;
mod owned;
mod timed;

use std::fmt;
use std::time::Duration;

use cuda_sys::{CUevent, CUevent_flags};

use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::shim::{AnyStream, Handle};
use owned::Owned;

pub use options::EventOptions;
pub use timed::TimedEvent;

/// Is an event without timing. Its drop waits for nothing.
///
/// Driver: [`CUevent`](crate::sys::CUevent), chapter Event Management.
pub struct Event(Owned);

impl Event {
    /// Makes an event that has recorded nothing yet, which counts as done.
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
    /// ```
    /// use cuda_safe::{Device, Event, EventOptions, Stream};
    ///
    /// # cuda_sim::install(cuda_sim::Config::new())?;
    /// let context = Device::get(0)?.context()?;
    /// let stream = Stream::new(&context)?;
    /// let event = Event::with_options(&context, EventOptions::new().blocking(true))?;
    /// event.record(&stream)?;
    /// event.synchronize()?; // Sleeps until the stream has come here.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Driver: [`cuEventCreate`](crate::call::event_create).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn with_options(context: &Context, options: EventOptions) -> Result<Self> {
        Owned::new(context, options.flags(CUevent_flags::CU_EVENT_DISABLE_TIMING)).map(Self)
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
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("context", &self.context().id()).finish_non_exhaustive()
    }
}

// SAFETY: the owner within vouches for it.
unsafe impl Handle for Event {
    type Raw = CUevent;

    fn raw(&self) -> CUevent {
        self.0.raw()
    }

    fn home(&self) -> Option<&Context> {
        self.0.home()
    }
}
