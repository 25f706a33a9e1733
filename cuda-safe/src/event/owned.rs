//! An event's handle with its end, which all kinds of events share.
#![expect(unsafe_code, reason = "owns an event's handle")]

use cuda_sys::{CUevent, CUevent_flags};

use crate::call;
use crate::context::Context;
use crate::error::Result;
use crate::shim::{Handle, Relaxed, raw};

/// Is an event with an owner. Its drop waits for nothing.
pub(super) struct Owned {
    raw: CUevent,
    context: Context,
}

// SAFETY: an event may be used from every thread.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    pub(super) fn new(context: &Context, flags: CUevent_flags) -> Result<Self> {
        let raw = call::event_create(context, flags.0)?;
        Ok(Self { raw, context: context.clone() })
    }

    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// Tells whether what it recorded is done.
    pub(super) fn is_done(&self) -> Result<bool> {
        let _relaxed = Relaxed::enter();
        match call::event_query(self) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until what it recorded is done.
    pub(super) fn synchronize(&self) -> Result<()> {
        let _relaxed = Relaxed::enter();
        call::event_synchronize(self)
    }
}

// SAFETY: the event lives as long as the value, in its context.
unsafe impl Handle for Owned {
    type Raw = CUevent;

    fn raw(&self) -> CUevent {
        self.raw
    }

    fn home(&self) -> Option<&Context> {
        Some(&self.context)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.context.is_own_process() {
            return;
        }
        let destroyed = self.context.enter("cuEventDestroy_v2").and_then(|_entered| {
            // SAFETY: the handle is alive, and this is its owner's end.
            unsafe { raw::event_destroy(self.raw) }
        });
        if let Err(error) = destroyed {
            self.context.report(error);
        }
    }
}
