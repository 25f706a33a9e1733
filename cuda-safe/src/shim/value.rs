//! What passes by value, and what the driver writes and the caller gets.
#![expect(unsafe_code, reason = "declares which types may be made of whatever the driver wrote")]

use core::ffi::{c_char, c_void};

use cuda_sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUipcMem_flags, CUipcMemHandle,
    CUpointer_attribute, CUstream, CUuuid,
};

/// Is a number, an enum or a record of bytes: what may be a `value`. No address is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a plain value",
    note = "an address is an operand: say `device`, `host`, `any` or `raw`"
)]
pub trait Plain {}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => { $(impl Plain for $ty {})* };
}

plain!(
    u8,
    u16,
    u32,
    u64,
    i32,
    i64,
    usize,
    f32,
    CUdevice_attribute,
    CUpointer_attribute,
    CUipcMemHandle,
    CUipcMem_flags,
);

/// Lets only plain values pass. Costs nothing.
pub(crate) const fn plain<T: Plain>(_value: &T) {}

/// Is what the driver writes: any bytes are a value of it.
///
/// # Safety
///
/// Every bit pattern is a value, zero among them.
pub unsafe trait Output: Copy {}

macro_rules! output {
    ($($ty:ty),* $(,)?) => { $(
        // SAFETY: a number, a raw pointer, or a record of those.
        unsafe impl Output for $ty {}
    )* };
}

output!(
    u8,
    u16,
    u32,
    u64,
    i32,
    i64,
    usize,
    f32,
    CUdevice,
    CUdeviceptr,
    CUuuid,
    CUipcMemHandle,
    CUcontext,
    CUstream,
    CUevent,
    *mut c_void,
);

/// Returns the value whose bytes are zero.
pub(crate) const fn zeroed<T: Output>() -> T {
    // SAFETY: zero bytes are a value.
    unsafe { core::mem::MaybeUninit::zeroed().assume_init() }
}

/// Is text that the driver wrote.
pub type Text = String;

/// Reads text up to its first zero byte; what is not UTF-8 is replaced.
pub(crate) fn text(buffer: &[c_char]) -> Text {
    let bytes: Vec<u8> =
        buffer.iter().map(|byte| byte.to_ne_bytes()[0]).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
