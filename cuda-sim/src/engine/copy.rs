//! What all copies share: when they are queued, when they are done, whose bytes they hold.
//!
//! The rules are the manual's of synchronisation, and where it leaves a choice the less convenient
//! one; what was measured is said at each.

use cuda_sys::{CUresult, CUstream};

use crate::config::Scheduler;
use crate::engine::access::AccessKind;
use crate::engine::clock::LaneId;
use crate::engine::execute;
use crate::engine::operand::Space;
pub(crate) use crate::engine::operand::Target;
use crate::engine::raw::Extent;
use crate::engine::work::{Expected, Place, Source, Work};
use crate::entry::{Answer, Session};

/// Is whether a copy's call waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// The call is one without a stream.
    Synchronous,
    /// The call queues on a stream.
    On(CUstream),
}

/// From more pageable bytes on, the call waits for the work before it (measured).
const STAGED: usize = 2 << 20;

/// Copies.
pub(crate) fn copy(
    session: Session,
    order: Order,
    to: impl Into<Target>,
    from: impl Into<Target>,
    extent: Extent,
) -> Answer {
    copy_on(session, order, to.into(), from.into(), extent).map(|_| ())
}

/// Copies, and goes on with the call.
pub(crate) fn copy_on(
    mut session: Session,
    order: Order,
    to: Target,
    from: Target,
    extent: Extent,
) -> Result<Session, CUresult> {
    session.context()?;
    // Measured: of no bytes, addresses don't matter.
    if extent.is_empty() {
        return Ok(session);
    }
    let lane = match order {
        Order::Synchronous => session.default_lane()?,
        Order::On(stream) => session.lane_for_work(stream)?,
    };
    let is_captured = session.capturing(lane)?.is_some();
    let call = session.call();
    let (to_space, mut to) = session.resolve_target(call, to, extent)?;
    let (from_space, mut from) = session.resolve_target(call, from, extent)?;
    let touches: Vec<_> =
        [to.touch(AccessKind::Write), from.touch(AccessKind::Read)].into_iter().flatten().collect();
    session.check_access(&touches)?;
    if is_captured {
        // Measured: pageable memory too. It is read and written at each launch (manual).
        let from = Source::Place(from);
        session.submit(lane, &touches, Work::Copy { to, from, extent })?;
        return Ok(session);
    }
    let waits = match (order, from_space, to_space) {
        // Measured: the data is there on return.
        (_, _, Space::Pageable) => true,
        // Manual: of host to host, synchronous.
        (_, Space::Pageable | Space::Pinned, Space::Pinned) => true,
        // Manual: the source is taken; that the destination has it on return isn't said.
        (_, Space::Pageable, Space::Device) => false,
        // By analogy with fills, of which the manual says it.
        (Order::Synchronous, Space::Managed, _) | (Order::Synchronous, _, Space::Managed) => true,
        (Order::On(_), Space::Pageable, Space::Managed) => false,
        (Order::Synchronous, Space::Pinned, Space::Device) => true,
        (Order::Synchronous, Space::Device, Space::Pinned) => true,
        // Manual: of device to device, the host does not wait.
        (Order::Synchronous, Space::Device, Space::Device) => false,
        (Order::On(_), _, _) => false,
    };
    let is_marked =
        |place: &Place| place.memory.is_some_and(|memory| session.registry.is_synchronous(memory));
    let is_marked = is_marked(&to) || is_marked(&from);
    let waits = waits || matches!(order, Order::Synchronous) && is_marked;
    if from_space == Space::Pageable && matches!(to_space, Space::Device | Space::Managed) {
        let is_long = extent.volume() > STAGED;
        if is_long || matches!(order, Order::Synchronous) {
            session = wait_for_earlier(session, lane)?;
        }
        // The wait let other threads in, and one may have freed the memory.
        if to.memory.is_some_and(|memory| session.registry.get(memory).is_none()) {
            return Err(crate::entry::INVALID_VALUE);
        }
        // What runs inside of the call may read the bytes where they are.
        let from = match runs_at_once(&session, lane) {
            true => Source::Place(from),
            false => Source::Taken(execute::taken(&from, extent)),
        };
        session.submit(lane, &touches, Work::Copy { to, from, extent })?;
        return if waits { session.wait_for_lane(lane) } else { Ok(session) };
    }
    if !waits && !runs_at_once(&session, lane) {
        expect(&session, lane, &mut to, &mut from, [to_space, from_space], extent);
    }
    let from = Source::Place(from);
    session.submit(lane, &touches, Work::Copy { to, from, extent })?;
    if waits { session.wait_for_lane(lane) } else { Ok(session) }
}

/// Waits for all that is queued before the next work of a lane.
fn wait_for_earlier(session: Session, lane: LaneId) -> Result<Session, CUresult> {
    let (goals, clock) = session.before(lane)?;
    session.wait(&goals, &clock)
}

/// Tells whether work that is queued now runs inside of the call.
pub(crate) fn runs_at_once(session: &Session, lane: LaneId) -> bool {
    session.config.order() == Scheduler::Eager
        && session.pending_before(lane).is_ok_and(|before| before.is_empty())
}

/// Notes what pinned memory holds, so that the host's meddling shows, and poisons destinations. A
/// host function that comes before the copy may still use both.
pub(crate) fn expect(
    session: &Session,
    lane: LaneId,
    to: &mut Place,
    from: &mut Place,
    [to_space, from_space]: [Space; 2],
    extent: Extent,
) {
    let may_touch = session.before(lane).is_ok_and(|(_, clock)| session.queue.calls_before(&clock));
    if may_touch || !session.config.reports {
        return;
    }
    if matches!(from_space, Space::Pinned | Space::Managed)
        && let Some(memory) = from.memory
        && !session.is_in_use(memory, &from.area, false)
    {
        from.expected = Some(Expected::Hash(execute::hashed(from, extent)));
    }
    if matches!(to_space, Space::Pinned | Space::Managed)
        && let Some(memory) = to.memory
        && !session.is_in_use(memory, &to.area, true)
    {
        execute::poison(to, extent);
        to.expected = Some(Expected::Poison);
    }
}
