//! Gives an executable graph the parameters of another graph, which must be like it.

use std::sync::Arc;

use cuda_sys::{CUgraphExecUpdateResult, CUgraphNodeType};

use crate::engine::graph::Operation;
use crate::engine::graph::exec::{Circle, Step};
use crate::engine::handle::Handle;
use crate::engine::state::State;
use crate::engine::work::Work;

/// Is why an executable graph can't take another graph's nodes.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) result: CUgraphExecUpdateResult,
    pub(crate) node: Handle,
}

impl Mismatch {
    /// Makes the answer that nodes or edges are others.
    const fn of_topology(node: Handle) -> Self {
        let result = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        Self { result, node }
    }
}

/// Returns how many steps there are of the node of the first one.
fn of_first_node(steps: &[Step]) -> usize {
    let Some(first) = steps.first().filter(|first| first.is_entry) else { return 1 };
    let is_exit = |step: &Step| step.node == first.node && !step.is_entry;
    steps.iter().position(is_exit).map_or(1, |exit| exit + 1)
}

/// Counts the nodes of a graph by its steps, without those of the graphs inside of it.
fn count(mut steps: &[Step]) -> usize {
    let mut count = 0;
    while !steps.is_empty() {
        steps = steps.get(of_first_node(steps)..).unwrap_or_default();
        count += 1;
    }
    count
}

/// Tells whether a graph's nodes may become another's. That there are as many is looked at first
/// (measured), and no node is to blame then (manual).
fn compare(mut before: &[Step], mut after: &[Step]) -> Result<(), Mismatch> {
    if count(before) != count(after) {
        return Err(Mismatch::of_topology(0));
    }
    while let (Some(old), Some(new)) = (before.first(), after.first()) {
        let (from, to) = (&old.operation, &new.operation);
        if from.kind() != to.kind() || old.is_entry != new.is_entry {
            let result = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
            return Err(Mismatch { result, node: new.node });
        }
        if old.after != new.after {
            return Err(Mismatch::of_topology(new.node));
        }
        if !may_become(from, to) {
            return Err(Mismatch { result: refusal(from, to), node: new.node });
        }
        let (old_rest, new_rest) = (of_first_node(before), of_first_node(after));
        if old.is_entry {
            let inside = |end: usize| 1..end.saturating_sub(1);
            let old = before.get(inside(old_rest)).unwrap_or_default();
            compare(old, after.get(inside(new_rest)).unwrap_or_default())?;
        }
        before = before.get(old_rest..).unwrap_or_default();
        after = after.get(new_rest..).unwrap_or_default();
    }
    Ok(())
}

impl State {
    /// Gives an executable graph the parameters of another graph's nodes, which must be of the
    /// same kinds and have the same edges.
    pub(crate) fn update_exec(&mut self, exec: Handle, graph: Handle) -> Result<(), Mismatch> {
        let new = self.graphs.steps_of(graph);
        let new = new.map_err(|Circle { node }| Mismatch::of_topology(node))?;
        let Some(exec) = self.graphs.execs.get_mut(exec) else { return Ok(()) };
        compare(&exec.steps, &new)?;
        for (old, new) in Arc::make_mut(&mut exec.steps).iter_mut().zip(new) {
            old.operation = new.operation;
            old.made_by = new.made_by;
        }
        Ok(())
    }
}

/// Returns why a node may not get an operation of its kind.
fn refusal(before: &Operation, after: &Operation) -> CUgraphExecUpdateResult {
    use CUgraphExecUpdateResult as R;
    match (before.work(), after.work()) {
        (Some(Work::Kernel(before)), Some(Work::Kernel(after))) => {
            if before.context == after.context {
                R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
            } else {
                R::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
            }
        }
        _ => R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
    }
}

/// Tells whether a node of an executable graph may get that operation (manual): of its kind, of one
/// dimension still, with operands in memory of the same kinds; of a kernel of its context, whose
/// blocks run at the same time as before or not; what allocates and frees stays. Of memory operations
/// [`MemoryBatch::may_become`](crate::engine::graph::memory_batch::MemoryBatch::may_become) decides.
pub(crate) fn may_become(before: &Operation, after: &Operation) -> bool {
    if before.kind() != after.kind() {
        return false;
    }
    match (before, after) {
        (Operation::Allocate(before), Operation::Allocate(after))
        | (Operation::Free(before), Operation::Free(after)) => before == after,
        (Operation::Memory(before), Operation::Memory(after)) => before.may_become(after),
        (Operation::Task(before), Operation::Task(after)) => {
            if let (Work::Kernel(before), Work::Kernel(after)) = (&before.work, &after.work) {
                return (before.context, before.cooperative) == (after.context, after.cooperative);
            }
            match (before.work.extent(), after.work.extent()) {
                (Some(before), Some(after)) => {
                    let is_row = before.height <= 1 && before.depth <= 1;
                    before == after || is_row && after.height <= 1 && after.depth <= 1
                }
                _ => true,
            }
        }
        _ => before.kind() != CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH,
    }
}
