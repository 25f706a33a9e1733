//! Stream memory operations: streams that wait for words of memory, and write them. All answers are
//! manual.
//!
//! What such a wait orders is the program's matter: work behind it is not compared with other
//! streams' work.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_uint;
use std::sync::Arc;

use cuda_sys::{
    CUdeviceptr, CUresult, CUstream, CUstreamAtomicReductionOpType, CUstreamBatchMemOpParams,
    CUstreamWaitValue_flags, CUstreamWriteValue_flags,
};

use crate::driver::array::row;
use crate::driver::unions::{MemoryOperation, memory_operation, memory_parameters};
use crate::engine::access::AccessKind;
use crate::engine::graph::Operation;
use crate::engine::graph::memory_batch::MemoryBatch;
use crate::engine::graph::parameters::Plain;
use crate::engine::operand::{Operand, Space};
use crate::engine::raw::{Change, Word};
use crate::engine::registry::{BufferId, MemoryKind};
use crate::engine::state::State;
use crate::engine::value::{Changes, Condition, ValueWait};
use crate::engine::work::{Place, Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

/// The most operations of a batch.
const MOST: u32 = 256;

impl State {
    /// Tells whether other processes may write to device memory.
    fn may_be_shared(&self, memory: BufferId) -> bool {
        let Some(found) = self.registry.get(memory) else { return false };
        match found.kind {
            MemoryKind::Imported => true,
            MemoryKind::Pool => {
                let pool = self.pools.of.get(&memory).and_then(|&pool| self.pools.table.get(pool));
                pool.is_some_and(|pool| pool.is_exported || pool.imported.is_some())
            }
            MemoryKind::Virtual => {
                let mapping = self.mapping_at(found.base);
                let physical = mapping.and_then(|mapping| self.physical_memory(mapping.physical));
                physical.is_some_and(|physical| physical.handle_types != 0)
            }
            _ => self.imports.is_exported(memory),
        }
    }
}

/// Finds a word, which must lie at a multiple of its length.
fn word(
    session: &mut Session,
    address: CUdeviceptr,
    word: Word,
    kind: AccessKind,
) -> Result<(Space, Place, BufferId), CUresult> {
    let bytes = word.bytes();
    if !address.0.is_multiple_of(bytes as u64) {
        return Err(INVALID_VALUE);
    }
    let call = session.call();
    let operand = Operand::linear("addr", address.0, bytes, true);
    let (space, place) = session.resolve(call, operand, row(bytes))?;
    let memory = place.memory.ok_or(INVALID_VALUE)?;
    session.check_access(&[Touch { memory, kind, area: place.area, operand: "addr" }])?;
    Ok((space, place, memory))
}

/// Makes the work of a wait.
fn wait(
    session: &mut Session,
    address: CUdeviceptr,
    value: Word,
    flags: c_uint,
) -> Result<Work, CUresult> {
    use CUstreamWaitValue_flags as F;
    let flush = F::CU_STREAM_WAIT_VALUE_FLUSH.0;
    let condition = match F(flags & !flush) {
        F::CU_STREAM_WAIT_VALUE_GEQ => Condition::AtLeast,
        F::CU_STREAM_WAIT_VALUE_EQ => Condition::Equal,
        F::CU_STREAM_WAIT_VALUE_AND => Condition::And,
        F::CU_STREAM_WAIT_VALUE_NOR => Condition::Nor,
        _ => return Err(INVALID_VALUE),
    };
    // The device says that it cannot.
    if flags & flush != 0 {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let (space, place, memory) = word(session, address, value, AccessKind::Read)?;
    let is_shared = session.may_be_shared(memory);
    let changes =
        if space == Space::Device && !is_shared { Changes::LaterWork } else { Changes::Others };
    Ok(Work::WaitValue(ValueWait {
        place,
        memory,
        word: value,
        condition,
        changes,
        is_lost: false,
    }))
}

/// Makes the work of a write.
fn write(
    session: &mut Session,
    address: CUdeviceptr,
    value: Word,
    flags: c_uint,
) -> Result<Work, CUresult> {
    if flags & !CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0 != 0 {
        return Err(INVALID_VALUE);
    }
    let (_, to, _) = word(session, address, value, AccessKind::Write)?;
    Ok(Work::Word { to, word: value, change: Change::Write })
}

/// Makes the work of an operation of a batch.
fn work(session: &mut Session, operation: MemoryOperation) -> Result<Work, CUresult> {
    use CUstreamAtomicReductionOpType as R;
    match operation {
        MemoryOperation::Wait { address, value, flags } => wait(session, address, value, flags),
        MemoryOperation::Write { address, value, flags } => write(session, address, value, flags),
        MemoryOperation::Reduce { address, value, operation, flags } => {
            let change = match operation {
                R::CU_STREAM_ATOMIC_REDUCTION_OP_ADD => Change::Add,
                R::CU_STREAM_ATOMIC_REDUCTION_OP_AND => Change::And,
                R::CU_STREAM_ATOMIC_REDUCTION_OP_OR => Change::Or,
                _ => return Err(INVALID_VALUE),
            };
            if flags != 0 {
                return Err(INVALID_VALUE);
            }
            let (_, to, _) = word(session, address, value, AccessKind::Write)?;
            Ok(Work::Word { to, word: value, change })
        }
        MemoryOperation::Barrier { flags } if flags <= 1 => Ok(Work::Nothing),
        MemoryOperation::Barrier { .. } => Err(INVALID_VALUE),
        MemoryOperation::Flush => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

/// Reads the operations of a batch, and makes their work. A batch of none is none (measured).
pub(crate) fn read(
    session: &mut Session,
    count: c_uint,
    operations: &Out<CUstreamBatchMemOpParams>,
    flags: c_uint,
) -> Result<MemoryBatch, CUresult> {
    if count > MOST || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let count = usize::try_from(count).unwrap_or(0);
    let mut batch = MemoryBatch::default();
    for index in 0..count {
        let given = operations.read_at(index)?;
        let operation = memory_operation(&given)?;
        batch.works.push(work(session, operation)?);
        batch.operations.push(operation);
        batch.given.push(Plain(given));
    }
    Ok(batch)
}

/// Queues operations in their order, all of them or none; a capture makes one node of them (manual).
fn submit(
    mut session: Session,
    stream: CUstream,
    make: impl FnOnce(&mut Session) -> Result<MemoryBatch, CUresult>,
) -> Answer {
    let lane = session.lane_for_work(stream)?;
    let capture = session.capturing(lane)?;
    let batch = make(&mut session)?;
    match capture {
        Some(_) if batch.works.is_empty() => {}
        Some(capture) => {
            let context = session.context()?.handle;
            let batch = MemoryBatch { context, ..batch };
            session.capture(capture, lane, Operation::Memory(Arc::new(batch)))?;
        }
        None => {
            for work in batch.works {
                session.submit(lane, &[], work)?;
            }
        }
    }
    Ok(())
}

/// Queues one operation.
fn submit_one(session: Session, stream: CUstream, operation: MemoryOperation) -> Answer {
    submit(session, stream, |session| {
        Ok(MemoryBatch {
            context: 0,
            given: vec![Plain(memory_parameters(operation))],
            operations: vec![operation],
            works: vec![work(session, operation)?],
        })
    })
}

macro_rules! memory_operations {
    ($($word:ident $ty:ty: $wait:ident / $wait_twin:ident, $write:ident / $write_twin:ident;)*) => {
        simulate! {$(
            /// Lets the later work of a stream wait for a word of memory to compare as the flags say.
            fn $wait(
                stream: val CUstream, address: val CUdeviceptr, value: val $ty, flags: val c_uint,
            ) with $wait_twin |session| {
                let value = Word::$word(value);
                submit_one(session, stream, MemoryOperation::Wait { address, value, flags })
            }

            /// Queues a write of a word of memory.
            fn $write(
                stream: val CUstream, address: val CUdeviceptr, value: val $ty, flags: val c_uint,
            ) with $write_twin |session| {
                let value = Word::$word(value);
                submit_one(session, stream, MemoryOperation::Write { address, value, flags })
            }
        )*}
    };
}

memory_operations! {
    Short u32: cuStreamWaitValue32 / cuStreamWaitValue32_ptsz,
        cuStreamWriteValue32 / cuStreamWriteValue32_ptsz;
    Long u64: cuStreamWaitValue64 / cuStreamWaitValue64_ptsz,
        cuStreamWriteValue64 / cuStreamWriteValue64_ptsz;
    Short u32: cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz,
        cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz;
    Long u64: cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz,
        cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz;
}

simulate! {
    /// Queues waits and writes, in their order.
    fn cuStreamBatchMemOp(
        stream: val CUstream, count: val c_uint, operations: out CUstreamBatchMemOpParams,
        flags: val c_uint,
    ) with cuStreamBatchMemOp_ptsz |session| {
        submit(session, stream, |session| read(session, count, &operations, flags))
    }

    /// Queues waits and writes, in their order.
    fn cuStreamBatchMemOp_v2(
        stream: val CUstream, count: val c_uint, operations: out CUstreamBatchMemOpParams,
        flags: val c_uint,
    ) with cuStreamBatchMemOp_v2_ptsz |session| {
        submit(session, stream, |session| read(session, count, &operations, flags))
    }
}
