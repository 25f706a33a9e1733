//! Interprocess communication (a part of context-independent memory management in the manual).

use core::ffi::c_uint;

use cuda_codegen::driver;
use cuda_sys::{CUdeviceptr, CUipcMemHandle};

use crate::shim::Kind;

/// Names an allocation so that another process can open it.
///
/// Only a whole allocation has a name: the driver takes an interior pointer for its base, and the
/// offset would be lost.
#[driver(cuIpcGetMemHandle)]
pub fn ipc_get_mem_handle(
    #[out] handle @ pHandle: *mut CUipcMemHandle,
    #[device(share, base, kind(Kind::Alloc))] memory @ dptr: CUdeviceptr,
);

/// Opens an allocation of another process; whoever opens it closes it.
#[driver(cuIpcOpenMemHandle_v2, home = given)]
pub fn ipc_open_mem_handle(
    #[out] memory @ pdptr: *mut CUdeviceptr,
    #[value] handle: CUipcMemHandle,
    #[value] flags @ Flags: c_uint,
);

/// Closes an allocation of another process, behind every kernel of the context.
///
/// # Safety
///
/// The address came from [`ipc_open_mem_handle`] in `context`, and nothing uses it any
/// more.
#[driver(cuIpcCloseMemHandle, home = given)]
pub unsafe fn ipc_close_mem_handle(#[raw] memory @ dptr: CUdeviceptr);

/// Lists the contracts of this page.
pub(in crate::call) const PAGE: &[&crate::shim::Contract] =
    &[&IPC_GET_MEM_HANDLE, &IPC_OPEN_MEM_HANDLE, &IPC_CLOSE_MEM_HANDLE];
