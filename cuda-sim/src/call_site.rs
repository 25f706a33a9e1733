//! Where in the program a call was made, kept if the configuration asks for it.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use crate::table::Function;

thread_local! {
    static FUNCTION: Cell<Option<Function>> = const { Cell::new(None) };
    static CURRENT: RefCell<Option<CallSite>> = const { RefCell::new(None) };
}

/// Is where in the program a driver call was made.
///
/// Two of them are equal whatever they hold: findings that differ in nothing else stand once.
#[derive(Clone)]
pub struct CallSite {
    trace: Arc<Backtrace>,
}

impl CallSite {
    /// Returns the functions that led to the call, the innermost first, each with its line if the
    /// program was built with such information.
    pub fn frames(&self) -> Vec<String> {
        let text = self.trace.to_string();
        let mut frames: Vec<String> = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(place) = line.strip_prefix("at ") {
                if let Some(frame) = frames.last_mut() {
                    *frame = format!("{frame} ({place})");
                }
            } else if let Some((_, function)) = line.split_once(": ") {
                frames.push(function.to_owned());
            }
        }
        frames
            .into_iter()
            .skip_while(|frame| is_ours(frame))
            .take_while(|frame| !is_start(frame))
            .collect()
    }
}

/// Tells whether a frame lies in the simulator or the binding, and not in the program.
fn is_ours(frame: &str) -> bool {
    let frame = frame.trim_start_matches('<');
    let function = frame.split_once(' ').map_or(frame, |(function, _)| function);
    let is_c_function = cuda_sys::SYMBOLS.iter().any(|symbol| symbol.name.to_str() == Ok(function));
    is_c_function
        || ["std::", "core::", "cuda_sys::", "cuda_sim::", "cuda_sim_library::"]
            .iter()
            .any(|name| frame.starts_with(name))
}

/// Tells whether a frame is the runtime's below the program.
fn is_start(frame: &str) -> bool {
    frame.contains("__rust_begin_short_backtrace")
}

impl PartialEq for CallSite {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CallSite {}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for frame in self.frames() {
            write!(f, "\n    in {frame}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Notes which call begins, and where it was made if that is kept.
pub(crate) fn enter(function: Function, keep: bool) {
    // The thread's storage is gone only while the thread ends.
    let _ = FUNCTION.try_with(|current| current.set(Some(function)));
    if keep {
        let site = CallSite { trace: Arc::new(Backtrace::force_capture()) };
        let _ = CURRENT.try_with(|current| current.replace(Some(site)));
    }
}

/// Returns the name of the function that is being answered.
pub(crate) fn function() -> &'static str {
    FUNCTION.try_with(Cell::get).ok().flatten().map_or("a driver call", Function::name)
}

/// Tells whether the function that is being answered frees or destroys.
pub(crate) fn ends_something() -> bool {
    FUNCTION.try_with(Cell::get).ok().flatten().is_some_and(Function::ends_something)
}

/// Returns where the call that is being answered was made, if that is kept.
pub(crate) fn current() -> Option<CallSite> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}
