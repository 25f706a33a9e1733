//! Memory that a stream keeps: its owner is gone, and the next who allocates as much in the order of
//! the same stream gets it without the driver.
//!
//! What the next owner enqueues on the stream comes behind everything that used the memory before.
//! The driver's pools give memory back when a stream is waited for, and so does this.

use std::collections::VecDeque;
use std::sync::Arc;

use cuda_sys::CUdeviceptr;

use super::capture::{Capture, capture_of, of_a_capture};
use super::{StreamHandle, Timeline};
use crate::error::Result;
use crate::shim::Allocation;

/// A stream keeps so many bytes: for more, what is done with them takes longer than the calls.
const BYTES: usize = 64 << 20;
/// A stream keeps so many blocks.
const BLOCKS: usize = 16;

/// Is memory of the device's current pool that nobody owns.
pub(crate) struct Block {
    pub(crate) address: CUdeviceptr,
    pub(crate) allocation: Arc<Allocation>,
}

/// Is what a stream keeps, the newest last.
pub(super) struct Kept {
    blocks: VecDeque<Block>,
    bytes: usize,
}

impl Kept {
    pub(super) const fn new() -> Self {
        Self { blocks: VecDeque::new(), bytes: 0 }
    }

    /// Adds a block, and returns what is too much then: the oldest ones.
    fn add(&mut self, block: Block) -> Vec<Block> {
        let mut given_up = Vec::new();
        self.bytes += block.allocation.len();
        self.blocks.push_back(block);
        while (self.bytes > BYTES || self.blocks.len() > BLOCKS)
            && let Some(oldest) = self.remove(0)
        {
            given_up.push(oldest);
        }
        given_up
    }

    fn remove(&mut self, index: usize) -> Option<Block> {
        let block = self.blocks.remove(index)?;
        self.bytes -= block.allocation.len();
        Some(block)
    }
}

impl Timeline {
    /// Tells whether memory of so many bytes can be kept. That of a thread's own stream, or of others'
    /// streams, can't: nobody here sees when they go.
    pub(crate) const fn may_keep(&self, bytes: usize) -> bool {
        bytes <= BYTES && !self.is_eager()
    }

    /// Keeps memory that the stream is ordered behind every use of. Returns what has to be freed: the
    /// oldest blocks if there are too many, or this one if the stream captures or is gone.
    pub(crate) fn keep(&self, block: Block) -> Vec<Block> {
        let mut state = self.lock();
        match state.stream {
            Some(StreamHandle(stream)) if capture_of(stream) == Ok(Capture::No) => {
                state.kept.add(block)
            }
            _ => vec![block],
        }
    }

    /// Returns the newest of the blocks that have so many bytes; refuses if the stream captures.
    pub(crate) fn take_kept(&self, call: &'static str, bytes: usize) -> Result<Option<Block>> {
        let mut state = self.lock();
        if let Some(StreamHandle(stream)) = state.stream
            && capture_of(stream)? != Capture::No
        {
            return Err(of_a_capture(call));
        }
        let is_such = |block: &Block| block.allocation.len() == bytes;
        let found = state.kept.blocks.iter().rposition(is_such);
        Ok(found.and_then(|index| state.kept.remove(index)))
    }

    /// Returns everything that is kept.
    pub(crate) fn take_all_kept(&self) -> VecDeque<Block> {
        std::mem::replace(&mut self.lock().kept, Kept::new()).blocks
    }
}
