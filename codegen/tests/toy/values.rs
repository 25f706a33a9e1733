//! What passes by value in the toy, and what it writes.

use super::*;

#[diagnostic::on_unimplemented(message = "`{Self}` is not a plain value")]
pub trait Plain {}
impl Plain for u32 {}
impl Plain for usize {}
impl Plain for Shape {}
pub fn plain<T: Plain>(value: &T) {}
pub fn plain_items<T: Plain>(values: &[T]) {}
pub fn plain_record<T: Plain>(call: &Contract, name: &str, value: &T) -> Result<()> {
    step("plain");
    Ok(())
}
pub fn any_bytes<T: Output>(value: &T) {}

pub trait Output: Copy {}
impl Output for RawStream {}
impl Output for u32 {}
impl Output for Shape {}
impl Output for Unit {}
pub fn zeroed<T: Output>() -> T {
    // SAFETY: the toy's outputs may be zero.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
pub fn text(buffer: &[c_char]) -> Text {
    String::new()
}

/// Reads kept text.
///
/// # Safety
///
/// The toy keeps none.
pub unsafe fn text_at(address: *const c_char) -> Text {
    String::new()
}

pub trait Attribute {
    const CODE: u32;
    type Value: Output;
}
pub struct Number;
impl Attribute for Number {
    const CODE: u32 = 5;
    type Value = u32;
}
pub const KIND: u32 = 7;
