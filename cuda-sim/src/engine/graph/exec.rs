//! Executable graphs: the nodes of a graph and of those inside of it, in an order that its edges
//! allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_sys::CUresult;

use crate::engine::clock::{Clock, LaneId};
use crate::engine::graph::{Graphs, Operation};
use crate::engine::handle::Handle;
use crate::engine::registry::BufferId;
use crate::engine::scheduler::{Other, Turn};
use crate::engine::state::State;
use crate::engine::work::{ItemId, Work};
use crate::entry::INVALID_VALUE;
use crate::report::Side;

/// Is a node of an executable graph.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The node of the graph that it was made of.
    pub(crate) node: Handle,
    /// Whether it is what comes before the nodes of a graph inside of the graph.
    pub(crate) is_entry: bool,
    /// The steps that it waits for.
    pub(crate) after: Vec<usize>,
    /// Is never a graph: that is taken apart.
    pub(crate) operation: Operation,
    pub(crate) is_enabled: bool,
    /// Steps of one branch come one after the other.
    pub(crate) branch: usize,
    /// The call that made the node.
    pub(crate) made_by: Side,
}

/// Is an executable graph.
#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) id: u32,
    /// The graph that it was made of, which may be gone.
    pub(crate) graph: Handle,
    pub(crate) flags: u64,
    pub(crate) steps: Arc<Vec<Step>>,
    /// What its nodes allocate.
    pub(crate) memory: Vec<BufferId>,
    /// The context of its last launch, and the lanes of its branches there.
    pub(crate) lanes: (Handle, Vec<LaneId>),
    /// The end of its last launch.
    pub(crate) last: ItemId,
    pub(crate) clock: Clock,
    /// How many references to each user object it has.
    pub(crate) objects: BTreeMap<Handle, u32>,
    /// The call that made it.
    pub(crate) made_by: Side,
}

/// Is a graph that no order of its nodes runs: a node waits, in the end, for itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circle {
    /// A node that never comes to its turn.
    pub(crate) node: Handle,
}

impl Graphs {
    /// Takes a graph apart into steps.
    pub(crate) fn steps_of(&self, graph: Handle) -> Result<Vec<Step>, Circle> {
        let mut steps = Vec::new();
        self.append(graph, &[], &mut steps)?;
        assign_branches(&mut steps);
        Ok(steps)
    }

    /// Appends the steps of a graph of which the first wait for `before`; returns the last.
    fn append(
        &self,
        graph: Handle,
        before: &[usize],
        steps: &mut Vec<Step>,
    ) -> Result<Vec<usize>, Circle> {
        let mut ends: BTreeMap<Handle, usize> = BTreeMap::new();
        let mut open = self.nodes_of(graph);
        let mut is_waited_for = std::collections::BTreeSet::new();
        while let Some(position) = open.iter().position(|&node| {
            self.dependencies_of(node).iter().all(|dependency| ends.contains_key(&dependency.node))
        }) {
            let handle = open.remove(position);
            let Some(node) = self.nodes.get(handle) else { continue };
            let mut after: Vec<usize> = node
                .dependencies
                .iter()
                .filter_map(|dependency| ends.get(&dependency.node).copied())
                .collect();
            is_waited_for.extend(after.iter().copied());
            if after.is_empty() {
                after.extend(before);
            }
            let step = |after, operation, is_entry| Step {
                node: handle,
                is_entry,
                after,
                operation,
                is_enabled: true,
                branch: 0,
                made_by: node.made_by.clone(),
            };
            if let Operation::Child(child) = node.operation {
                steps.push(step(after, Operation::Empty, true));
                let entry = steps.len() - 1;
                let last = self.append(child, &[entry], steps)?;
                steps.push(step(last, Operation::Empty, false));
            } else {
                steps.push(step(after, node.operation.clone(), false));
            }
            ends.insert(handle, steps.len() - 1);
        }
        if let Some(&node) = open.first() {
            return Err(Circle { node });
        }
        let last: Vec<usize> =
            ends.into_values().filter(|end| !is_waited_for.contains(end)).collect();
        Ok(if last.is_empty() { before.to_vec() } else { last })
    }

    /// Returns what the nodes of steps allocate.
    pub(crate) fn allocated_by(steps: &[Step]) -> Vec<BufferId> {
        let memory = |step: &Step| match step.operation {
            Operation::Allocate(memory) => Some(memory),
            _ => None,
        };
        steps.iter().filter_map(memory).collect()
    }
}

/// Puts each step on the branch of a step that it waits for, if that has no other continuation.
fn assign_branches(steps: &mut [Step]) {
    let mut ends: Vec<Option<usize>> = Vec::new();
    for index in 0..steps.len() {
        let Some(step) = steps.get_mut(index) else { return };
        let continued =
            ends.iter().position(|end| end.is_some_and(|end| step.after.contains(&end)));
        let branch = continued.unwrap_or(ends.len());
        if continued.is_none() {
            ends.push(None);
        }
        step.branch = branch;
        if let Some(end) = ends.get_mut(branch) {
            *end = Some(index);
        }
    }
}

impl State {
    /// Returns an executable graph. A stale handle is reported.
    pub(crate) fn exec(&mut self, handle: Handle) -> Result<&mut Exec, CUresult> {
        if self.graphs.execs.get(handle).is_none() {
            if let Some(ended) = self.graphs.execs.ended(handle) {
                self.stale(
                    "hGraphExec",
                    "the executable graph was destroyed; a real driver crashes",
                    ended,
                );
            }
            return Err(INVALID_VALUE);
        }
        self.graphs.execs.get_mut(handle).ok_or(INVALID_VALUE)
    }

    /// Makes a graph executable of which these are the steps.
    pub(crate) fn instantiate(
        &mut self,
        graph: Handle,
        steps: Vec<Step>,
        flags: u64,
        made_by: Side,
    ) -> Result<Handle, CUresult> {
        let objects = self.graph(graph)?.objects.clone();
        if self.graph(graph)?.is_captured {
            return Err(INVALID_VALUE);
        }
        // Measured: of a graph that allocates, only one may exist at a time.
        let exists = self.graphs.execs.values().any(|exec| exec.graph == graph);
        if exists && self.graphs.has_memory_nodes(graph) {
            return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
        self.check_functions(&steps)?;
        let memory = Graphs::allocated_by(&steps);
        for &memory in &memory {
            self.share_memory(memory);
        }
        for (&object, &count) in &objects {
            if let Some(object) = self.graphs.objects.get_mut(object) {
                object.of_graphs = object.of_graphs.saturating_add(count);
            }
        }
        let exec = Exec {
            id: self.graphs.next_id(),
            graph,
            flags,
            steps: Arc::new(steps),
            memory,
            lanes: (0, Vec::new()),
            last: 0,
            clock: Clock::default(),
            objects,
            made_by,
        };
        let out_of_memory = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        self.graphs.execs.insert_with(|_| exec).ok_or(out_of_memory)
    }

    /// Refuses kernels whose modules were unloaded, and reports them.
    pub(crate) fn check_functions(&mut self, steps: &[Step]) -> Result<(), CUresult> {
        let call = crate::call_site::function();
        for step in steps {
            if let Some(Work::Kernel(kernel)) = step.operation.work() {
                self.function(call, kernel.function)?;
            }
        }
        Ok(())
    }

    /// Destroys an executable graph. What it keeps alive goes when its last launch has ended.
    pub(crate) fn destroy_exec(&mut self, handle: Handle) -> Result<(), CUresult> {
        self.exec(handle)?;
        let Some(exec) = self.graphs.execs.remove(handle) else { return Ok(()) };
        for memory in exec.memory {
            self.leave_memory(memory);
        }
        let objects: Vec<_> = exec.objects.into_iter().collect();
        let lane = exec.lanes.1.first().copied();
        match lane.filter(|_| !objects.is_empty() && self.queue.is_pending(exec.last)) {
            Some(lane) => {
                let by = Side::new(crate::call_site::function(), "");
                let turn = Turn { lane, after: vec![exec.last], clock: exec.clock };
                self.queue_turn(turn, &by, &[], Work::Release(objects), Other::default());
            }
            None => {
                for (object, count) in objects {
                    self.release_object(object, count, true);
                }
            }
        }
        for lane in exec.lanes.1 {
            self.lanes.close(lane);
        }
        Ok(())
    }
}
