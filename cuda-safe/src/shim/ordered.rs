//! Memory that is allocated and freed in the order of streams.
#![expect(unsafe_code, reason = "frees memory by raw handle")]

use core::ptr;
use std::sync::Arc;

use cuda_sys::{CUdeviceptr, CUstream, CUstream_flags};

use super::raw;
use super::region::Allocation;
use super::relaxed::Relaxed;
use super::timeline::{Block, Timeline};
use super::uses::Pending;
use super::{Access, Area};
use crate::context::Context;
use crate::error::Result;

/// Notes that memory may be used only behind its own allocation, which came on a stream just now;
/// the context is entered if the stream is eager.
pub(crate) fn first_write(timeline: &Arc<Timeline>, allocation: &Allocation) {
    let (area, mark) = (Area::bytes(0, allocation.len()), timeline.mark());
    if timeline.is_eager() {
        timeline.seal(mark);
    }
    allocation.uses().touch(timeline, mark, Access::Write, &area, [].iter());
}

/// Says what became of memory that was to be freed.
pub(crate) enum Freed {
    /// It is freed, or the driver said that it can't be.
    Done(Result<()>),
    /// It is not: a use could not be waited for.
    NotYet,
}

/// Has a stream keep memory for its next allocation, behind every use; the context is entered.
/// Returns what has to be freed: what the stream keeps no longer, or this if it can't keep it.
pub(crate) fn keep(timeline: &Arc<Timeline>, block: Block) -> Vec<Block> {
    let len = block.allocation.len();
    let earlier = timeline.uses_before_free(&block.allocation);
    let is_behind = || timeline.can_free() && timeline.wait_for_each(&earlier).is_ok();
    if timeline.may_keep(len) && (earlier.is_empty() || is_behind()) {
        timeline.keep(block)
    } else {
        vec![block]
    }
}

/// Frees memory in the order of `timeline`, behind every use; its context is entered. What captured
/// work uses is kept.
///
/// If that stream is gone, captures, or may be out of reach, the context's own stream does it.
///
/// # Safety
///
/// The address came from a pool, is not freed yet, and nobody uses it from now on.
pub(crate) unsafe fn free(
    context: &Context,
    timeline: &Arc<Timeline>,
    address: CUdeviceptr,
    allocation: &Allocation,
) -> Freed {
    let _relaxed = Relaxed::enter();
    if timeline.can_free() {
        // SAFETY: the caller's promise.
        match unsafe { timeline.free(address, allocation) } {
            Ok(Some(freed)) => return Freed::Done(freed),
            // The stream went in between.
            Ok(None) => {}
            Err(_) => return Freed::NotYet,
        }
    }
    let Ok(reclaim) = context.reclaim_timeline() else { return Freed::NotYet };
    // SAFETY: the caller's promise.
    match unsafe { reclaim.free(address, allocation) } {
        Ok(Some(freed)) => Freed::Done(freed),
        Ok(None) | Err(_) => Freed::NotYet,
    }
}

/// Makes the stream that frees what no other can.
pub(crate) fn reclaim(context: &Context) -> Result<Arc<Timeline>> {
    let mut stream: CUstream = ptr::null_mut();
    let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    // SAFETY: the call writes one handle.
    unsafe { raw::stream_create(&raw mut stream, flags) }?;
    Ok(Timeline::new(context, stream))
}

impl Timeline {
    /// Tells whether memory can be freed in the order of the stream.
    fn can_free(&self) -> bool {
        // The handle of a thread's own stream means another stream in each thread.
        !self.is_eager() && self.is_capturing() == Ok(false)
    }

    /// Returns the uses that a free of the memory has to come behind.
    fn uses_before_free(&self, allocation: &Allocation) -> Vec<Pending<Self>> {
        let area = Area::bytes(0, allocation.len());
        allocation.uses().settle(self.number(), Access::Write, &area)
    }

    /// Has what comes on the stream wait for earlier uses.
    fn wait_for_each(&self, earlier: &[Pending<Self>]) -> Result<()> {
        earlier.iter().try_for_each(|it| self.wait_for(&it.timeline, it.mark))
    }

    /// Frees memory behind every use; answers with an error if a use can't be waited for, with
    /// none if the stream is gone, and else what the driver answered.
    ///
    /// # Safety
    ///
    /// As [`free`] demands.
    unsafe fn free(
        &self,
        address: CUdeviceptr,
        allocation: &Allocation,
    ) -> Result<Option<Result<()>>> {
        self.wait_for_each(&self.uses_before_free(allocation))?;
        let freed = self.with_handle(|stream| {
            // SAFETY: the caller's promise; the stream is alive: its handle is held.
            unsafe { raw::mem_free_async(address, stream) }
        });
        if freed.is_some() {
            // The free is a use of the stream's, which the end of the context waits for.
            self.note_freed(self.mark());
        }
        Ok(freed)
    }
}
