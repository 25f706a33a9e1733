//! The bodies of kernels, by name.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use cuda_sys::CUresult;

use super::{Access, Arguments, KernelError, Launch};

type Run = dyn Fn(&mut Launch<'_>) -> Result<(), KernelError> + Send + Sync;
type Declare = dyn Fn(&Arguments) -> Result<Vec<Access>, KernelError> + Send + Sync;

/// Is what a kernel does.
///
/// ```
/// use cuda_sim::kernel::Body;
///
/// // Doubles `n` numbers in place.
/// Body::new(|launch| {
///     let (values, count) = (launch.pointer(0)?, launch.parameter::<u64>(1)?);
///     for index in 0..count {
///         let value = launch.read::<f32>(values, index)?;
///         launch.write(values, index, 2.0 * value)?;
///     }
///     Ok(())
/// })
/// .accesses(|arguments| Ok(vec![arguments.writes(0, 4 * arguments.parameter::<u64>(1)?)?]))
/// .register("twice");
/// ```
#[derive(Clone)]
#[must_use = "a body does nothing until it is registered"]
pub struct Body {
    run: Arc<Run>,
    declare: Option<Arc<Declare>>,
}

impl Body {
    /// Makes the body of a kernel that is called once a launch.
    pub fn new<F>(run: F) -> Self
    where
        F: Fn(&mut Launch<'_>) -> Result<(), KernelError> + Send + Sync + 'static,
    {
        Self { run: Arc::new(run), declare: None }
    }

    /// Sets what tells, when the kernel is launched, what it will touch. Whatever it touches beside
    /// that is reported. The function must not call the driver.
    pub fn accesses<F>(mut self, declare: F) -> Self
    where
        F: Fn(&Arguments) -> Result<Vec<Access>, KernelError> + Send + Sync + 'static,
    {
        self.declare = Some(Arc::new(declare));
        self
    }

    /// Makes it the body of all kernels of a name, in the place of what was registered before.
    /// Launches that are queued keep theirs.
    pub fn register(self, name: &str) {
        let bodies = &mut BODIES.write().unwrap_or_else(PoisonError::into_inner);
        bodies.get_or_insert_default().insert(name.to_owned(), self);
    }

    /// Makes a body that touches nothing, and ends with an answer.
    pub(crate) fn ending_with(answer: CUresult) -> Self {
        Self::new(move |_| match answer {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => {
                let text = format!("its configuration lets it end with {}", code.0);
                Err(KernelError::of_access(code, text))
            }
        })
    }

    /// Tells whether it declares what it touches.
    pub(crate) const fn declares(&self) -> bool {
        self.declare.is_some()
    }

    /// Returns what a launch will touch; nothing if the body doesn't declare it.
    pub(crate) fn declared(&self, arguments: &Arguments) -> Result<Vec<Access>, String> {
        let Some(declare) = &self.declare else { return Ok(Vec::new()) };
        inside(|| declare(arguments)).and_then(|outcome| outcome.map_err(|error| error.to_string()))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("declares", &self.declares()).finish_non_exhaustive()
    }
}

/// Registers what the kernels of a name do, called once a launch; see [the module](crate::kernel).
///
/// It takes the place of what was registered before.
pub fn register<F>(name: &str, run: F)
where
    F: Fn(&mut Launch<'_>) -> Result<(), KernelError> + Send + Sync + 'static,
{
    Body::new(run).register(name);
}

static BODIES: RwLock<Option<HashMap<String, Body>>> = RwLock::new(None);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the body of a name.
pub(crate) fn registered(name: &str) -> Option<Body> {
    let bodies = BODIES.read().unwrap_or_else(PoisonError::into_inner);
    bodies.as_ref().and_then(|bodies| bodies.get(name)).cloned()
}

/// Tells whether the calling thread runs a body, or another function of the program's inside of the
/// driver.
pub(crate) fn is_inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(false)
}

/// Calls a function of the program's, from which the driver can't be called; a panic's text.
pub(crate) fn inside<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // The thread's storage is gone only while the thread ends.
    let _ = INSIDE.try_with(|inside| inside.set(true));
    let outcome = catch_unwind(AssertUnwindSafe(call));
    let _ = INSIDE.try_with(|inside| inside.set(false));
    outcome.map_err(|payload| panic_text(payload.as_ref()))
}

/// Runs a body; a panic's text if it panicked.
pub(crate) fn run(body: &Body, launch: &mut Launch<'_>) -> Result<Result<(), KernelError>, String> {
    inside(|| (body.run)(launch))
}

/// Returns what a panic said.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a text").to_owned()
}
