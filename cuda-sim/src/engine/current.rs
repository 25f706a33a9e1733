//! The calling thread's stack of contexts.

use std::cell::{Cell, RefCell};

use crate::engine::handle::Handle;

thread_local! {
    static STACK: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    static CAPTURE_MODE: Cell<u32> = const { Cell::new(0) };
}

/// Returns the context that is current.
pub(crate) fn get() -> Option<Handle> {
    STACK.try_with(|stack| stack.borrow().last().copied()).ok().flatten()
}

/// Makes a context current in the place of the one that is, or takes that one away.
pub(crate) fn set(context: Option<Handle>) {
    // The thread's storage is gone only while the thread ends.
    let _ = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        stack.pop();
        stack.extend(context);
    });
}

/// Puts a context on top.
pub(crate) fn push(context: Handle) {
    let _ = STACK.try_with(|stack| stack.borrow_mut().push(context));
}

/// Takes the topmost context away.
pub(crate) fn pop() -> Option<Handle> {
    STACK.try_with(|stack| stack.borrow_mut().pop()).ok().flatten()
}

/// Sets the thread's capture mode, and returns the one before.
pub(crate) fn exchange_capture_mode(mode: u32) -> u32 {
    CAPTURE_MODE.try_with(|cell| cell.replace(mode)).unwrap_or(mode)
}

/// Returns the thread's capture mode.
pub(crate) fn capture_mode() -> u32 {
    CAPTURE_MODE.try_with(Cell::get).unwrap_or(0)
}
