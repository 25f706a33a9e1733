//! Puts the simulated driver into `cuda-sys`'s table, once a process.
//!
//! Unsafe, because a table of functions promises their types: `table` checks each against the
//! signature that `cuda-sys` has for its name.

#![expect(unsafe_code, reason = "a symbol source promises the types of its functions")]

use std::any::Any;
use std::error::Error;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::io;
use std::ptr::NonNull;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cuda_sys::{AlreadyLoaded, CUresult, SymbolSource, Version};

use crate::config::Config;
use crate::engine::address_space::AddressSpace;
use crate::engine::current;
use crate::engine::state::State;
use crate::kernel;
use crate::report::{Finding, FindingKind, Side};
use crate::table::{self, Function};

static SIM: OnceLock<Sim> = OnceLock::new();

/// Is the simulated driver of this process.
#[derive(Debug)]
pub(crate) struct Sim {
    state: Mutex<State>,
    changed: Condvar,
    logs: bool,
    keeps_call_sites: bool,
    patience: Duration,
}

impl Sim {
    pub(crate) fn get() -> Option<&'static Self> {
        SIM.get()
    }

    /// Takes the one lock. A panic under it was reported; what it guards is used on.
    ///
    /// # Panics
    ///
    /// In a kernel's body, which runs while the lock is taken; the panic is reported as the body's.
    #[expect(clippy::panic, reason = "the body would wait for itself for ever")]
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        if kernel::is_inside() {
            panic!("a kernel's body asked the simulator something, which it must not");
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a host function is done.
    pub(crate) fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_all();
    }

    pub(crate) const fn logs(&self) -> bool {
        self.logs
    }

    pub(crate) const fn keeps_call_sites(&self) -> bool {
        self.keeps_call_sites
    }

    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Reports a panic, after which every call of the current context fails.
    pub(crate) fn panicked(&self, function: Function, payload: &(dyn Any + Send)) -> CUresult {
        let text = kernel::panic_text(payload);
        let mut state = self.lock();
        if let Some(context) = current::get() {
            state.poison_context(context, CUresult::CUDA_ERROR_LAUNCH_FAILED);
        }
        state.findings.add(Finding {
            kind: FindingKind::Panic,
            earlier: None,
            later: Side::new(function.name(), ""),
            subject: text,
        });
        CUresult::CUDA_ERROR_LAUNCH_FAILED
    }
}

/// Is why the simulator could not be installed.
#[derive(Debug)]
#[non_exhaustive]
pub enum InstallError {
    /// It is installed already.
    Installed,
    /// The process has a driver already: real and simulated never swap.
    Loaded(AlreadyLoaded),
    /// The system refuses what the simulated device memory needs.
    Memory(io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed => f.write_str("the simulator is installed already"),
            Self::Loaded(loaded) => write!(f, "the simulator was not installed: {loaded}"),
            Self::Memory(error) => write!(f, "no addresses for simulated device memory: {error}"),
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Installed => None,
            Self::Loaded(error) => Some(error),
            Self::Memory(error) => Some(error),
        }
    }
}

/// Makes the simulator this process's CUDA driver. From here on `cuda_sys::cuX` calls it.
///
/// It honours `CUDA_VISIBLE_DEVICES` as the driver does. It is never taken out again; a test that
/// needs a configuration of its own runs in its own process, see [`isolated!`](crate::isolated!).
///
/// # Errors
///
/// [`InstallError`] if the process has a driver already, or the system refuses the addresses.
///
/// ```
/// use cuda_sim::{Config, InstallError};
///
/// cuda_sim::install(Config::new())?;
/// assert!(matches!(cuda_sim::install(Config::new()), Err(InstallError::Installed)));
/// # Ok::<(), InstallError>(())
/// ```
pub fn install(config: Config) -> Result<(), InstallError> {
    if SIM.get().is_some() {
        return Err(InstallError::Installed);
    }
    if let Some(opened) = cuda_sys::LIBRARY.opened() {
        let by = opened.origin().to_string();
        return Err(InstallError::Loaded(AlreadyLoaded { by }));
    }
    let space = AddressSpace::new(config.reservation).map_err(InstallError::Memory)?;
    let devices = crate::driver::device::visible(config.devices);
    let version = config.version;
    let (logs, patience) = (config.log, config.host_function_patience);
    let keeps_call_sites = config.call_sites;
    let state = Mutex::new(State::new(config, devices, space));
    let sim = Sim { state, changed: Condvar::new(), logs, keeps_call_sites, patience };
    SIM.set(sim).map_err(|_| InstallError::Installed)?;
    crate::fork::watch();
    let source = Box::new(Source { version });
    cuda_sys::LIBRARY.install(source).map_err(InstallError::Loaded)?;
    // Installing asks for the version; the program's own calls are counted from here.
    if let Some(sim) = SIM.get() {
        let mut state = sim.lock();
        state.faults.restart();
        state.log.clear();
    }
    Ok(())
}

struct Source {
    version: Version,
}

// SAFETY: `table` makes each pointer of a function whose type it checks against the signature of
// that name; functions of a process live as long as it does.
unsafe impl SymbolSource for Source {
    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        table::symbol(name.to_str().ok()?, self.version)
    }

    fn describe(&self) -> String {
        format!("cuda-sim {} of CUDA {}", env!("CARGO_PKG_VERSION"), self.version)
    }
}
