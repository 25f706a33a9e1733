//! The driver's calls, checked: one function a C function, with the operands' types and facts on
//! its signature.
//!
//! Nothing here but `#[driver]` items and what the language of `cuda-codegen` cannot say. Each call
//! is one driver call (beside entering a context and inserted waits), refuses what the driver
//! would read or write out of bounds, and answers as the driver does. A file is a chapter of the
//! driver's manual, and says so; beside each function stands its [`Contract`](crate::shim::Contract), in
//! capitals. Calls that have no function here are listed in `call/unannotated.txt`, with the reason.
//!
//! *A call in `cuda-sys` is valid if the call of the same name here, with the same operands, would
//! not refuse; all other use may be undefined behaviour.*

mod context;
mod device;
mod event;
mod execution;
mod initialization;
mod memory;
mod primary_context;
mod stream;
mod unified;
mod version;

pub use context::*;
pub use device::*;
pub use event::*;
pub use execution::*;
pub use initialization::*;
pub use memory::*;
pub use primary_context::*;
pub use stream::*;
pub use unified::*;
pub use version::*;

/// Every annotated call's contract.
pub const CONTRACTS: &[&crate::shim::Contract] = &[
    &INIT,
    &DRIVER_GET_VERSION,
    &DEVICE_GET,
    &DEVICE_GET_COUNT,
    &DEVICE_GET_NAME,
    &DEVICE_GET_UUID,
    &DEVICE_TOTAL_MEM,
    &DEVICE_GET_ATTRIBUTE,
    &DEVICE_PRIMARY_CTX_RETAIN,
    &DEVICE_PRIMARY_CTX_RELEASE,
    &CTX_GET_CURRENT,
    &CTX_SET_CURRENT,
    &CTX_GET_ID,
    &CTX_SYNCHRONIZE,
    &STREAM_CREATE,
    &STREAM_DESTROY,
    &STREAM_QUERY,
    &STREAM_SYNCHRONIZE,
    &STREAM_WAIT_EVENT,
    &EVENT_CREATE,
    &EVENT_DESTROY,
    &EVENT_QUERY,
    &EVENT_RECORD,
    &EVENT_SYNCHRONIZE,
    &MEM_ALLOC,
    &MEM_ALLOC_PITCH,
    &MEM_FREE,
    &MEM_HOST_ALLOC,
    &MEM_FREE_HOST,
    &MEM_GET_INFO,
    &MEM_GET_ADDRESS_RANGE,
    &MEMSET_D8,
    &MEMSET_D8_ASYNC,
    &MEMSET_D32,
    &MEMSET_D32_ASYNC,
    &MEMSET_D2D8,
    &MEMSET_D2D8_ASYNC,
    &MEMSET_D2D32,
    &MEMSET_D2D32_ASYNC,
    &MEMCPY_HTOD,
    &MEMCPY_HTOD_ASYNC,
    &MEMCPY_DTOH,
    &MEMCPY_DTOH_ASYNC,
    &MEMCPY_DTOD,
    &MEMCPY_DTOD_ASYNC,
    &MEMCPY_2D,
    &MEMCPY_2D_ASYNC,
    &POINTER_GET_ATTRIBUTE,
    &IPC_GET_MEM_HANDLE,
    &IPC_OPEN_MEM_HANDLE,
    &IPC_CLOSE_MEM_HANDLE,
];
