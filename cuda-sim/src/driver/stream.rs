//! Streams.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_int, c_uint, c_ulonglong};

use cuda_sys::{CUcontext, CUevent, CUresult, CUstream};

use crate::engine::clock::LaneId;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::lane::LaneKind;
use crate::engine::scheduler::Other;
use crate::engine::state::State;
use crate::engine::work::Work;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};
use crate::report::Side;

/// Is a stream object.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) context: Handle,
    pub(crate) lane: LaneId,
    flags: u32,
    priority: c_int,
    /// The call that made it.
    pub(crate) made_by: Side,
}

const NON_BLOCKING: u32 = 1;

/// The greatest priority, which is the least number (*manual*).
const GREATEST_PRIORITY: c_int = -5;

fn create(
    mut session: Session,
    out: &Out<CUstream>,
    flags: c_uint,
    priority: c_int,
) -> Result<(), CUresult> {
    out.required()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(INVALID_VALUE);
    }
    let context = session.context()?.handle;
    let kind = if flags == 0 { LaneKind::Blocking } else { LaneKind::NonBlocking };
    let lane = session.lanes.add(context, kind, |id| match kind {
        LaneKind::NonBlocking => format!("non-blocking stream #{id}"),
        _ => format!("stream #{id}"),
    });
    session.begin_lane(lane, context);
    // Numbers out of range are brought into it (manual).
    let priority = priority.clamp(GREATEST_PRIORITY, 0);
    let made_by = Side::new(session.call(), "");
    let handle = session
        .streams
        .insert_with(|_| Stream { context, lane, flags, priority, made_by })
        .ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    out.write(CUstream::from_number(handle));
    Ok(())
}

impl State {
    /// Lets a new lane begin behind what its whole context waits for.
    pub(crate) fn begin_lane(&mut self, lane: LaneId, context: Handle) {
        if let Some((last, clock)) = self.awaited_by(context)
            && let Some(lane) = self.lanes.get_mut(lane)
        {
            (lane.last, lane.clock) = (last, clock);
        }
    }

    /// Sets the priority of a stream, brought into the range (*manual*); others have none.
    pub(crate) fn set_priority(&mut self, stream: CUstream, priority: c_int) -> Answer {
        self.stream(stream.number())?;
        if let Some(stream) = self.streams.get_mut(stream.number()) {
            stream.priority = priority.clamp(GREATEST_PRIORITY, 0);
        }
        Ok(())
    }

    /// Returns a stream's flags and priority; the streams without object have none.
    pub(crate) fn properties(&mut self, stream: CUstream) -> Result<(u32, c_int), CUresult> {
        if stream.number() <= 2 {
            self.context()?;
            return Ok((0, 0));
        }
        self.stream(stream.number()).map(|stream| (stream.flags, stream.priority))
    }
}

simulate! {
    /// Creates a stream.
    fn cuStreamCreate(stream: out CUstream, flags: val c_uint) |session| {
        create(session, &stream, flags, 0)
    }

    /// Creates a stream of a priority, which changes nothing here.
    fn cuStreamCreateWithPriority(
        stream: out CUstream, flags: val c_uint, priority: val c_int,
    ) |session| {
        create(session, &stream, flags, priority)
    }

    /// Destroys a stream at once; what is queued on it still runs (measured).
    fn cuStreamDestroy_v2(stream: val CUstream) |mut session| {
        if stream.number() <= 2 {
            // Measured for 0.
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        let lane = session.stream(stream.number())?.lane;
        session.leave_capture(lane);
        session.streams.remove(stream.number());
        session.close_lane(lane);
        Ok(())
    }

    /// Tells whether all work of a stream is done.
    fn cuStreamQuery(stream: val CUstream) with cuStreamQuery_ptsz |mut session| {
        let lane = session.lane(stream)?;
        session.refuse_lane_wait(lane)?;
        let Some(lane) = session.lanes.get(lane) else { return Ok(()) };
        let (last, clock) = (lane.last, lane.clock.clone());
        if session.queue.is_pending(last) {
            session.nudge(&[last]);
            return Err(CUresult::CUDA_ERROR_NOT_READY);
        }
        session.known(&clock);
        Ok(())
    }

    /// Waits for all work of a stream.
    fn cuStreamSynchronize(stream: val CUstream) with cuStreamSynchronize_ptsz |mut session| {
        let lane = session.lane(stream)?;
        session.refuse_lane_wait(lane)?;
        session.wait_for_lane(lane)?;
        Ok(())
    }

    /// Lets the later work of a stream wait for what an event recorded last.
    fn cuStreamWaitEvent(stream: val CUstream, event: val CUevent, flags: val c_uint)
    with cuStreamWaitEvent_ptsz |mut session| {
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        let lane = session.lane(stream)?;
        session.refuse_implicit(lane)?;
        if let Some(capture) = session.capturing(lane)? {
            return session.capture_wait(capture, lane, event, flags == 1);
        }
        // Measured: an external wait is one of a capture.
        if flags == 1 {
            return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
        }
        if session.join_capture(lane, event)? {
            return Ok(());
        }
        let (record, mark) = session.event(event)?.last_record();
        // An event that was never recorded is waited for by nobody (manual).
        if record.is_some() || mark.is_some() {
            let call = session.call();
            let item = record.as_ref().map(|record| (record.item, &record.clock));
            session.enqueue_after(lane, call, &[], Work::Nothing, Other { item, mark })?;
        }
        Ok(())
    }

    /// Tells the context of a stream.
    fn cuStreamGetCtx(stream: val CUstream, context: out CUcontext)
    with cuStreamGetCtx_ptsz |mut session| {
        context.required()?;
        let lane = session.lane(stream)?;
        let handle = session.lanes.get(lane).map_or(0, |lane| lane.context);
        context.write(CUcontext::from_number(handle));
        Ok(())
    }

    /// Tells the flags of a stream.
    fn cuStreamGetFlags(stream: val CUstream, flags: out c_uint)
    with cuStreamGetFlags_ptsz |mut session| {
        flags.required()?;
        flags.write(session.properties(stream)?.0);
        Ok(())
    }

    /// Tells the priority of a stream.
    fn cuStreamGetPriority(stream: val CUstream, priority: out c_int)
    with cuStreamGetPriority_ptsz |mut session| {
        priority.required()?;
        priority.write(session.properties(stream)?.1);
        Ok(())
    }

    /// Tells a number that no other stream of the process has or had.
    fn cuStreamGetId(stream: val CUstream, id: out c_ulonglong)
    with cuStreamGetId_ptsz |mut session| {
        id.required()?;
        id.write(session.lane(stream)?.into());
        Ok(())
    }
}
