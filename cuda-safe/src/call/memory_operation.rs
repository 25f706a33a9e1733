//! Waiting for and writing of single values, by streams.
//!
//! Chapter: Stream Memory Operations, whole.

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUstream, CUstreamBatchMemOpParams, cuuint32_t, cuuint64_t};

/// Makes what comes on `stream` wait for a 32-bit value in memory.
#[driver(cuStreamWaitValue32_v2, order = stream, fence)]
pub fn stream_wait_value32(
    #[stream] stream: CUstream,
    #[device(read, bytes(4), align(4))] memory @ addr: CUdeviceptr,
    #[value] value: cuuint32_t,
    #[value] flags: c_uint,
);

/// Makes what comes on `stream` wait for a 64-bit value in memory.
#[driver(cuStreamWaitValue64_v2, order = stream, fence)]
pub fn stream_wait_value64(
    #[stream] stream: CUstream,
    #[device(read, bytes(8), align(8))] memory @ addr: CUdeviceptr,
    #[value] value: cuuint64_t,
    #[value] flags: c_uint,
);

/// Writes a 32-bit value to memory, in the order of `stream`. Streams that wait for values and
/// write them are not ordered by the memory: to the use records this is a read, or none could
/// ever write what another waits for.
#[driver(cuStreamWriteValue32_v2, order = stream)]
pub fn stream_write_value32(
    #[stream] stream: CUstream,
    #[device(read, bytes(4), align(4))] memory @ addr: CUdeviceptr,
    #[value] value: cuuint32_t,
    #[value] flags: c_uint,
);

/// Writes a 64-bit value to memory, in the order of `stream`. Streams that wait for values and
/// write them are not ordered by the memory: to the use records this is a read, or none could
/// ever write what another waits for.
#[driver(cuStreamWriteValue64_v2, order = stream)]
pub fn stream_write_value64(
    #[stream] stream: CUstream,
    #[device(read, bytes(8), align(8))] memory @ addr: CUdeviceptr,
    #[value] value: cuuint64_t,
    #[value] flags: c_uint,
);

/// Does several of these, in the order of `stream`.
///
/// # Safety
///
/// Each operation names memory of the context that is alive until the stream has passed.
#[driver(cuStreamBatchMemOp_v2, order = stream, fence)]
pub unsafe fn stream_batch_mem_op(
    #[stream] stream: CUstream,
    #[value] count: c_uint,
    #[raw] operations @ paramArray: *mut CUstreamBatchMemOpParams,
    #[value] flags: c_uint,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &STREAM_WAIT_VALUE32,
    &STREAM_WAIT_VALUE64,
    &STREAM_WRITE_VALUE32,
    &STREAM_WRITE_VALUE64,
    &STREAM_BATCH_MEM_OP,
];
