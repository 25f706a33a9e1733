//! The steps around the call that keep memory in order: waiting before it, recording after it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use super::Contract;
use super::area::Area;
use super::operand::{Access, Operand, Until};
use super::timeline::Timeline;
use super::uses::{Marks, Pending, Uses};
use crate::context::Context;
use crate::error::Result;
use crate::stream::Stream;

/// Is what a call waited for, by the position of the operand; mostly nothing.
pub(crate) struct Settled(Option<Box<Waited>>);

type Waited = Vec<(usize, Pending<Timeline>)>;

/// Returns the timeline of the call's stream.
#[inline]
pub(crate) const fn timeline(stream: &Stream) -> &Arc<Timeline> {
    stream.timeline()
}

/// Returns the timeline of the default stream of the context that the call runs in.
pub(crate) fn default_timeline(home: &Context) -> Arc<Timeline> {
    home.legacy_timeline()
}

/// Makes the stream wait for earlier uses that the call must not pass.
#[inline]
pub(crate) fn settle(
    _call: &'static Contract,
    timeline: &Arc<Timeline>,
    operands: &[&Operand<'_>],
) -> Result<Settled> {
    let mut settled = Settled(None);
    for (index, operand) in operands.iter().enumerate() {
        if let Some(allocation) = operand.allocation() {
            let pending = allocation.uses().settle(timeline.id(), operand.access, &operand.area);
            if !pending.is_empty() {
                wait_on_stream(timeline, &pending)?;
                let waited = settled.0.get_or_insert_default();
                waited.extend(pending.into_iter().map(|pending| (index, pending)));
            }
        }
    }
    Ok(settled)
}

/// Waits once for each other stream: its last mark covers the earlier ones.
#[cold]
fn wait_on_stream(timeline: &Timeline, pending: &[Pending<Timeline>]) -> Result<()> {
    let is_last = |earlier: &&Pending<Timeline>| {
        let (id, mark) = (earlier.timeline.id(), earlier.mark);
        !pending.iter().any(|other| other.timeline.id() == id && other.mark > mark)
    };
    let mut last = pending.iter().filter(is_last);
    last.try_for_each(|earlier| timeline.wait_for(&earlier.timeline, earlier.mark))
}

/// Waits on the host for earlier uses that a call must not pass which is done when it returns.
pub(crate) fn settle_host(_call: &'static Contract, operands: &[&Operand<'_>]) -> Result<()> {
    for operand in operands {
        if let Some(allocation) = operand.allocation() {
            wait(allocation.uses(), operand.access, operand.area)?;
        }
    }
    Ok(())
}

/// Has an event cover the stream's uses so far, before something comes on it that may block it.
pub(crate) fn fence(_call: &'static Contract, stream: &Stream) -> Result<()> {
    stream.timeline().fence()
}

/// Records the uses that the call leaves behind. An error may be that of earlier work: then the
/// call was enqueued all the same, so that even what ends with the call counts as in use.
#[inline]
pub(crate) fn touch(
    timeline: &Arc<Timeline>,
    operands: &[&Operand<'_>],
    settled: Settled,
    code: CUresult,
) {
    let mark = timeline.mark();
    if timeline.is_eager() && operands.iter().any(|operand| operand.allocation().is_some()) {
        // Before the uses are recorded, so that whoever finds one finds its event.
        timeline.seal(mark);
    }
    for (index, operand) in operands.iter().enumerate() {
        let Some(allocation) = operand.allocation() else { continue };
        // Only the host's memory is finished with on return; a device's may be behind.
        let done = operand.until == Until::Call && operand.region.kind.is_host();
        if done && code == CUresult::CUDA_SUCCESS {
            continue;
        }
        let waited = settled.0.iter().flat_map(|waited| waited.iter());
        let own = waited.filter(|(of, _)| *of == index).map(|(_, pending)| pending);
        let uses = allocation.uses();
        if uses.touch(timeline, mark, operand.access, &operand.area, own) {
            shorten(uses);
        }
    }
}

/// Asks the streams how far they are, and drops what is done.
#[cold]
fn shorten(uses: &Uses<Timeline>) {
    for pending in uses.outstanding() {
        // An error comes again where the stream is waited for; here it only keeps the use.
        let _kept = pending.timeline.advance();
    }
    uses.drop_reached();
}

/// Waits on the host for every use of `area` that conflicts with an access to it.
pub(super) fn wait(uses: &Uses<Timeline>, access: Access, area: Area) -> Result<()> {
    let pending = uses.settle_host(access, &area);
    if pending.is_empty() {
        return Ok(());
    }
    pending.iter().try_for_each(|earlier| earlier.timeline.wait(earlier.mark))?;
    uses.drop_reached();
    Ok(())
}

/// Waits on the host for every use of `area`, but no longer than `limit`.
pub(super) fn wait_timeout(uses: &Uses<Timeline>, area: Area, limit: Duration) -> Result<bool> {
    let end = Instant::now().checked_add(limit);
    for earlier in uses.settle_host(Access::Write, &area) {
        let left = end.map_or(limit, |end| end.saturating_duration_since(Instant::now()));
        if !earlier.timeline.wait_timeout(earlier.mark, left)? {
            return Ok(false);
        }
    }
    uses.drop_reached();
    Ok(true)
}

/// Asks the streams how far they are, and tells whether everything is done.
pub(super) fn is_idle(uses: &Uses<Timeline>) -> bool {
    if uses.outstanding().is_empty() {
        return true;
    }
    shorten(uses);
    uses.outstanding().is_empty()
}
