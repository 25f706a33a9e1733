//! Access from one context to the memory of another.
//!
//! Chapter: Peer Context Memory Access, whole.

use core::ffi::{c_int, c_uint};

use cuda_codegen::driver;
use cuda_sys::{CUatomicOperation, CUcontext, CUdevice, CUdevice_P2PAttribute};

/// Lets the context reach the memory of another.
#[driver(cuCtxEnablePeerAccess, home = given)]
pub fn ctx_enable_peer_access(
    #[handle] peer @ peerContext: CUcontext,
    #[value] flags @ Flags: c_uint,
);

/// Ends the context's access to the memory of another.
///
/// # Safety
///
/// No work in `context` uses memory of the other any more.
#[driver(cuCtxDisablePeerAccess, home = given)]
pub unsafe fn ctx_disable_peer_access(#[raw] peer @ peerContext: CUcontext);

/// Asks whether a device may reach the memory of another.
#[driver(cuDeviceCanAccessPeer, home = none)]
pub fn device_can_access_peer(
    #[out] can_access_peer @ canAccessPeer: *mut c_int,
    #[handle] device @ dev: CUdevice,
    #[handle] peer @ peerDev: CUdevice,
);

/// Asks for an attribute of the way from one device to another.
#[driver(cuDeviceGetP2PAttribute, home = none)]
pub fn device_get_p2p_attribute(
    #[out] value: *mut c_int,
    #[value] attribute @ attrib: CUdevice_P2PAttribute,
    #[handle] src @ srcDevice: CUdevice,
    #[handle] dst @ dstDevice: CUdevice,
);

/// Asks which atomic operations one device does on the memory of another; one answer an
/// operation.
#[driver(cuDeviceGetP2PAtomicCapabilities, home = none)]
pub fn device_get_p2p_atomic_capabilities(
    #[items(count, out)] capabilities: *mut c_uint,
    #[items(count, value)] operations: *const CUatomicOperation,
    #[from(operations.count)] count: c_uint,
    #[handle] src @ srcDevice: CUdevice,
    #[handle] dst @ dstDevice: CUdevice,
);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] = &[
    &CTX_ENABLE_PEER_ACCESS,
    &CTX_DISABLE_PEER_ACCESS,
    &DEVICE_CAN_ACCESS_PEER,
    &DEVICE_GET_P2P_ATTRIBUTE,
    &DEVICE_GET_P2P_ATOMIC_CAPABILITIES,
];
