//! How an event is made.

use cuda_sys::CUevent_flags;

/// Says how an event is made. Without more, a thread that waits for it keeps asking, which ends the
/// wait soonest and takes the time of a core.
///
/// Driver: [`CUevent_flags`](crate::sys::CUevent_flags), chapter Event Management.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it only says how an event is made"]
pub struct EventOptions {
    blocking: bool,
}

impl EventOptions {
    /// Makes the options that [`Event::new`](crate::Event::new) has.
    pub const fn new() -> Self {
        Self { blocking: false }
    }

    /// Says whether a thread that waits for it sleeps meanwhile. A wait with a time-out asks as it
    /// does for every event.
    pub const fn blocking(self, blocking: bool) -> Self {
        Self { blocking }
    }

    /// Returns the driver's flags, those of the kind of event among them.
    pub(super) fn flags(self, kind: CUevent_flags) -> CUevent_flags {
        if self.blocking { kind | CUevent_flags::CU_EVENT_BLOCKING_SYNC } else { kind }
    }
}
