//! What happens around every simulated call: counting, faults, the lock, the log, panics; and the
//! macro that makes C functions of safe bodies.
//!
//! Unsafe, because the pointers that a C function is given are what its caller says they are. They
//! are read and written through `In` and `Out` only.

#![expect(unsafe_code, reason = "the parameters of C functions are raw pointers")]

mod function;
mod wait;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::MutexGuard;

use cuda_sys::{CUresult, CUstream};

pub(crate) use function::{DefaultStream, argument, c_function, parameter, simulate};

use crate::call_site;
use crate::driver::host_function;
use crate::engine::capture::class;
use crate::engine::clock::LaneId;
use crate::engine::current;
use crate::engine::graph::Operation;
use crate::engine::handle::RawHandle;
use crate::engine::state::State;
use crate::engine::work::{ItemId, Touch, Work};
use crate::fork;
use crate::install::Sim;
use crate::kernel;
use crate::log::{self, Call};
use crate::table::Function;

/// Is how a call ends.
pub(crate) type Answer = Result<(), CUresult>;

/// The code of a wrong argument.
pub(crate) const INVALID_VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Is a parameter that the call writes through.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    ///
    /// `pointer` is null or may be written through until the call returns.
    pub(crate) const unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Makes the place of what isn't asked for.
    pub(crate) const fn nowhere() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Returns the parameter for reading: some are only declared to be written.
    pub(crate) const fn as_in(&self) -> In<T> {
        In(self.0.cast_const())
    }

    /// Makes the place of a value whose type its attribute decides.
    pub(crate) fn of_attribute(pointer: *mut std::ffi::c_void) -> Self {
        // SAFETY: the caller of the C function promises that the attribute's type may be written.
        unsafe { Self::new(pointer.cast()) }
    }

    pub(crate) const fn pointer(&self) -> *mut T {
        self.0
    }

    pub(crate) const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Refuses null.
    pub(crate) const fn required(&self) -> Answer {
        if self.is_null() { Err(INVALID_VALUE) } else { Ok(()) }
    }

    /// Writes, unless it is null.
    pub(crate) fn write(&self, value: T) {
        if !self.is_null() {
            // SAFETY: the pointer may be written through, as `new` says.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Writes the `index`-th of several.
    pub(crate) fn write_at(&self, index: usize, value: T) {
        if !self.is_null() {
            let at = self.0.wrapping_add(index);
            // SAFETY: the C function's contract is that so many may be written.
            unsafe { at.write_unaligned(value) };
        }
    }
}

impl<T: Copy> Out<T> {
    /// Reads what stands there: some parameters are both.
    pub(crate) fn read(&self) -> Result<T, CUresult> {
        self.required()?;
        // SAFETY: the C function's contract is that a value stands there.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads the `index`-th of several.
    pub(crate) fn read_at(&self, index: usize) -> Result<T, CUresult> {
        self.required()?;
        let at = self.0.wrapping_add(index);
        // SAFETY: the C function's contract is that so many values stand there.
        Ok(unsafe { at.read_unaligned() })
    }
}

impl<T> fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

/// Is a parameter that the call reads through.
pub(crate) struct In<T>(*const T);

impl In<std::ffi::c_void> {
    /// Makes the place of a value whose type its attribute decides.
    pub(crate) fn cast<T: Copy>(&self) -> In<T> {
        In(self.0.cast())
    }
}

impl<T> In<T> {
    /// # Safety
    ///
    /// `pointer` is null or points to a value until the call returns.
    pub(crate) const unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }
}

impl<T: Copy> In<T> {
    pub(crate) const fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Reads, and refuses null.
    pub(crate) fn read(&self) -> Result<T, CUresult> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the pointer points to a value, as `new` says.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads as many as a call says, and refuses null unless that is none.
    pub(crate) fn read_all(&self, count: usize) -> Result<Vec<T>, CUresult> {
        if count == 0 {
            return Ok(Vec::new());
        }
        (0..count).map(|index| Self(self.0.wrapping_add(index)).read()).collect()
    }
}

impl<T: Copy> In<T> {
    /// Reads the `index`-th of several.
    pub(crate) fn read_at(&self, index: usize) -> Result<T, CUresult> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        let at = self.0.wrapping_add(index);
        // SAFETY: the C function's contract is that so many values stand there.
        Ok(unsafe { at.read_unaligned() })
    }
}

impl In<std::ffi::c_char> {
    /// Reads a text, and refuses null.
    pub(crate) fn text(&self) -> Result<String, CUresult> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the C function's contract is that a text ends in a zero byte.
        let text = unsafe { std::ffi::CStr::from_ptr(self.0) };
        Ok(text.to_string_lossy().into_owned())
    }
}

impl<T> fmt::Debug for In<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

/// Is a parameter that is passed by value and is too long to print.
pub(crate) struct Opaque<T>(pub(crate) T);

impl<T> fmt::Debug for Opaque<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("...")
    }
}

/// Is a call that is being answered; it holds the lock.
pub(crate) struct Session {
    pub(crate) sim: &'static Sim,
    pub(crate) function: Function,
    default_stream: DefaultStream,
    state: MutexGuard<'static, State>,
}

impl Deref for Session {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Session {
    pub(crate) fn call(&self) -> &'static str {
        self.function.name()
    }

    /// Returns the lane of a stream, without asking whose stream it is.
    pub(crate) fn lane(&mut self, stream: CUstream) -> Result<LaneId, CUresult> {
        let stream = self.default_stream.of(stream);
        self.state.lane(stream)
    }

    /// Returns the lane of a stream that the current context queues work on.
    pub(crate) fn lane_for_work(&mut self, stream: CUstream) -> Result<LaneId, CUresult> {
        let (call, stream) = (self.call(), self.default_stream.of(stream));
        let lane = self.state.lane_for_work(stream, call)?;
        self.refuse_implicit(lane)?;
        Ok(lane)
    }

    /// Returns the lane of the work of a call without a stream parameter.
    pub(crate) fn default_lane(&mut self) -> Result<LaneId, CUresult> {
        let lane = self.lane(CUstream::from_number(0))?;
        self.refuse_implicit(lane)?;
        self.refuse_captured(lane)?;
        Ok(lane)
    }

    /// Queues work; on a captured lane it becomes a node instead, and there is no item.
    pub(crate) fn submit(
        &mut self,
        lane: LaneId,
        touches: &[Touch],
        work: Work,
    ) -> Result<ItemId, CUresult> {
        if let Some(capture) = self.capturing(lane)? {
            self.capture(capture, lane, Operation::task(work, touches.to_vec()))?;
            return Ok(0);
        }
        let call = self.call();
        self.enqueue(lane, call, touches, work)
    }
}

/// Answers a call.
pub(crate) fn enter(
    function: Function,
    default_stream: DefaultStream,
    arguments: &[(&str, &dyn fmt::Debug)],
    body: impl FnOnce(Session) -> Answer,
) -> CUresult {
    let Some(sim) = Sim::get() else { return CUresult::CUDA_ERROR_NOT_INITIALIZED };
    // A forked child has no driver any more (manual). The lock may be held in it for ever.
    if fork::is_child() && (function.needs_init() || function == Function::cuInit) {
        return CUresult::CUDA_ERROR_NOT_INITIALIZED;
    }
    // A kernel's body runs while the lock is taken.
    if kernel::is_inside() {
        return CUresult::CUDA_ERROR_NOT_PERMITTED;
    }
    call_site::enter(function, sim.keeps_call_sites());
    let answer = catch_unwind(AssertUnwindSafe(|| answer(sim, function, default_stream, body)))
        .unwrap_or_else(|payload| sim.panicked(function, payload.as_ref()));
    if sim.logs() {
        let arguments = log::arguments(arguments);
        sim.lock().log.push(Call { function: function.name(), arguments, answer });
    }
    answer
}

fn answer(
    sim: &'static Sim,
    function: Function,
    default_stream: DefaultStream,
    body: impl FnOnce(Session) -> Answer,
) -> CUresult {
    let mut state = sim.lock();
    let failure = state.faults.count(function).map(|failure| (failure.code, failure.stays));
    if let Some((code, true)) = failure
        && let Some(context) = current::get()
    {
        state.poison_context(context, code);
    }
    let failure = failure.map(|(code, _)| code);
    if let Some(code) = failure
        && !function.ends_something()
    {
        return code;
    }
    let is_inside = host_function::is_inside();
    if is_inside && function.needs_init() && !function.is_stream_query() {
        return CUresult::CUDA_ERROR_NOT_PERMITTED;
    }
    if !state.initialized && function.needs_init() {
        return CUresult::CUDA_ERROR_NOT_INITIALIZED;
    }
    state.registry.sees_hidden = false;
    if class::is_unsafe(function)
        && let Err(code) = state.refuse_unsafe()
    {
        return code;
    }
    // What frees or destroys does so in a context with an error too, and answers the error. The
    // thread's stack knows of none.
    let answers = function.ends_something() && function != Function::cuCtxPopCurrent_v2;
    let ends_context = function.ends_context();
    let stays = |state: &State, context| {
        if ends_context { state.own_error(context) } else { state.sticky(context) }
    };
    let failure = failure.or_else(|| stays(&state, current::get().filter(|_| answers)?));
    wait::forget();
    match body(Session { sim, function, default_stream, state }) {
        // Measured: a host function learns of a stream that is busy, and nothing else.
        answer
            if is_inside
                && function.needs_init()
                && answer != Err(CUresult::CUDA_ERROR_NOT_READY) =>
        {
            CUresult::CUDA_ERROR_NOT_PERMITTED
        }
        Err(code) => code,
        Ok(()) => {
            // A call that waits answers the error that the work brought about.
            let waited = || current::get().filter(|_| wait::has_waited());
            let struck = || stays(&sim.lock(), waited()?);
            failure.or_else(struck).unwrap_or(CUresult::CUDA_SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CUresult, DefaultStream, enter};
    use crate::config::Config;
    use crate::report::FindingKind;
    use crate::table::Function;

    #[test]
    fn a_panic_is_an_answer_that_stays() {
        crate::isolated!(Config::new()).unchecked().run(|| {
            let init = |session: super::Session| {
                let mut session = session;
                session.initialized = true;
                let handle = session.primary[0];
                session.revive(handle);
                crate::engine::current::push(handle);
                Ok(())
            };
            assert_eq!(
                enter(Function::cuInit, DefaultStream::Legacy, &[], init),
                CUresult::CUDA_SUCCESS
            );
            let failed = CUresult::CUDA_ERROR_LAUNCH_FAILED;
            assert_eq!(
                enter(Function::cuMemAlloc_v2, DefaultStream::Legacy, &[], |_| panic!("boom")),
                failed
            );
            let answer = enter(Function::cuCtxSynchronize, DefaultStream::Legacy, &[], |session| {
                session.context()?;
                Ok(())
            });
            assert_eq!(answer, failed);
            let report = crate::report();
            assert_eq!(report.count(FindingKind::Panic), 1);
            assert!(report.to_string().starts_with("panic: boom: cuMemAlloc_v2"), "{report}");
        });
    }
}
