//! Events and allocations in captures.

use cuda_sys::{CUevent, CUresult};

use crate::engine::capture::{CaptureId, CapturedRecord, Tail};
use crate::engine::clock::LaneId;
use crate::engine::graph::Operation;
use crate::engine::handle::{Handle, RawHandle};
use crate::engine::lane::LaneKind;
use crate::engine::state::State;
use crate::entry::INVALID_VALUE;

const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

impl State {
    /// Refuses to ask or wait for an event: one that a capture recorded in every mode, 1 after the
    /// capture's end, any other as unsafe (measured).
    pub(crate) fn refuse_event_wait(&mut self, event: CUevent) -> Result<(), CUresult> {
        match self.captured_record(event)? {
            None => self.refuse_unsafe(),
            Some(record) if self.captures.all.contains_key(&record.capture) => {
                self.captures.invalidate(record.capture);
                Err(CUresult::CUDA_ERROR_CAPTURED_EVENT)
            }
            Some(_) => Err(INVALID_VALUE),
        }
    }

    fn captured_record(&mut self, event: CUevent) -> Result<Option<CapturedRecord>, CUresult> {
        Ok(self.event(event)?.captured.clone())
    }

    /// Records the last nodes of a captured lane; `external` makes a node of the record. Of an event
    /// that processes share, only that is possible (measured).
    pub(crate) fn capture_record(
        &mut self,
        id: CaptureId,
        lane: LaneId,
        event: CUevent,
        external: bool,
    ) -> Result<(), CUresult> {
        if external {
            self.capture(id, lane, Operation::Record(event.number()))?;
            return Ok(());
        }
        if self.event(event)?.shared.is_some() {
            return Err(UNSUPPORTED);
        }
        let capture = self.captures.all.get(&id);
        let before = capture.and_then(|capture| capture.lanes.get(&lane)).cloned();
        let record = CapturedRecord { capture: id, before: before.unwrap_or_default() };
        if let Some(event) = self.events.get_mut(event.number()) {
            event.captured = Some(record);
        }
        Ok(())
    }

    /// Lets a captured lane wait for an event; `external` makes a node of the wait. Answers are
    /// measured, but that of an event of another capture.
    pub(crate) fn capture_wait(
        &mut self,
        id: CaptureId,
        lane: LaneId,
        event: CUevent,
        external: bool,
    ) -> Result<(), CUresult> {
        let found = self.event(event)?;
        let (is_shared, is_recorded) = (found.shared.is_some(), found.record.is_some());
        let captured = found.captured.clone();
        if external {
            self.capture(id, lane, Operation::Wait(event.number()))?;
            return Ok(());
        }
        let refusal = match captured {
            Some(record) if record.capture == id => {
                self.extend_tail(id, lane, &record.before);
                return Ok(());
            }
            Some(record) if self.captures.all.contains_key(&record.capture) => {
                // Manual: it would make one of both.
                self.captures.invalidate(record.capture);
                CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE
            }
            Some(_) => return Err(INVALID_VALUE),
            None if is_shared => UNSUPPORTED,
            None if is_recorded => CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
            None => return Ok(()),
        };
        self.captures.invalidate(id);
        Err(refusal)
    }

    /// Lets a lane join the capture that an event was recorded in; tells whether it was in one.
    pub(crate) fn join_capture(&mut self, lane: LaneId, event: CUevent) -> Result<bool, CUresult> {
        let Some(record) = self.captured_record(event)? else { return Ok(false) };
        let id = record.capture;
        match self.captures.all.get(&id) {
            // Measured, after the capture's end.
            None => return Err(INVALID_VALUE),
            Some(capture) if capture.is_invalid => {
                return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            }
            Some(_) => {}
        }
        // Manual: the legacy stream can't be captured.
        if self.lanes.get(lane).is_some_and(|lane| lane.kind == LaneKind::Legacy) {
            self.captures.invalidate(id);
            return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
        self.extend_tail(id, lane, &record.before);
        Ok(true)
    }

    fn extend_tail(&mut self, id: CaptureId, lane: LaneId, before: &Tail) {
        if let Some(capture) = self.captures.all.get_mut(&id) {
            capture.lanes.entry(lane).or_default().extend(&before.dependencies());
        }
    }

    /// Makes a node that allocates, and returns the address of what it will allocate.
    pub(crate) fn capture_allocation(
        &mut self,
        id: CaptureId,
        lane: LaneId,
        bytes: usize,
    ) -> Result<u64, CUresult> {
        let device = self.context()?.device;
        let memory = self.reserve_for_graph(device, bytes)?;
        if let Err(code) = self.capture(id, lane, Operation::Allocate(memory)) {
            self.leave_memory(memory);
            return Err(code);
        }
        self.graphs.memory.get(&memory).map(|memory| memory.address).ok_or(INVALID_VALUE)
    }

    /// Makes a node that frees what a node allocates; 1 for memory from before (measured).
    pub(crate) fn capture_free(
        &mut self,
        id: CaptureId,
        lane: LaneId,
        address: u64,
    ) -> Result<(), CUresult> {
        let memory = self.graphs.memory_at(address).ok_or(INVALID_VALUE)?;
        let graph = self.captures.all.get(&id).map_or(0, |capture| capture.graph);
        if self.graphs.frees(graph, memory) {
            return Err(INVALID_VALUE);
        }
        self.capture(id, lane, Operation::Free(memory))?;
        Ok(())
    }

    /// Ends the captures on streams of a context that ends.
    pub(crate) fn end_captures(&mut self, context: Handle) {
        let theirs: Vec<_> = self.lanes.of(context).map(|(lane, _)| lane).collect();
        for lane in theirs {
            self.leave_capture(lane);
        }
    }
}
