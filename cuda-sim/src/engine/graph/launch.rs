//! Launches: the nodes of an executable graph become queued work.
//!
//! Each waits for those that its edges name, all for what the stream had before, and what the
//! stream gets later for all of them. Launches of one executable graph come one after the other.

use std::sync::Arc;

use cuda_sys::CUresult;

use crate::driver::memory::MOST_JUNK;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::clock::{Clock, LaneId};
use crate::engine::execute::JUNK;
use crate::engine::graph::Operation;
use crate::engine::graph::exec::Step;
use crate::engine::handle::Handle;
use crate::engine::lane::LaneKind;
use crate::engine::raw::{Extent, Rows};
use crate::engine::registry::BufferId;
use crate::engine::scheduler::{Other, Turn};
use crate::engine::state::State;
use crate::engine::work::{ItemId, Place, Touch, Work};
use crate::entry::INVALID_VALUE;
use crate::report::{Finding, FindingKind, Side};

/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`.
const AUTO_FREE: u64 = 1;

/// Is where a step's work stands in the order.
#[derive(Clone, Debug, Default)]
struct Point {
    items: Vec<ItemId>,
    clock: Clock,
}

impl State {
    /// Launches an executable graph on the lane of a stream.
    pub(crate) fn launch(&mut self, handle: Handle, lane: LaneId) -> Result<(), CUresult> {
        let context = self.lanes.get(lane).map_or(0, |lane| lane.context);
        let (mut items, mut clock) = self.before(lane)?;
        let auto_free = self.exec(handle)?.flags & AUTO_FREE != 0;
        for memory in self.exec(handle)?.memory.clone() {
            if self.registry.is_live(memory) {
                if !auto_free {
                    // Manual: what an earlier launch allocated must have been freed.
                    return Err(INVALID_VALUE);
                }
                self.free_before_launch(memory, lane)?;
                (items, clock) = self.before(lane)?;
            }
        }
        self.prepare_lanes(handle, context)?;
        let exec = self.exec(handle)?;
        let (steps, lanes) = (Arc::clone(&exec.steps), exec.lanes.1.clone());
        items.push(exec.last);
        clock.join(&exec.clock);
        let end = self.run_steps(&steps, &lanes, &Point { items, clock })?;
        let (last, clock) = self.close_launch(lane, end)?;
        let exec = self.exec(handle)?;
        exec.last = last;
        exec.clock = clock;
        Ok(())
    }

    /// Queues the free of memory that an earlier launch left allocated.
    fn free_before_launch(&mut self, memory: BufferId, lane: LaneId) -> Result<(), CUresult> {
        let call = crate::call_site::function();
        let touch = self.whole_of(memory, "dptr").ok_or(INVALID_VALUE)?;
        self.free_graph_memory(memory, Side::new(call, ""));
        self.enqueue(lane, call, &[touch], Work::Nothing)?;
        Ok(())
    }

    /// Returns the access that allocates or frees memory.
    fn whole_of(&self, memory: BufferId, operand: &'static str) -> Option<Touch> {
        let of = self.graphs.memory.get(&memory)?;
        let area = AccessBox::linear(of.address, of.size);
        Some(Touch { memory, kind: AccessKind::Write, area, operand })
    }

    /// Makes the lanes of the branches, in the context of the launch.
    fn prepare_lanes(&mut self, handle: Handle, context: Handle) -> Result<(), CUresult> {
        let exec = self.exec(handle)?;
        let branches = exec.steps.iter().map(|step| step.branch + 1).max().unwrap_or(0);
        let (id, (of, mut lanes)) = (exec.id, std::mem::take(&mut exec.lanes));
        let is_usable = of == context && lanes.iter().all(|&lane| self.lanes.is_open(lane));
        if !is_usable {
            for lane in lanes.drain(..) {
                self.lanes.close(lane);
            }
        }
        while lanes.len() < branches {
            let branch = lanes.len() + 1;
            let label = |_| format!("branch {branch} of executable graph #{id}");
            lanes.push(self.lanes.add(context, LaneKind::NonBlocking, label));
        }
        self.exec(handle)?.lanes = (context, lanes);
        Ok(())
    }

    fn run_steps(
        &mut self,
        steps: &[Step],
        lanes: &[LaneId],
        start: &Point,
    ) -> Result<Point, CUresult> {
        let mut points: Vec<Point> = Vec::with_capacity(steps.len());
        let mut end = start.clone();
        for step in steps {
            let mut before = Point::default();
            for point in step.after.iter().filter_map(|&index| points.get(index)) {
                before.items.extend(&point.items);
                before.clock.join(&point.clock);
            }
            if step.after.is_empty() {
                before = start.clone();
            }
            let lane = lanes.get(step.branch).copied().ok_or(INVALID_VALUE)?;
            let turn = Turn { lane, after: before.items, clock: before.clock };
            let (item, clock) = self.run_step(turn, step)?;
            end.items.push(item);
            end.clock.join(&clock);
            points.push(Point { items: vec![item], clock });
        }
        Ok(end)
    }

    /// Queues what a step does.
    fn run_step(&mut self, turn: Turn, step: &Step) -> Result<(ItemId, Clock), CUresult> {
        let by = &step.made_by;
        let nothing = Operation::Empty;
        let operation = if step.is_enabled { &step.operation } else { &nothing };
        let (work, touches) = match operation {
            Operation::Empty | Operation::Child(_) => (Work::Nothing, Vec::new()),
            Operation::Task(task) => {
                self.blame_freed(step, &task.touches);
                (task.work.clone(), task.touches.clone())
            }
            Operation::Memory(batch) => return Ok(self.launch_batch(turn, step, batch)),
            Operation::Record(event) => {
                return self.record_with(*event, |state, work, other| {
                    Ok(state.queue_point(turn, by, &[], work, other))
                });
            }
            Operation::Wait(event) => {
                let event = self.events.get(*event).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
                let (record, mark) = event.last_record();
                let item = record.as_ref().map(|record| (record.item, &record.clock));
                return Ok(self.queue_point(turn, by, &[], Work::Nothing, Other { item, mark }));
            }
            Operation::Allocate(memory) => {
                self.show_memory(*memory);
                (self.junk_work(*memory), self.whole_of(*memory, "dptr").into_iter().collect())
            }
            Operation::Free(memory) => {
                let touch: Vec<_> = self.whole_of(*memory, "dptr").into_iter().collect();
                self.blame_freed(step, &touch);
                self.free_graph_memory(*memory, Side { operand: "dptr", ..by.clone() });
                (Work::Free(*memory), touch)
            }
        };
        Ok(self.queue_point(turn, by, &touches, work, Other::default()))
    }

    /// Returns what the allocation of memory does to its bytes.
    fn junk_work(&self, memory: BufferId) -> Work {
        let Some(of) = self.graphs.memory.get(&memory).filter(|of| of.size <= MOST_JUNK) else {
            return Work::Nothing;
        };
        let Ok(width) = usize::try_from(of.size) else { return Work::Nothing };
        if !self.config.junk {
            return Work::Nothing;
        }
        let extent = Extent { width, height: 1, depth: 1 };
        let to = Place {
            rows: Rows::dense(self.space.reservation.shadow(of.address), extent),
            memory: Some(memory),
            expected: None,
            operand: "dptr",
            area: AccessBox::linear(of.address, of.size),
        };
        Work::Fill { to, extent, pattern: vec![JUNK] }
    }

    /// Reports what a node touches that is not allocated when its turn comes.
    pub(super) fn blame_freed(&mut self, step: &Step, touches: &[Touch]) {
        for touch in touches {
            let of_graph = self.graphs.memory.contains_key(&touch.memory);
            if !of_graph || self.registry.is_live(touch.memory) {
                continue;
            }
            let earlier = self.registry.grave(touch.area.base).map(|grave| grave.freed_by.clone());
            let later = Side {
                operand: touch.operand,
                access: Some((touch.kind, touch.area)),
                ..step.made_by.clone()
            };
            self.findings.add(Finding {
                kind: FindingKind::UseAfterFree,
                earlier,
                later,
                subject: "a node of a graph uses memory that is not allocated at that point"
                    .to_owned(),
            });
        }
    }

    /// Ends a launch: the stream goes on when all has run.
    fn close_launch(&mut self, lane: LaneId, end: Point) -> Result<(ItemId, Clock), CUresult> {
        let (mut after, mut clock) = self.before(lane)?;
        after.extend(end.items);
        clock.join(&end.clock);
        let by = Side::new(crate::call_site::function(), "");
        let turn = Turn { lane, after, clock };
        Ok(self.queue_point(turn, &by, &[], Work::Nothing, Other::default()))
    }
}
