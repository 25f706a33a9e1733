//! Copies that are queued together: when their sources are read, and that nothing orders them.

use cuda_sys::{CUresult, CUstream};

use crate::engine::access::AccessKind;
use crate::engine::clock::LaneId;
use crate::engine::copy::{self, Target};
use crate::engine::execute;
use crate::engine::operand::Space;
use crate::engine::raw::Extent;
use crate::engine::work::{Place, Source, Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, Session};
use crate::report::{Finding, FindingKind, Side};

/// Is when the source of a copy is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceOrder {
    /// When the stream comes to it.
    Stream,
    /// Before the call returns.
    Call,
    /// At any time until the stream comes behind it.
    Any,
}

/// Is a copy of a batch.
#[derive(Debug)]
struct Planned {
    order: SourceOrder,
    spaces: [Space; 2],
    to: Place,
    from: Place,
    extent: Extent,
}

/// Is copies that are queued together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    copies: Vec<Planned>,
}

impl Session {
    /// Returns the lane of a stream that batches are queued on, which the legacy one is not.
    pub(crate) fn lane_for_batch(&mut self, stream: CUstream) -> Result<LaneId, CUresult> {
        let lane = self.lane_for_work(stream)?;
        if lane == self.context()?.own.legacy {
            return Err(INVALID_VALUE);
        }
        Ok(lane)
    }
}

impl Batch {
    /// Checks a copy and adds it. One of no bytes is nothing.
    pub(crate) fn add(
        &mut self,
        session: &mut Session,
        order: SourceOrder,
        to: Target,
        from: Target,
        extent: Extent,
    ) -> Answer {
        if extent.is_empty() {
            return Ok(());
        }
        let call = session.call();
        let (to_space, to) = session.resolve_target(call, to, extent)?;
        let (from_space, from) = session.resolve_target(call, from, extent)?;
        let touches = [to.touch(AccessKind::Write), from.touch(AccessKind::Read)];
        session.check_access(&touches.into_iter().flatten().collect::<Vec<_>>())?;
        let spaces = [to_space, from_space];
        self.copies.push(Planned { order, spaces, to, from, extent });
        Ok(())
    }

    /// Queues the copies as one piece of work.
    pub(crate) fn submit(self, mut session: Session, lane: LaneId) -> Answer {
        session.refuse_captured(lane)?;
        self.compare(&mut session);
        let waits = self.copies.iter().any(|copy| copy.spaces[0] == Space::Pageable);
        let at_once = copy::runs_at_once(&session, lane);
        let (mut works, mut touches) = (Vec::new(), Vec::<Touch>::new());
        for Planned { order, spaces, mut to, mut from, extent } in self.copies {
            let [to_space, from_space] = spaces;
            touches.extend(to.touch(AccessKind::Write));
            // Pageable memory is staged by the driver; other host memory is taken if the call says
            // that its owner may change it on return.
            let is_taken = from_space == Space::Pageable
                || order == SourceOrder::Call && from_space != Space::Device;
            if !waits && !at_once {
                let taken = if is_taken { Space::Device } else { from_space };
                copy::expect(&session, lane, &mut to, &mut from, [to_space, taken], extent);
            }
            let from = if is_taken {
                Source::Taken(execute::taken(&from, extent))
            } else {
                touches.extend(from.touch(AccessKind::Read));
                Source::Place(from)
            };
            works.push(Work::Copy { to, from, extent });
        }
        session.submit(lane, &touches, Work::Batch(works))?;
        if waits {
            session.wait_for_lane(lane)?;
        }
        Ok(())
    }

    /// Reports copies of which one writes what another touches.
    fn compare(&self, session: &mut Session) {
        let call = session.call();
        let side = |place: &Place, kind| Side {
            access: Some((kind, place.area)),
            ..Side::new(call, place.operand)
        };
        for (position, one) in self.copies.iter().enumerate() {
            for (other_position, other) in self.copies.iter().enumerate() {
                let pairs = [(&other.to, AccessKind::Write), (&other.from, AccessKind::Read)];
                for (place, kind) in pairs {
                    // Of two writes, one look is enough; a copy's own ends are its own matter.
                    let is_twice = kind == AccessKind::Write && other_position < position;
                    if other_position == position
                        || is_twice
                        || one.to.memory != place.memory
                        || !one.to.area.overlaps(&place.area)
                    {
                        continue;
                    }
                    let finding = Finding {
                        kind: FindingKind::Race,
                        earlier: Some(side(&one.to, AccessKind::Write)),
                        later: side(place, kind),
                        subject: "nothing orders two copies of a batch".to_owned(),
                    };
                    session.findings.add(finding);
                }
            }
        }
    }
}
