//! Functions that the driver calls: closures, kept until they ran or never will.
//!
//! The driver is given a number, never an address: what was taken back, or was freed because its
//! context ended, is then not found, and nothing happens. A closure runs on a thread of the
//! driver's; its panic is caught, and no call of the driver is made in it.
#![expect(unsafe_code, reason = "is called by the driver")]

use core::ffi::c_void;
use core::ptr;
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use cuda_sys::{CUhostFn, CUresult, CUstream, CUstreamCallback};

use crate::context::{Context, Inner};
use crate::error::{Error, Quantity, Result, Rule};

/// Is a C type of functions that the driver calls with the number of a closure.
pub(crate) trait Trampoline {
    /// Runs the closure.
    const TRAMPOLINE: Self;
}

impl Trampoline for CUhostFn {
    const TRAMPOLINE: Self = Some(run_host);
}

impl Trampoline for CUstreamCallback {
    const TRAMPOLINE: Self = Some(run_stream);
}

unsafe extern "system" fn run_host(data: *mut c_void) {
    run(data.addr());
}

unsafe extern "system" fn run_stream(_stream: CUstream, status: CUresult, data: *mut c_void) {
    if status == CUresult::CUDA_SUCCESS { run(data.addr()) } else { drop(take(data.addr())) }
}

/// Is a closure that the driver will be given.
pub(crate) struct Job(Box<dyn FnOnce() + Send>);

impl Job {
    pub(crate) fn new(closure: impl FnOnce() + Send + 'static) -> Self {
        Self(Box::new(closure))
    }
}

/// Is a closure that the driver was given, by its number.
pub(crate) struct Posted(usize);

struct Entry {
    job: Job,
    context: Option<(u64, Weak<Inner>)>,
}

/// Keeps the closures that have not run.
static WAITING: Mutex<Waiting> = Mutex::new(Waiting { next: 1, jobs: None });

struct Waiting {
    next: usize,
    jobs: Option<HashMap<usize, Entry>>,
}

fn waiting() -> MutexGuard<'static, Waiting> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Posted {
    /// Keeps a closure, until it ran or its context ends.
    pub(crate) fn new(job: Job, context: Option<&Context>) -> Self {
        let context = context.map(|context| (context.id(), context.downgrade()));
        let mut waiting = waiting();
        let number = waiting.next;
        waiting.next += 1;
        waiting.jobs.get_or_insert_default().insert(number, Entry { job, context });
        Self(number)
    }

    /// Returns what the driver calls the function with.
    pub(crate) const fn data(&self) -> *mut c_void {
        ptr::without_provenance_mut(self.0)
    }

    /// Frees the closure if the driver did not take it. Should the answer have been that of earlier
    /// work, and the function be called after all, then nothing happens.
    pub(crate) fn settle(self, code: CUresult) {
        if code != CUresult::CUDA_SUCCESS {
            drop(take(self.0));
        }
    }
}

fn take(number: usize) -> Option<Entry> {
    waiting().jobs.as_mut()?.remove(&number)
}

/// Frees the closures of a context that ended: they never run.
pub(crate) fn forget(context: u64) {
    let is_of = |entry: &Entry| entry.context.as_ref().is_some_and(|(id, _)| *id == context);
    let forgotten: Vec<Entry> = {
        let mut waiting = waiting();
        let Some(jobs) = waiting.jobs.as_mut() else { return };
        jobs.extract_if(|_, entry| is_of(entry)).map(|(_, entry)| entry).collect()
    };
    // Their drops are the users' code, and run without the lock.
    drop(forgotten);
}

/// Counts the closures that wait to be run.
pub fn pending_callbacks() -> usize {
    waiting().jobs.as_ref().map_or(0, HashMap::len)
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Tells whether the thread runs a callback. A thread that ends runs none.
#[inline]
pub(crate) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Refuses a call in a callback: the driver forbids it.
#[inline]
pub(crate) fn outside(call: &'static str) -> Result<()> {
    if is_inside() { Err(refused(call)) } else { Ok(()) }
}

#[cold]
fn refused(call: &'static str) -> Error {
    let (need, have) = (Quantity::Word("a thread of one's own"), Quantity::Word("a callback"));
    Error::refused(call, "thread", Rule::Outside, need, have)
}

fn run(number: usize) {
    let Some(Entry { job, context }) = take(number) else { return };
    let before = INSIDE.try_with(|inside| inside.replace(true));
    let panicked = catch_unwind(AssertUnwindSafe(job.0)).err();
    if let Some(payload) = panicked {
        // A payload may panic again when it is dropped.
        let text = text_of(&payload);
        let _dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        if let Some(inner) = context.and_then(|(_, context)| context.upgrade()) {
            let context = Context::from(inner);
            let _reported =
                catch_unwind(AssertUnwindSafe(|| context.report(Error::panicked(text))));
        }
    }
    if let Ok(before) = before {
        let _restored = INSIDE.try_with(|inside| inside.set(before));
    }
}

fn text_of(payload: &Box<dyn std::any::Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}
