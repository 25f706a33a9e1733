//! Events.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;
use std::time::Instant;

use cuda_sys::{CUevent, CUresult, CUstream};

use crate::config::Feature;
use crate::driver::ipc::board::{Mark, Shared};
use crate::engine::capture::CapturedRecord;
use crate::engine::clock::Clock;
use crate::engine::current;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::scheduler::{Other, Turn};
use crate::engine::state::State;
use crate::engine::work::{ItemId, Work};
use crate::entry::{INVALID_VALUE, Out, Session, simulate};
use crate::report::{Finding, FindingKind, Side};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

/// Is an event object.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) handle: Handle,
    pub(crate) context: Handle,
    flags: u32,
    /// What it recorded last in this process.
    pub(crate) record: Option<Record>,
    /// What it recorded last if that was in a capture.
    pub(crate) captured: Option<CapturedRecord>,
    /// Where its state is if processes share it.
    pub(crate) shared: Option<Shared>,
    /// The call that made it.
    pub(crate) made_by: Side,
}

impl Event {
    /// Makes an event of another process.
    pub(crate) fn imported(handle: Handle, context: Handle, shared: Shared, made_by: Side) -> Self {
        let flags = DISABLE_TIMING | INTERPROCESS;
        let shared = Some(shared);
        Self { handle, context, flags, record: None, captured: None, shared, made_by }
    }
}

impl Event {
    /// Returns what waits for the event wait for: the record of this process, and that of any.
    pub(crate) fn last_record(&self) -> (Option<Record>, Option<Mark>) {
        (self.record.clone(), self.shared.as_ref().map(Shared::last))
    }
}

/// Is what an event recorded.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) item: ItemId,
    pub(crate) clock: Clock,
    /// When it was reached.
    pub(crate) at: Option<Instant>,
}

impl State {
    /// Returns an event. A stale handle, which crashes a real driver (measured), is reported.
    pub(crate) fn event(&mut self, event: CUevent) -> Result<&Event, CUresult> {
        let handle = event.number();
        if self.events.get(handle).is_none() {
            let mut answer = CUresult::CUDA_ERROR_INVALID_HANDLE;
            if let Some(ended) = self.events.ended(handle) {
                self.stale("hEvent", "the event was destroyed; a real driver crashes", ended);
                let gone = current::get()
                    .and_then(|context| self.contexts.get(context))
                    .is_some_and(|context| !context.alive);
                if gone {
                    // Measured after a reset.
                    answer = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
                }
            }
            return Err(answer);
        }
        let event = self.events.get(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        self.usable(event.context)?;
        Ok(event)
    }
}

fn record(
    mut session: Session,
    event: CUevent,
    stream: CUstream,
    external: bool,
) -> Result<(), CUresult> {
    let found = session.event(event)?;
    let (context, made_by) = (found.context, found.made_by.clone());
    let lane = session.lane(stream)?;
    session.refuse_implicit(lane)?;
    if session.lanes.get(lane).is_some_and(|lane| lane.context != context) {
        let call = session.call();
        session.findings.add(Finding {
            kind: FindingKind::WrongContext,
            earlier: Some(made_by),
            later: Side::new(call, "hEvent"),
            subject: "the event and the stream are of two contexts".to_owned(),
        });
        // Manual.
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    if let Some(capture) = session.capturing(lane)? {
        return session.capture_record(capture, lane, event, external);
    }
    // Measured: an external record is one of a capture.
    if external {
        return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
    let sim = session.sim;
    if session.event(event)?.shared.is_some() {
        session.callbacks.start(sim)?;
    }
    let by = Side::new(session.call(), "");
    session.record_with(event.number(), |state, work, other| {
        let (after, clock) = state.before(lane)?;
        Ok(state.queue_point(Turn { lane, after, clock }, &by, &[], work, other))
    })?;
    Ok(())
}

impl State {
    /// Lets an event record: `queue` queues the record, and returns it with all before it.
    pub(crate) fn record_with(
        &mut self,
        handle: Handle,
        queue: impl FnOnce(&mut Self, Work, Other<'_>) -> Result<(ItemId, Clock), CUresult>,
    ) -> Result<(ItemId, Clock), CUresult> {
        let event = self.events.get_mut(handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        let mark = event.shared.as_ref().map(Shared::record);
        let before = event.record.take();
        // Measured of shared events: a record waits for the one before, in whichever process.
        let shared = before.as_ref().filter(|_| mark.is_some());
        let other = Other {
            item: shared.map(|record| (record.item, &record.clock)),
            mark: mark.as_ref().map(Mark::before),
        };
        let queued = queue(self, Work::Record(handle, mark), other);
        let now = Instant::now();
        let record = match &queued {
            Ok((item, clock)) => {
                let at = (!self.queue.is_pending(*item)).then_some(now);
                Some(Record { item: *item, clock: clock.clone(), at })
            }
            Err(_) => before,
        };
        if let Some(event) = self.events.get_mut(handle) {
            event.record = record;
            event.captured = None;
        }
        queued
    }
}

fn elapsed(
    mut session: Session,
    out: &Out<f32>,
    start: CUevent,
    end: CUevent,
) -> Result<(), CUresult> {
    // Measured.
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let mut reached = [None, None];
    for (reached, event) in reached.iter_mut().zip([start, end]) {
        let event = session.event(event)?;
        let record = event.record.clone();
        if event.flags & DISABLE_TIMING != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        // Measured: both must have been recorded. Manual: and be done.
        let record = record.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        *reached = record.at;
    }
    let [Some(start), Some(end)] = reached else { return Err(CUresult::CUDA_ERROR_NOT_READY) };
    let forward = end.saturating_duration_since(start).as_secs_f32();
    let backward = start.saturating_duration_since(end).as_secs_f32();
    out.write((forward - backward) * 1000.0);
    Ok(())
}

simulate! {
    /// Creates an event.
    fn cuEventCreate(event: out CUevent, flags: val c_uint) |mut session| {
        event.required()?;
        let unknown = flags & !(1 | DISABLE_TIMING | INTERPROCESS) != 0;
        // Measured: one for other processes must not have timing.
        if unknown || flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0 {
            return Err(INVALID_VALUE);
        }
        let context = session.context()?;
        let (context, device) = (context.handle, context.device);
        if flags & INTERPROCESS != 0 && !session.has(device, Feature::Ipc) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        let shared = if flags & INTERPROCESS == 0 {
            None
        } else {
            Some(session.own_events.add().ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?)
        };
        let made_by = Side::new(session.call(), "");
        let handle = session
            .events
            .insert_with(|handle| Event {
                handle,
                context,
                flags,
                record: None,
                captured: None,
                shared,
                made_by,
            })
            .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        event.write(CUevent::from_number(handle));
        Ok(())
    }

    /// Records what is queued on a stream so far.
    fn cuEventRecord(event: val CUevent, stream: val CUstream) with cuEventRecord_ptsz |session| {
        record(session, event, stream, false)
    }

    /// Records what is queued on a stream so far; an external record is one of a capture (measured).
    fn cuEventRecordWithFlags(
        event: val CUevent, stream: val CUstream, flags: val c_uint,
    ) with cuEventRecordWithFlags_ptsz |session| {
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        record(session, event, stream, flags == 1)
    }

    /// Tells whether what an event recorded is done; one that never recorded is (*manual*).
    fn cuEventQuery(event: val CUevent) |mut session| {
        session.refuse_event_wait(event)?;
        let event = session.event(event)?;
        let (record, shared) = (event.record.clone(), event.shared.clone());
        if let Some(record) = record {
            if session.queue.is_pending(record.item) {
                session.nudge(&[record.item]);
                return Err(CUresult::CUDA_ERROR_NOT_READY);
            }
            session.known(&record.clock);
        }
        let Some(mark) = shared.as_ref().map(Shared::last) else { return Ok(()) };
        if !mark.is_reached() {
            return Err(CUresult::CUDA_ERROR_NOT_READY);
        }
        session.between.reached(mark.name());
        Ok(())
    }

    /// Waits for what an event recorded.
    fn cuEventSynchronize(event: val CUevent) |mut session| {
        session.refuse_event_wait(event)?;
        let (record, mark) = session.event(event)?.last_record();
        if let Some(record) = record {
            session = session.wait(&[record.item], &record.clock)?;
        }
        if let Some(mark) = mark {
            session.wait_for_mark(&mark).between.reached(mark.name());
        }
        Ok(())
    }

    /// Tells the milliseconds between what two events recorded.
    fn cuEventElapsedTime(
        milliseconds: out f32, start: val CUevent, end: val CUevent,
    ) |session| {
        elapsed(session, &milliseconds, start, end)
    }

    /// Tells the milliseconds between what two events recorded.
    fn cuEventElapsedTime_v2(
        milliseconds: out f32, start: val CUevent, end: val CUevent,
    ) |session| {
        elapsed(session, &milliseconds, start, end)
    }

    /// Destroys an event at once, done or not (measured).
    fn cuEventDestroy_v2(event: val CUevent) |mut session| {
        session.event(event)?;
        let removed = session.events.remove(event.number());
        if let Some(shared) = removed.and_then(|event| event.shared)
            && shared.is_own
        {
            session.own_events.remove(shared.slot);
        }
        Ok(())
    }
}
