//! What the simulated machine is, and what goes wrong on it.
//!
//! How a configuration travels to a second process is in `environment`.

mod environment;
mod feature;

use std::time::Duration;

use cuda_sys::{CUresult, Version};

use crate::kernel::Body;

pub use feature::Feature;

pub use environment::{ENVIRONMENT, InvalidConfig};

/// Is the order in which queued work runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Work runs as soon as what it waits for has run, mostly inside the call that enqueues it.
    #[default]
    Eager,
    /// Nothing runs until something waits for it, and then only what is waited for.
    Lazy,
    /// Work runs in a random order that the number decides: the same for a program that calls the
    /// driver from one thread.
    Seeded(u64),
}

/// Is a call that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The function; none means any.
    pub(crate) symbol: Option<String>,
    /// Which call fails, the first being 1.
    pub(crate) nth: u64,
    pub(crate) code: CUresult,
    /// Whether the code stays in the current context.
    pub(crate) stays: bool,
}

/// Is the configuration of the simulated driver.
///
/// ```
/// use cuda_sim::{Config, Scheduler};
/// use cuda_sys::CUresult;
///
/// let config = Config::new()
///     .devices(2)
///     .scheduler(Scheduler::Seeded(7))
///     .fail("cuMemAlloc_v2", 3, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
/// assert_eq!(Config::from_text(&config.to_text()).as_ref(), Ok(&config));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a configuration does nothing until it is installed"]
pub struct Config {
    pub(crate) devices: usize,
    pub(crate) memory: u64,
    /// What was chosen; see [`order`](Self::order).
    pub(crate) scheduler: Option<Scheduler>,
    pub(crate) reservation: u64,
    pub(crate) version: Version,
    /// What `cuInit` answers.
    pub(crate) initialization: CUresult,
    /// What is missing, of one device or of all.
    pub(crate) lacking: Vec<(Option<usize>, Feature)>,
    /// The pairs of devices of which the first does not reach the second's memory.
    pub(crate) unreachable: Vec<(usize, usize)>,
    pub(crate) failures: Vec<Failure>,
    /// The kernels that do nothing, by name, and how they end; `*` is any.
    pub(crate) kernels: Vec<(String, CUresult)>,
    pub(crate) log: bool,
    pub(crate) call_sites: bool,
    pub(crate) reports: bool,
    pub(crate) junk: bool,
    pub(crate) protect_pages: bool,
    /// Beyond how many allocated bytes a device, and the host, are out of memory.
    pub(crate) out_of_memory_at: Option<u64>,
    pub(crate) host_out_of_memory_at: Option<u64>,
    pub(crate) host_function_patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// Makes the configuration of one device with 16 GiB of memory, eager, of CUDA 13.0.
    pub const fn new() -> Self {
        Self {
            devices: 1,
            memory: 16 << 30,
            scheduler: None,
            reservation: 64 << 30,
            version: Version::new(13, 0),
            initialization: CUresult::CUDA_SUCCESS,
            lacking: Vec::new(),
            unreachable: Vec::new(),
            failures: Vec::new(),
            kernels: Vec::new(),
            log: false,
            call_sites: false,
            reports: true,
            junk: true,
            protect_pages: false,
            out_of_memory_at: None,
            host_out_of_memory_at: None,
            host_function_patience: Duration::from_millis(20),
        }
    }

    /// Tells whether a real device can stand for it: nothing but the order of work was chosen.
    pub(crate) fn fits_a_device(&self) -> bool {
        *self == Self { scheduler: self.scheduler, junk: self.junk, ..Self::new() }
    }

    /// Sets how many devices there are.
    pub const fn devices(mut self, devices: usize) -> Self {
        self.devices = devices;
        self
    }

    /// Sets how many bytes each device has; an allocation beyond them is out of memory.
    pub const fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Sets the order in which queued work runs. A test in a process of its own that sets none takes
    /// that of the environment variable `CUDA_TEST_SCHEDULER`, if there is one.
    pub const fn scheduler(mut self, scheduler: Scheduler) -> Self {
        self.scheduler = Some(scheduler);
        self
    }

    /// Returns the order in which queued work runs: eager, if none was set.
    pub(crate) fn order(&self) -> Scheduler {
        self.scheduler.unwrap_or_default()
    }

    /// Sets how many bytes of addresses are reserved for device memory; fewer if they are refused.
    pub const fn reservation(mut self, bytes: u64) -> Self {
        self.reservation = bytes;
        self
    }

    /// Sets the driver's CUDA version: functions that came with a newer one are absent.
    pub const fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets what `cuInit` always answers: a machine whose driver does not fit the device
    /// (`CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE`), or is not ready.
    pub const fn initialization(mut self, answer: CUresult) -> Self {
        self.initialization = answer;
        self
    }

    /// Takes a feature from all devices.
    pub fn without(mut self, feature: Feature) -> Self {
        self.lacking.push((None, feature));
        self
    }

    /// Takes a feature from one device of the machine, the first being 0.
    pub fn device_without(mut self, device: usize, feature: Feature) -> Self {
        self.lacking.push((Some(device), feature));
        self
    }

    /// Keeps a device of the machine from ever reaching another's memory. Without it each may reach
    /// all, once access is enabled.
    pub fn no_peer(mut self, device: usize, other: usize) -> Self {
        self.unreachable.push((device, other));
        self
    }

    /// Tells whether a device of the machine has a feature.
    pub(crate) fn has(&self, device: usize, feature: Feature) -> bool {
        !self
            .lacking
            .iter()
            .any(|&(of, lacked)| lacked == feature && of.is_none_or(|of| of == device))
    }

    /// Tells whether a device of the machine can reach another's memory.
    pub(crate) fn can_reach(&self, device: usize, other: usize) -> bool {
        device != other && !self.unreachable.contains(&(device, other))
    }

    /// Lets the `nth` call of a function fail, the first being 1.
    ///
    /// A call that frees or destroys does its work and then answers the code, as a driver does that
    /// returns the error of earlier work; any other does nothing.
    pub fn fail(mut self, symbol: &str, nth: u64, code: CUresult) -> Self {
        self.failures.push(Failure { symbol: Some(symbol.to_owned()), nth, code, stays: false });
        self
    }

    /// Lets the `nth` call of a function fail, the first being 1, with an error that stays: each later
    /// call of the current context answers it, and what is queued in it is dropped. Other contexts go
    /// on, which after an error of a kernel they don't; see [`kernel`](Self::kernel).
    ///
    /// Calls that free or destroy do their work, and answer the code as well.
    pub fn break_context(mut self, symbol: &str, nth: u64, code: CUresult) -> Self {
        self.failures.push(Failure { symbol: Some(symbol.to_owned()), nth, code, stays: true });
        self
    }

    /// Lets the `nth` call of any simulated function fail, the first being 1.
    pub fn fail_any(mut self, nth: u64, code: CUresult) -> Self {
        self.failures.push(Failure { symbol: None, nth, code, stays: false });
        self
    }

    /// Lets kernels of a name be launched that have no body, as in programs that are not in Rust; `*`
    /// stands for any name. They do nothing, and end with an answer: with `CUDA_SUCCESS`, or with an
    /// error such as 700, 716 or 719, which then stays in every context of every device.
    pub fn kernel(mut self, name: &str, answer: CUresult) -> Self {
        self.kernels.push((name.to_owned(), answer));
        self
    }

    /// Returns what stands in for the body of a kernel: what its name says goes before any other's.
    pub(crate) fn stand_in(&self, name: &str) -> Option<Body> {
        let of = |wanted: &str| self.kernels.iter().find(|(name, _)| name == wanted);
        let (_, answer) = of(name).or_else(|| of("*"))?;
        Some(Body::ending_with(*answer))
    }

    /// Sets whether each call is kept with its arguments and answer, for [`calls`](crate::calls).
    pub const fn log(mut self, log: bool) -> Self {
        self.log = log;
        self
    }

    /// Sets whether each finding says where in the program its calls were made, which takes some
    /// microseconds a call.
    pub const fn call_sites(mut self, call_sites: bool) -> Self {
        self.call_sites = call_sites;
        self
    }

    /// Sets whether work is watched, as it is unless told otherwise. Without it races, and host
    /// access to memory under a pending copy, are not found, destinations of pending copies are not
    /// poisoned, pools give memory to another stream only when the work before its free has run, and
    /// calls take less time; what is still alive at the end, double frees and stale
    /// handles are reported all the same.
    pub const fn reports(mut self, reports: bool) -> Self {
        self.reports = reports;
        self
    }

    /// Lets each allocation of device memory fail that would take a device's allocations, as the
    /// program asked for them, beyond so many bytes; the device still says that it has more.
    pub const fn out_of_memory_at(mut self, bytes: u64) -> Self {
        self.out_of_memory_at = Some(bytes);
        self
    }

    /// Lets each allocation of host memory fail that would take all of them beyond so many bytes.
    pub const fn host_out_of_memory_at(mut self, bytes: u64) -> Self {
        self.host_out_of_memory_at = Some(bytes);
        self
    }

    /// Sets whether new memory holds junk instead of zeros. Allocations over 8 MiB never do.
    pub const fn junk(mut self, junk: bool) -> Self {
        self.junk = junk;
        self
    }

    /// Sets whether the whole pages of memory of `cuMemHostAlloc` that a queued copy reads can't be
    /// written, and those that it writes can't be touched, until it has run. A touch then ends the
    /// process by `SIGSEGV`, where a debugger or a core file shows the line; without it the report
    /// tells of it when the copy runs. [`reports`](Self::reports) must be on.
    pub const fn protect_pages(mut self, protect_pages: bool) -> Self {
        self.protect_pages = protect_pages;
        self
    }

    /// Sets how long a host function stays queued before it runs though nothing waits for it.
    ///
    /// Without it a program that waits, not in the driver, for what its host function does would
    /// hang under [`Scheduler::Lazy`], as it does on no real driver.
    pub const fn host_function_patience(mut self, patience: Duration) -> Self {
        self.host_function_patience = patience;
        self
    }
}
