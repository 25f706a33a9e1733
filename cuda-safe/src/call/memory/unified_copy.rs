//! Copies between any two memories, across contexts, and in batches.

use core::ffi::{c_uint, c_ulonglong};

use cuda_codegen::driver;
use cuda_sys::{
    CUDA_MEMCPY3D_BATCH_OP, CUDA_MEMCPY3D_PEER, CUcontext, CUdeviceptr, CUmemDecompressParams,
    CUmemcpyAttributes, CUstream,
};

/// Copies between any two memories, in the order of the default stream.
#[driver(cuMemcpy, order = default)]
pub fn memcpy(
    #[any(write, bytes(count), until = call)] dst: CUdeviceptr,
    #[any(read, bytes(count), until = call)] src: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies between any two memories, in the order of `stream`.
#[driver(cuMemcpyAsync, order = stream)]
pub fn memcpy_async(
    #[any(write, bytes(count), until = stream)] dst: CUdeviceptr,
    #[any(read, bytes(count), until = stream)] src: CUdeviceptr,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies between any two memories, in the order of `stream`, as the attributes say.
#[driver(cuMemcpyWithAttributesAsync, order = stream)]
pub fn memcpy_with_attributes_async(
    #[any(write, bytes(size), until = stream)] dst: CUdeviceptr,
    #[any(read, bytes(size), until = stream)] src: CUdeviceptr,
    #[from(src.len)] size: usize,
    #[record(read)] attributes @ attr: *mut CUmemcpyAttributes,
    #[stream] stream @ hStream: CUstream,
);

/// Copies from the memory of one context to that of another, in the order of the default
/// stream.
#[driver(cuMemcpyPeer, order = default, home = given)]
pub fn memcpy_peer(
    #[device(write, bytes(count), peer)] dst @ dstDevice: CUdeviceptr,
    #[from(dst.home)] dst_owner @ dstContext: CUcontext,
    #[device(read, bytes(count), peer)] src @ srcDevice: CUdeviceptr,
    #[from(src.home)] src_owner @ srcContext: CUcontext,
    #[from(src.len)] count @ ByteCount: usize,
);

/// Copies from the memory of one context to that of another, in the order of `stream`.
#[driver(cuMemcpyPeerAsync, order = stream)]
pub fn memcpy_peer_async(
    #[device(write, bytes(count), peer)] dst @ dstDevice: CUdeviceptr,
    #[from(dst.home)] dst_owner @ dstContext: CUcontext,
    #[device(read, bytes(count), peer)] src @ srcDevice: CUdeviceptr,
    #[from(src.home)] src_owner @ srcContext: CUcontext,
    #[from(src.len)] count @ ByteCount: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies each memory of a list to that of another, in the order of `stream`; among themselves
/// the copies have no order. The attributes from a number of `attribute_starts` on are those of
/// the copies from there on.
#[driver(cuMemcpyBatchAsync_v2, order = stream)]
pub fn memcpy_batch_async(
    #[items(count, device(write, bytes(sizes)))] dsts: *mut CUdeviceptr,
    #[items(count, device(read, bytes(sizes)))] srcs: *mut CUdeviceptr,
    #[items(count, from(srcs.len))] sizes: *mut usize,
    #[from(dsts.count)] count: usize,
    #[items(num_attributes, value)] attributes @ attrs: *mut CUmemcpyAttributes,
    #[items(num_attributes, value)] attribute_starts @ attrsIdxs: *mut usize,
    #[from(attributes.count)] num_attributes @ numAttrs: usize,
    #[stream] stream @ hStream: CUstream,
);

/// Copies boxes, in the order of `stream`; among themselves the copies have no order.
///
/// # Safety
///
/// Each operation names memory or arrays that its box lies in, of which nothing else uses what
/// it writes, until the stream has passed.
#[driver(cuMemcpy3DBatchAsync_v2, order = stream)]
pub unsafe fn memcpy_3d_batch_async(
    #[value] count @ numOps: usize,
    #[raw] operations @ opList: *mut CUDA_MEMCPY3D_BATCH_OP,
    #[value] flags: c_ulonglong,
    #[stream] stream @ hStream: CUstream,
);

/// Copies a box, in the order of `stream`, as the attributes say.
///
/// # Safety
///
/// The operation names memory or arrays that its box lies in, of which nothing else uses what
/// it writes, until the stream has passed.
#[driver(cuMemcpy3DWithAttributesAsync, order = stream)]
pub unsafe fn memcpy_3d_with_attributes_async(
    #[raw] operation @ op: *mut CUDA_MEMCPY3D_BATCH_OP,
    #[value] flags: c_ulonglong,
    #[stream] stream @ hStream: CUstream,
);

/// Copies a box from one context to another, in the order of the default stream.
///
/// # Safety
///
/// The descriptor names memory or arrays that its box lies in, in the contexts that it says,
/// and nothing else uses what it writes.
#[driver(cuMemcpy3DPeer, home = given)]
pub unsafe fn memcpy_3d_peer(#[raw] copy @ pCopy: *const CUDA_MEMCPY3D_PEER);

/// Copies a box from one context to another, in the order of `stream`.
///
/// # Safety
///
/// The descriptor names memory or arrays that its box lies in, in the contexts that it says,
/// and nothing else uses what it writes, until the stream has passed.
#[driver(cuMemcpy3DPeerAsync, order = stream)]
pub unsafe fn memcpy_3d_peer_async(
    #[raw] copy @ pCopy: *const CUDA_MEMCPY3D_PEER,
    #[stream] stream @ hStream: CUstream,
);

/// Decompresses a list of blocks, in the order of `stream`.
///
/// # Safety
///
/// Each operation names memory of the sizes that it says, and nothing else uses what it writes,
/// until the stream has passed; the index points to memory until then.
#[driver(cuMemBatchDecompressAsync, order = stream)]
pub unsafe fn mem_batch_decompress_async(
    #[raw] operations @ paramsArray: *mut CUmemDecompressParams,
    #[value] count: usize,
    #[value] flags: c_uint,
    #[raw] error_index @ errorIndex: *mut usize,
    #[stream] stream: CUstream,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &MEMCPY,
    &MEMCPY_ASYNC,
    &MEMCPY_WITH_ATTRIBUTES_ASYNC,
    &MEMCPY_PEER,
    &MEMCPY_PEER_ASYNC,
    &MEMCPY_BATCH_ASYNC,
    &MEMCPY_3D_BATCH_ASYNC,
    &MEMCPY_3D_WITH_ATTRIBUTES_ASYNC,
    &MEMCPY_3D_PEER,
    &MEMCPY_3D_PEER_ASYNC,
    &MEM_BATCH_DECOMPRESS_ASYNC,
];
