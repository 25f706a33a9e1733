//! Stream capture: calls on a captured stream make nodes of a graph instead of work.
//!
//! `class` has which functions a capture refuses. A capture that met what it can't hold is
//! invalid: nothing more goes into it, and its end gives no graph.

pub(crate) mod class;
mod record;

use std::collections::BTreeMap;
use std::thread::ThreadId;

use cuda_sys::{CUgraphEdgeData, CUresult};

use crate::call_site;
use crate::engine::clock::LaneId;
use crate::engine::current;
use crate::engine::graph::{Dependency, Operation};
use crate::engine::handle::Handle;
use crate::engine::lane::LaneKind;
use crate::engine::state::State;
use crate::report::Side;

/// Is a capture's number; no other of the process has or had it.
pub(crate) type CaptureId = u64;

const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const IMPLICIT: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
const INVALIDATED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;

/// `CU_STREAM_CAPTURE_MODE_…`.
const GLOBAL: u32 = 0;
const RELAXED: u32 = 2;

/// Is what the next node of a captured stream depends on. It lies as the driver hands it out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    pub(crate) nodes: Vec<Handle>,
    pub(crate) edges: Vec<CUgraphEdgeData>,
}

impl Tail {
    pub(crate) fn of(dependencies: &[Dependency]) -> Self {
        let mut tail = Self::default();
        tail.extend(dependencies);
        tail
    }

    /// Adds what is not there yet.
    pub(crate) fn extend(&mut self, dependencies: &[Dependency]) {
        for dependency in dependencies {
            if !self.nodes.contains(&dependency.node) {
                self.nodes.push(dependency.node);
                self.edges.push(dependency.data);
            }
        }
    }

    pub(crate) fn dependencies(&self) -> Vec<Dependency> {
        let pairs = self.nodes.iter().zip(&self.edges);
        pairs.map(|(&node, &data)| Dependency { node, data }).collect()
    }
}

/// Is a capture that has not ended.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) mode: u32,
    /// The thread that began it.
    pub(crate) thread: ThreadId,
    /// The stream that it began on.
    pub(crate) origin: LaneId,
    pub(crate) graph: Handle,
    /// Whether the graph is the program's and only added to.
    pub(crate) adds_to_a_graph: bool,
    pub(crate) is_invalid: bool,
    /// The streams that are in it.
    pub(crate) lanes: BTreeMap<LaneId, Tail>,
}

/// Is the state of an event that was recorded in a capture.
#[derive(Clone, Debug)]
pub(crate) struct CapturedRecord {
    pub(crate) capture: CaptureId,
    pub(crate) before: Tail,
}

/// Holds the captures that have not ended.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    pub(crate) all: BTreeMap<CaptureId, Capture>,
    last_id: CaptureId,
}

impl Captures {
    /// Returns the capture that a stream is in.
    pub(crate) fn of(&self, lane: LaneId) -> Option<CaptureId> {
        let has = |capture: &Capture| capture.lanes.contains_key(&lane);
        self.all.iter().find(|(_, capture)| has(capture)).map(|(&id, _)| id)
    }

    pub(crate) fn add(&mut self, capture: Capture) -> CaptureId {
        self.last_id += 1;
        self.all.insert(self.last_id, capture);
        self.last_id
    }

    /// Makes captures invalid, and tells whether there are any.
    fn invalidate_if(&mut self, is_hit: impl Fn(&Capture) -> bool) -> bool {
        let mut any = false;
        for capture in self.all.values_mut().filter(|capture| is_hit(capture)) {
            capture.is_invalid = true;
            any = true;
        }
        any
    }

    /// Makes a capture invalid.
    pub(crate) fn invalidate(&mut self, id: CaptureId) {
        if let Some(capture) = self.all.get_mut(&id) {
            capture.is_invalid = true;
        }
    }
}

impl State {
    /// Refuses an unsafe call where a capture's mode and the thread's say so (measured), which
    /// makes the capture invalid.
    pub(crate) fn refuse_unsafe(&mut self) -> Result<(), CUresult> {
        if self.captures.all.is_empty() {
            return Ok(());
        }
        let (mode, thread) = (current::capture_mode(), std::thread::current().id());
        let is_hit = |capture: &Capture| match (mode, capture.mode) {
            (RELAXED, _) | (_, RELAXED) => false,
            (GLOBAL, GLOBAL) => true,
            _ => capture.thread == thread,
        };
        if self.captures.invalidate_if(is_hit) { Err(UNSUPPORTED) } else { Ok(()) }
    }

    /// Refuses to wait for a context of which a stream is captured, in every mode (measured).
    pub(crate) fn refuse_context_wait(&mut self, context: Handle) -> Result<(), CUresult> {
        let lanes = &self.lanes;
        let is_of = |lane| lanes.get(lane).is_some_and(|lane| lane.context == context);
        let is_hit = |capture: &Capture| capture.lanes.keys().any(|&lane| is_of(lane));
        if self.captures.invalidate_if(is_hit) { Err(UNSUPPORTED) } else { Ok(()) }
    }

    /// Refuses to ask or wait for the work of a lane: that of a captured one in every mode, that of
    /// any other as unsafe (measured).
    pub(crate) fn refuse_lane_wait(&mut self, lane: LaneId) -> Result<(), CUresult> {
        self.refuse_implicit(lane)?;
        match self.captures.of(lane) {
            Some(capture) => {
                self.captures.invalidate(capture);
                Err(UNSUPPORTED)
            }
            None => self.refuse_unsafe(),
        }
    }

    /// Refuses the legacy lane while a blocking stream of its context is captured: it would wait
    /// for that (measured, in every mode).
    pub(crate) fn refuse_implicit(&mut self, lane: LaneId) -> Result<(), CUresult> {
        let hit = self.joined_implicitly(lane);
        for &capture in &hit {
            self.captures.invalidate(capture);
        }
        if hit.is_empty() { Ok(()) } else { Err(IMPLICIT) }
    }

    /// As [`refuse_implicit`](Self::refuse_implicit), for calls that only ask: the captures stay
    /// valid (measured).
    pub(crate) fn refuse_to_tell(&self, lane: LaneId) -> Result<(), CUresult> {
        if self.joined_implicitly(lane).is_empty() { Ok(()) } else { Err(IMPLICIT) }
    }

    /// Returns the captures that work on a lane would wait for, if it is a legacy one.
    fn joined_implicitly(&self, lane: LaneId) -> Vec<CaptureId> {
        let Some(legacy) = self.lanes.get(lane) else { return Vec::new() };
        if legacy.kind != LaneKind::Legacy || self.captures.all.is_empty() {
            return Vec::new();
        }
        let blocks = |lane: &LaneId| {
            self.lanes.get(*lane).is_some_and(|lane| {
                lane.kind == LaneKind::Blocking && lane.context == legacy.context
            })
        };
        let captures = self.captures.all.iter();
        captures
            .filter(|(_, capture)| capture.lanes.keys().any(blocks))
            .map(|(&id, _)| id)
            .collect()
    }

    /// Refuses what no graph holds on a captured lane, which makes the capture invalid (manual).
    pub(crate) fn refuse_captured(&mut self, lane: LaneId) -> Result<(), CUresult> {
        match self.captures.of(lane) {
            Some(capture) => {
                self.captures.invalidate(capture);
                Err(UNSUPPORTED)
            }
            None => Ok(()),
        }
    }

    /// Returns the capture that a lane is in, if it is in one; an invalid one takes no more.
    pub(crate) fn capturing(&mut self, lane: LaneId) -> Result<Option<CaptureId>, CUresult> {
        let Some(id) = self.captures.of(lane) else { return Ok(None) };
        if self.captures.all.get(&id).is_some_and(|capture| capture.is_invalid) {
            return Err(INVALIDATED);
        }
        self.registry.sees_hidden = true;
        Ok(Some(id))
    }

    /// Adds a node behind the last ones of a captured lane.
    pub(crate) fn capture(
        &mut self,
        id: CaptureId,
        lane: LaneId,
        operation: Operation,
    ) -> Result<Handle, CUresult> {
        let capture = self.captures.all.get(&id).ok_or(INVALIDATED)?;
        let before = capture.lanes.get(&lane).map(Tail::dependencies).unwrap_or_default();
        let graph = capture.graph;
        let made_by = Side::new(call_site::function(), "");
        let node = self.graphs.add(graph, before, operation, made_by)?;
        if let Some(capture) = self.captures.all.get_mut(&id) {
            capture.lanes.insert(lane, Tail::of(&[Dependency::full(node)]));
        }
        Ok(node)
    }

    /// Takes a lane that is being closed out of its capture. That of the stream on which it began
    /// ends with it; any other becomes invalid.
    pub(crate) fn leave_capture(&mut self, lane: LaneId) {
        let Some(id) = self.captures.of(lane) else { return };
        let Some(capture) = self.captures.all.get_mut(&id) else { return };
        capture.is_invalid = true;
        capture.lanes.remove(&lane);
        if capture.origin == lane {
            self.drop_capture(id);
        }
    }

    /// Ends a capture without a graph.
    pub(crate) fn drop_capture(&mut self, id: CaptureId) {
        let Some(capture) = self.captures.all.remove(&id) else { return };
        if capture.adds_to_a_graph {
            if let Some(graph) = self.graphs.graphs.get_mut(capture.graph) {
                graph.is_captured = false;
            }
        } else {
            self.destroy_graph(capture.graph);
        }
    }
}
