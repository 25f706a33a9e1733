//! Stream memory operations as a node has them: a batch, queued in its order at each launch.

use cuda_sys::CUstreamBatchMemOpParams;

use crate::driver::unions::MemoryOperation;
use crate::engine::access::AccessKind;
use crate::engine::clock::Clock;
use crate::engine::execute;
use crate::engine::graph::exec::Step;
use crate::engine::graph::parameters::Plain;
use crate::engine::handle::Handle;
use crate::engine::scheduler::{Other, Turn};
use crate::engine::state::State;
use crate::engine::work::{ItemId, Place, Touch, Work};
use crate::report::Side;

/// Is operations in their order. A node has at least one.
#[derive(Debug, Default)]
pub(crate) struct MemoryBatch {
    /// The context that the node was made with; none is zero.
    pub(crate) context: Handle,
    /// The operations as the driver hands them out: they lie here as long as a node has them.
    pub(crate) given: Vec<Plain<CUstreamBatchMemOpParams>>,
    pub(crate) operations: Vec<MemoryOperation>,
    /// What each of them queues.
    pub(crate) works: Vec<Work>,
}

impl MemoryBatch {
    /// Tells whether a node of an executable graph may get another batch (manual): addresses and values
    /// change, and how waits compare; context, count and kinds stay, and all of what neither waits nor
    /// writes.
    pub(crate) fn may_become(&self, other: &Self) -> bool {
        let pairs = self.operations.iter().zip(&other.operations);
        self.context == other.context
            && self.operations.len() == other.operations.len()
            && pairs.into_iter().all(|(&before, &after)| is_alike(before, after))
    }
}

fn is_alike(before: MemoryOperation, after: MemoryOperation) -> bool {
    use MemoryOperation as M;
    match (before, after) {
        (M::Wait { value: before, .. }, M::Wait { value: after, .. }) => {
            before.bytes() == after.bytes()
        }
        (
            M::Write { value: before, flags: flags_before, .. },
            M::Write { value: after, flags: flags_after, .. },
        ) => (before.bytes(), flags_before) == (after.bytes(), flags_after),
        _ => before == after,
    }
}

/// Returns the word that an operation touches, and how.
fn touched(work: &Work) -> Option<(&Place, AccessKind)> {
    match work {
        Work::WaitValue(wait) => Some((&wait.place, AccessKind::Read)),
        Work::Word { to, .. } => Some((to, AccessKind::Write)),
        _ => None,
    }
}

impl State {
    /// Queues the operations of a node one behind the other, and returns the last.
    pub(crate) fn launch_batch(
        &mut self,
        turn: Turn,
        step: &Step,
        batch: &MemoryBatch,
    ) -> (ItemId, Clock) {
        let Turn { lane, mut after, mut clock } = turn;
        let mut last = 0;
        for work in &batch.works {
            let mut work = work.clone();
            self.check_word(step, &mut work);
            let turn = Turn { lane, after, clock };
            (last, clock) = self.queue_point(turn, &step.made_by, &[], work, Other::default());
            after = vec![last];
        }
        (last, clock)
    }

    /// Reports an operation of which the memory is gone; a wait there never ends.
    fn check_word(&mut self, step: &Step, work: &mut Work) {
        let Some((place, kind)) = touched(work) else { return };
        let place = place.clone();
        if let Some(memory) = place.memory {
            let touch = Touch { memory, kind, area: place.area, operand: place.operand };
            self.blame_freed(step, &[touch]);
        }
        if let Work::WaitValue(wait) = work {
            let access = Some((kind, place.area));
            let side = || Side { operand: place.operand, access, ..step.made_by.clone() };
            wait.is_lost = !execute::is_there(self, &place, side);
        }
    }
}
