//! A stream as use records know it: how far work was enqueued, and how far it is known to be done.
//!
//! A mark is the stream's count of the events that were recorded for it, read after a use's call
//! returned; recording an event ends the mark, so that the event covers every use that read it
//! before. So uses between two events share a mark, and taking one changes nothing that other
//! threads look at. The state outlives its stream: records hold it, and never a stream's handle.
#![expect(unsafe_code, reason = "records events and waits for them by raw handle")]

mod capture;
mod eager;
mod event;
mod kept;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use cuda_sys::CUstream;

use super::raw;
use super::relaxed::Relaxed;
use super::uses::Marks;
use crate::context::{Context, Inner};
use crate::error::{Error, Result};
use crate::wait::poll;
pub(crate) use capture::of_a_capture;
use capture::{Capture, Cover, capture_of};
use event::{EventHandle, ask};
pub(crate) use kept::Block;
use kept::Kept;

/// Is the shared state of one stream.
pub(crate) struct Timeline {
    id: u64,
    /// The mark that uses take now.
    present: AtomicU64,
    /// The newest mark that a use took.
    used: AtomicU64,
    reached: AtomicU64,
    /// The mark of the newest free that was enqueued.
    freed: AtomicU64,
    context: Weak<Inner>,
    /// Whether each use records an event at once.
    eager: bool,
    state: Mutex<State>,
}

struct State {
    /// The handle, until the stream is dropped.
    stream: Option<StreamHandle>,
    /// Events that were recorded, by rising mark.
    recorded: Vec<Recorded>,
    /// Events to record again.
    spare: Vec<EventHandle>,
    /// How many calls that may block the stream were enqueued.
    epoch: u64,
    /// Marks of other streams that this one already waits for.
    behind: Vec<(u64, u64)>,
    /// Why a use has no event, if one has none.
    lost: Option<Error>,
    /// Freed memory, for who allocates next.
    kept: Kept,
}

struct Recorded {
    mark: u64,
    epoch: u64,
    /// Whether it was recorded in a capture: then only other captured work can wait for it.
    captured: bool,
    event: Arc<EventHandle>,
}

#[derive(Clone, Copy)]
struct StreamHandle(CUstream);

// SAFETY: a stream may be used from every thread.
unsafe impl Send for StreamHandle {}

/// So many events of an epoch are kept: the newest.
const EVENTS: usize = 4;
/// Marks of so many other streams are remembered.
const OTHERS: usize = 16;

impl Marks for Timeline {
    fn id(&self) -> u64 {
        self.id
    }

    fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }
}

impl Timeline {
    /// Makes the state of a stream of `context`.
    pub(crate) fn new(context: &Context, stream: CUstream) -> Arc<Self> {
        Self::make(context, stream, false)
    }

    fn make(context: &Context, stream: CUstream, eager: bool) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let state = State {
            stream: Some(StreamHandle(stream)),
            recorded: Vec::new(),
            spare: Vec::new(),
            epoch: 0,
            behind: Vec::new(),
            lost: None,
            kept: Kept::new(),
        };
        let timeline = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            present: AtomicU64::new(1),
            used: AtomicU64::new(0),
            reached: AtomicU64::new(0),
            freed: AtomicU64::new(0),
            context: context.downgrade(),
            eager,
            state: Mutex::new(state),
        });
        context.adopt(&timeline);
        timeline
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the mark of a use whose call has returned.
    ///
    /// The call took the driver's lock of the stream before this reads the mark, and who ends the
    /// mark takes that lock afterwards, to record its event. On x86-64 a read after a lock is enough
    /// for that; elsewhere the read is made to take part in the order of the mark's changes.
    #[inline]
    pub(crate) fn mark(&self) -> u64 {
        let mark = if cfg!(target_arch = "x86_64") {
            self.present.load(Ordering::Acquire)
        } else {
            self.present.fetch_add(0, Ordering::AcqRel)
        };
        if self.used.load(Ordering::Relaxed) < mark {
            self.used.fetch_max(mark, Ordering::AcqRel);
        }
        mark
    }

    /// Ends the present mark and returns it: what is asked of the stream from now on is later than
    /// every use that took it.
    pub(crate) fn cut(&self) -> u64 {
        self.present.fetch_add(1, Ordering::AcqRel)
    }

    /// Returns the newest mark that a use took.
    fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    /// Notes that everything up to `mark` is done.
    pub(crate) fn note_reached(&self, mark: u64) {
        self.reached.fetch_max(mark, Ordering::AcqRel);
    }

    /// Returns the number by which records name it.
    pub(super) const fn number(&self) -> u64 {
        self.id
    }

    /// Calls `work` with the stream's handle, which stays alive meanwhile; none if it is gone.
    pub(super) fn with_handle<R>(&self, work: impl FnOnce(CUstream) -> R) -> Option<R> {
        let state = self.lock();
        state.stream.map(|StreamHandle(stream)| work(stream))
    }

    /// Notes that a free was enqueued under `mark`.
    pub(super) fn note_freed(&self, mark: u64) {
        self.freed.fetch_max(mark, Ordering::AcqRel);
    }

    /// Tells whether a free that was enqueued may not be done.
    pub(crate) fn is_freeing(&self) -> bool {
        !self.is_reached(self.freed.load(Ordering::Acquire))
    }

    /// Waits on the host for every free that was enqueued.
    pub(crate) fn wait_for_frees(&self) -> Result<()> {
        self.wait(self.freed.load(Ordering::Acquire))
    }

    fn is_reached(&self, mark: u64) -> bool {
        self.reached() >= mark
    }

    /// Makes what comes on this stream wait for another's mark.
    pub(crate) fn wait_for(&self, other: &Self, mark: u64) -> Result<()> {
        let known = |behind: &[(u64, u64)]| {
            behind.iter().any(|(id, passed)| *id == other.id && *passed >= mark)
        };
        if other.is_reached(mark) || known(&self.lock().behind) {
            return Ok(());
        }
        let Some(context) = other.context() else { return Ok(()) };
        let Some(Cover { mark: covered, event, captured }) = other.cover(&context, mark)? else {
            return Ok(());
        };
        if captured != self.is_capturing()? {
            return self.stay_apart(other, mark, captured);
        }
        let mut state = self.lock();
        let Some(StreamHandle(stream)) = state.stream else { return Ok(()) };
        // SAFETY: the stream is alive, since its handle is still here and the lock is held; so is
        // the event, which is only destroyed with the last reference to it.
        unsafe { raw::stream_wait_event(stream, event.0, 0) }?;
        state.behind.retain(|(id, _)| *id != other.id);
        if state.behind.len() == OTHERS {
            state.behind.remove(0);
        }
        state.behind.push((other.id, covered));
        Ok(())
    }

    /// Waits on the host until a mark is reached.
    pub(crate) fn wait(&self, mark: u64) -> Result<()> {
        if self.is_reached(mark) {
            return Ok(());
        }
        let Some(context) = self.context() else { return Ok(()) };
        let Some(cover) = self.cover(&context, mark)? else { return Ok(()) };
        cover.check_runs("cuEventSynchronize")?;
        let _entered = context.enter("cuEventSynchronize")?;
        let _relaxed = Relaxed::enter();
        // SAFETY: the event is alive: it is referred to here.
        unsafe { raw::event_synchronize(cover.event.0) }?;
        self.note_reached(cover.mark);
        Ok(())
    }

    /// Waits on the host until a mark is reached, but no longer than `limit`.
    pub(crate) fn wait_timeout(&self, mark: u64, limit: Duration) -> Result<bool> {
        if self.is_reached(mark) {
            return Ok(true);
        }
        let Some(context) = self.context() else { return Ok(true) };
        let Some(cover) = self.cover(&context, mark)? else { return Ok(true) };
        cover.check_runs("cuEventQuery")?;
        let _entered = context.enter("cuEventQuery")?;
        let done = poll(limit, || ask(&cover.event))?;
        if done {
            self.note_reached(cover.mark);
        }
        Ok(done)
    }

    /// Asks, without waiting, how far the stream is; records an event if none is on its way.
    pub(crate) fn advance(&self) -> Result<()> {
        let used = self.used();
        if self.is_reached(used) {
            return Ok(());
        }
        let Some(context) = self.context() else { return Ok(()) };
        let _entered = context.enter("cuEventQuery")?;
        let events: Vec<_> = self
            .lock()
            .recorded
            .iter()
            .filter(|recorded| !recorded.captured)
            .map(|recorded| (recorded.mark, Arc::clone(&recorded.event)))
            .collect();
        let newest = events.last().map_or(0, |(mark, _)| *mark);
        for (mark, event) in events.iter().rev() {
            if self.is_reached(*mark) {
                break;
            }
            if ask(event)? {
                self.note_reached(*mark);
                break;
            }
        }
        if self.is_reached(newest) && newest < used {
            self.cover(&context, used)?;
        }
        Ok(())
    }

    /// Records an event for the present mark, before something is enqueued that could block the
    /// stream: who waits for earlier work later must not wait for that by accident.
    pub(crate) fn fence(&self) -> Result<()> {
        let used = self.used();
        if !self.is_reached(used)
            && let Some(context) = self.context()
        {
            self.cover(&context, used)?;
        }
        self.lock().epoch += 1;
        Ok(())
    }

    /// Returns the context; none if it has come to its end, which waits for its streams.
    fn context(&self) -> Option<Context> {
        let context = self.context.upgrade().map(Context::from);
        if context.is_none() {
            self.note_reached(self.used());
        }
        context
    }

    /// Finds or records an event that covers `mark`; none if there is nothing to wait for. One of a
    /// capture is only found where there is no other.
    fn cover(&self, context: &Context, mark: u64) -> Result<Option<Cover>> {
        if let Some(found) = self.lock().find(mark, false) {
            return Ok(Some(found));
        }
        if self.eager {
            let found = self.lock().find(mark, true);
            return if found.is_some() { Ok(found) } else { self.uncovered() };
        }
        // Before the lock: leaving the context may call the user's hook.
        let _entered = context.enter("cuEventRecord")?;
        let captured = self.records_in_a_capture()?;
        let mut state = self.lock();
        if let Some(found) = state.find(mark, captured) {
            return Ok(Some(found));
        }
        let Some(StreamHandle(stream)) = state.stream else { return Ok(None) };
        self.record(&mut state, stream, captured).map(Some)
    }

    fn record(&self, state: &mut State, stream: CUstream, captured: bool) -> Result<Cover> {
        self.discard(state);
        let event = match state.spare.pop() {
            Some(event) => event,
            None => EventHandle::new()?,
        };
        let mark = self.cut();
        // SAFETY: both are alive: the stream's handle is still in the state, whose lock is held.
        if let Err(error) = unsafe { raw::event_record(event.0, stream) } {
            state.spare.push(event);
            return Err(error);
        }
        let event = Arc::new(event);
        let epoch = state.epoch;
        state.recorded.push(Recorded { mark, epoch, captured, event: Arc::clone(&event) });
        Ok(Cover { mark, event, captured })
    }

    /// Drops events that nobody can need: reached ones, and all but the newest of each epoch.
    fn discard(&self, state: &mut State) {
        let reached = self.reached();
        let mut kept: Vec<Recorded> = Vec::with_capacity(state.recorded.len() + 1);
        let newest = state.recorded.len().saturating_sub(EVENTS - 1);
        let mut old = std::mem::take(&mut state.recorded).into_iter().enumerate().peekable();
        while let Some((index, recorded)) = old.next() {
            // The last event of an epoch is the last that does not wait for what began the next.
            let closes = old.peek().is_none_or(|(_, next)| next.epoch != recorded.epoch);
            if recorded.mark > reached && (index >= newest || closes) {
                kept.push(recorded);
            } else if let Ok(event) = Arc::try_unwrap(recorded.event) {
                state.spare.push(event);
            }
        }
        state.recorded = kept;
    }

    /// Takes the stream's handle, after a last event that covers everything was recorded.
    pub(crate) fn retire(&self) -> Option<(CUstream, Result<()>)> {
        let mut state = self.lock();
        let StreamHandle(stream) = state.stream?;
        let used = self.used();
        let covered = state.recorded.last().is_some_and(|last| last.mark >= used);
        let mut result = Ok(());
        if !covered && !self.is_reached(used) {
            let captured = capture_of(stream) == Ok(Capture::Yes);
            result = self.record(&mut state, stream, captured).map(|_| ());
            if result.is_err() {
                // No event can stand for the work, so the work is waited for.
                // SAFETY: the handle is alive, and is not used after it is taken below.
                result = unsafe { raw::stream_synchronize(stream) };
                if result.is_ok() {
                    self.note_reached(used);
                }
            }
        }
        state.stream = None;
        Some((stream, result))
    }

    /// Waits for what is left and destroys the events; the context is entered, and about to go.
    pub(crate) fn close(&self) -> Result<()> {
        let mut state = self.lock();
        let used = self.used();
        let mut result = Ok(());
        if !self.is_reached(used) {
            if let Some(last) = state.recorded.last() {
                // SAFETY: the event is alive: it is referred to here.
                result = unsafe { raw::event_synchronize(last.event.0) };
            } else if let Some(StreamHandle(stream)) = state.stream.filter(|_| !self.eager) {
                // SAFETY: the handle is alive: it is only destroyed once it has been taken.
                result = unsafe { raw::stream_synchronize(stream) };
            }
        }
        self.note_reached(used);
        state.stream = None;
        let recorded = std::mem::take(&mut state.recorded).into_iter();
        // Nobody else can hold one: who waits holds the context, and that has no holder left.
        let recorded = recorded.filter_map(|recorded| Arc::try_unwrap(recorded.event).ok());
        let spare = std::mem::take(&mut state.spare);
        for EventHandle(event) in recorded.chain(spare) {
            // SAFETY: the event is alive, and this was the last reference to it.
            result = result.and(unsafe { raw::event_destroy(event) });
        }
        result
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, reached) = (self.used(), self.reached());
        write!(f, "stream {} at {used}, known to be at {reached}", self.id)
    }
}
