//! How a call waits for queued work: until it has run, or until it is known never to.

use std::cell::Cell;
use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use crate::driver::ipc::board::Mark;
use crate::engine::clock::{Clock, LaneId};
use crate::engine::work::ItemId;
use crate::entry::Session;

/// How often it is looked whether another process, or the host, has come to something.
const POLL: Duration = Duration::from_micros(200);

thread_local! {
    static WAITED: Cell<bool> = const { Cell::new(false) };
}

/// Notes that the thread's call has not waited yet.
pub(super) fn forget() {
    // The thread's storage is gone only while the thread ends.
    let _ = WAITED.try_with(|waited| waited.set(false));
}

/// Tells whether the thread's call has waited.
pub(super) fn has_waited() -> bool {
    WAITED.try_with(Cell::get).unwrap_or(false)
}

impl Session {
    /// Waits until `goals` have run, and notes that the host knows all of `clock` to be done.
    pub(crate) fn wait(mut self, goals: &[ItemId], clock: &Clock) -> Result<Self, CUresult> {
        let _ = WAITED.try_with(|waited| waited.set(true));
        // Since when nothing has run, though nothing is known that would keep it from running.
        let mut idle: Option<Instant> = None;
        while goals.iter().any(|&goal| self.queue.is_pending(goal)) {
            // Asked before: what another process or the host does meanwhile, the next drive sees.
            let waits_for_others = self.queue.is_waiting_for_others();
            let patience = self.patience_for(goals);
            if self.drive(goals) {
                idle = None;
                continue;
            }
            if waits_for_others {
                self = self.pause();
                continue;
            }
            let is_calling = self.queue.is_calling();
            match patience.or_else(|| self.patience_for(goals)) {
                Some(_) if is_calling => idle = None,
                Some(limit) => {
                    if idle.get_or_insert_with(Instant::now).elapsed() > limit {
                        return Err(self.block(goals));
                    }
                }
                None if self.queue.any_ready(goals) => continue,
                None if is_calling => {
                    self.state = self.sim.wait(self.state);
                    continue;
                }
                None => return Err(self.block(goals)),
            }
            self = self.pause();
        }
        self.known(clock);
        self.settle_pools();
        Ok(self)
    }

    /// Reports that what is waited for never runs.
    fn block(&mut self, goals: &[ItemId]) -> CUresult {
        self.report_blocked(goals);
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
    }

    /// Lets other threads in while another process is waited for.
    fn pause(self) -> Self {
        let Self { sim, function, default_stream, state } = self;
        drop(state);
        std::thread::sleep(POLL);
        Self { sim, function, default_stream, state: sim.lock() }
    }

    /// Waits until a record is done, of whichever process. If that dies before, it never is
    /// (measured).
    pub(crate) fn wait_for_mark(mut self, mark: &Mark) -> Self {
        while !mark.is_reached() {
            let goals = self.queue.awaited();
            if !self.drive(&goals) {
                self = self.pause();
            }
        }
        self
    }

    /// Waits until all work of a lane has run.
    pub(crate) fn wait_for_lane(self, lane: LaneId) -> Result<Self, CUresult> {
        let Some(lane) = self.lanes.get(lane) else { return Ok(self) };
        let (last, clock) = (lane.last, lane.clock.clone());
        self.wait(&[last], &clock)
    }

    /// Waits until all work of a context has run.
    pub(crate) fn wait_for_context(self, context: u64) -> Result<Self, CUresult> {
        let (goals, clock) = self.all_of(context);
        self.wait(&goals, &clock)
    }

    /// Waits as [`wait_for_context`](Self::wait_for_context), for a call whose waiting its manual
    /// does not promise: the work has run, but nothing is known to be ordered by it.
    pub(crate) fn drain_context(self, context: u64) -> Result<Self, CUresult> {
        let (goals, _) = self.all_of(context);
        self.wait(&goals, &Clock::default())
    }

    fn all_of(&self, context: u64) -> (Vec<ItemId>, Clock) {
        let mut clock = Clock::default();
        let mut goals = Vec::new();
        for (_, lane) in self.lanes.of(context) {
            goals.push(lane.last);
            clock.join(&lane.clock);
        }
        (goals, clock)
    }
}
