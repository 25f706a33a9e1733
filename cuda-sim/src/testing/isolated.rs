//! Runs a test's body in a process of its own, as often as it takes.
//!
//! The test starts its own program again, with its own name as the only test to run; the second
//! process finds a mark in its environment, installs the simulator, and runs the body. Told to by
//! the environment, it leaves the real driver where it is instead; see [`is_on_device`].
#![expect(clippy::panic, clippy::print_stderr, reason = "a test fails by a panic, and says why")]

use std::env;
use std::fmt::Display;
use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cuda_sys::CUresult;

use crate::config::{Config, ENVIRONMENT, Scheduler};
use crate::report::Report;
use crate::testing::device_run::{is_on_device, not_run};
use crate::testing::run_scheduler::of_the_run;

/// Names the test that a process was started for.
const TEST: &str = "CUDA_SIM_TEST";
/// Names what the process is in that test.
const ROLE: &str = "CUDA_SIM_ROLE";
/// Names the file that says how the body went.
const OUTCOME: &str = "CUDA_SIM_OUTCOME";

/// Is a test that runs in a process of its own; [`isolated!`](crate::isolated!) makes it.
#[derive(Debug)]
#[must_use = "it runs nothing by itself"]
pub struct Isolated {
    test: String,
    config: Config,
    limit: Duration,
    checks_report: bool,
    answers_only: bool,
}

impl Isolated {
    /// Names the test as `cargo test` does, without the crate: `module::function`.
    pub fn new(test: &str, config: Config) -> Self {
        Self {
            test: test.to_owned(),
            config,
            limit: Duration::from_secs(60),
            checks_report: true,
            answers_only: false,
        }
    }

    /// Sets after which time the process counts as hanging; a minute if not said.
    pub const fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Lets findings be: the body looks at the report itself.
    pub const fn unchecked(mut self) -> Self {
        self.checks_report = false;
        self
    }

    /// Lets findings be, on the simulator and on a device alike: the body looks at answers only.
    pub const fn answers_only(mut self) -> Self {
        self.checks_report = false;
        self.answers_only = true;
        self
    }

    /// Runs the body in a process of its own. In a process that was started for it, runs it here.
    ///
    /// # Panics
    ///
    /// If the process does not end well or in time, or if its report is not clean at its end.
    pub fn run(self, body: impl FnOnce()) {
        if is_started_for(&self.test) {
            self.run_here(body);
            return;
        }
        let config = self.of_the_run().unwrap_or_else(|| self.config.clone());
        self.run_in(&[config]);
    }

    /// Runs the body in one process a scheduler: eager, lazy, and `seeds` random ones. If the run of
    /// tests has a scheduler, there is one process, with that.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run), for the first that fails.
    pub fn run_on_every_scheduler(self, seeds: u64, body: impl FnOnce()) {
        if is_started_for(&self.test) {
            self.run_here(body);
            return;
        }
        if let Some(config) = self.of_the_run() {
            self.run_in(&[config]);
            return;
        }
        let fixed = [Scheduler::Eager, Scheduler::Lazy];
        let schedulers = fixed.into_iter().chain((1..=seeds).map(Scheduler::Seeded));
        let with = |scheduler| self.config.clone().scheduler(scheduler);
        self.run_in(&schedulers.map(with).collect::<Vec<_>>());
    }

    /// Returns the configuration with the run's scheduler, if there is one and the test states none.
    fn of_the_run(&self) -> Option<Config> {
        of_the_run(&self.test, &self.config).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// Runs the body once with each configuration; on a device once, if it can run there.
    fn run_in(&self, configs: &[Config]) {
        let mut configs = configs;
        if is_on_device() {
            let looks_at_the_simulator = !self.checks_report && !self.answers_only;
            if looks_at_the_simulator || !self.config.fits_a_device() {
                not_run(&self.test, "it looks at what only the simulator tells or does");
                return;
            }
            configs = configs.get(..1).unwrap_or_default();
        }
        for config in configs {
            if let Err(problem) = self.start(config) {
                panic!("{} ({}): {problem}", self.test, config.order());
            }
        }
    }

    /// Runs the body once for each of its driver calls, which fails with `code`, and once more
    /// without a failure at all.
    ///
    /// The body may return an error or not; it must not panic, hang or leak.
    ///
    /// # Panics
    ///
    /// If it does, or if it fails where no call does.
    pub fn run_for_each_failure<E: Display>(
        self,
        code: CUresult,
        body: impl FnOnce() -> Result<(), E>,
    ) {
        if is_started_for(&self.test) {
            self.run_here(|| {
                let outcome = body();
                let must_pass = env::var_os(OUTCOME).is_some() && env::var_os(FAILING).is_none();
                match outcome {
                    Err(error) if must_pass => panic!("no call failed, but: {error}"),
                    Err(error) => eprintln!("the body's error: {error}"),
                    Ok(()) => {}
                }
            });
            return;
        }
        if is_on_device() {
            not_run(&self.test, "a device does not fail on demand");
            return;
        }
        let config = self.of_the_run().unwrap_or_else(|| self.config.clone());
        let calls = match self.start(&config) {
            Ok(calls) => calls,
            Err(problem) => panic!("{}: {problem}", self.test),
        };
        for nth in 1..=calls {
            let config = config.clone().fail_any(nth, code);
            if let Err(problem) = self.start_failing(&config, nth) {
                panic!("{}: call {nth} of {calls} failing with {code:?}: {problem}", self.test);
            }
        }
    }

    /// Installs, runs the body, and says in the outcome's file how it went.
    fn run_here(self, body: impl FnOnce()) {
        if is_on_device() {
            body();
            write_outcome(0);
            return;
        }
        let config = match Config::from_environment() {
            Ok(Some(config)) => config,
            Ok(None) => self.config,
            Err(error) => panic!("{error}"),
        };
        if let Err(error) = crate::install(config) {
            panic!("{error}");
        }
        body();
        let report: Report = crate::finish();
        if self.checks_report && !report.is_clean() {
            panic!("the simulator reports:\n{report}");
        }
        write_outcome(crate::call_count());
    }

    fn start(&self, config: &Config) -> Result<u64, String> {
        self.start_with(config, |_| {})
    }

    fn start_failing(&self, config: &Config, nth: u64) -> Result<u64, String> {
        self.start_with(config, |command| {
            command.env(FAILING, nth.to_string());
        })
    }

    /// Starts the process, waits for it, and returns how many driver calls it made.
    fn start_with(&self, config: &Config, more: impl FnOnce(&mut Command)) -> Result<u64, String> {
        let outcome = outcome_file();
        let mut command = command(&self.test).map_err(|error| error.to_string())?;
        command.env(ENVIRONMENT, config.to_text()).env(OUTCOME, &outcome).env_remove(ROLE);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        more(&mut command);
        let child = command.spawn().map_err(|error| error.to_string())?;
        let (status, output) = wait(child, self.limit)?;
        let calls = fs::read_to_string(&outcome).ok();
        // It is there only if the body came to its end.
        let _ = fs::remove_file(&outcome);
        match calls.and_then(|calls| calls.parse().ok()) {
            Some(calls) if status.success() => Ok(calls),
            Some(_) => Err(format!("{status}\n{output}")),
            None => {
                let why = reason(status, config);
                Err(format!("its body did not come to its end ({status}{why})\n{output}"))
            }
        }
    }
}

/// Says that a driver call is made to fail in this process.
const FAILING: &str = "CUDA_SIM_FAILING";

/// Returns what this process is in its test: none in the one that [`Isolated`] started, else what
/// [`peer`] was told.
pub fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// Returns the command that starts this test's program once more, to run the same body with the
/// same configuration, where [`role`] answers `role`.
///
/// # Errors
///
/// If this process was not started for a test, or its program isn't known.
pub fn peer(role: &str) -> std::io::Result<Command> {
    let test = env::var(TEST).map_err(std::io::Error::other)?;
    let mut command = command(&test)?;
    command.env(ROLE, role);
    Ok(command)
}

/// Returns a test's name, as `cargo test` has it, of the type name of a function inside of the test.
#[doc(hidden)]
pub fn test_path(inside: &'static str) -> &'static str {
    let path = inside.split_once("::").map_or(inside, |(_, path)| path);
    let path = path.rsplit_once("::").map_or(path, |(path, _)| path);
    path.trim_end_matches("::{{closure}}")
}

/// Says that the body came to its end, and how many driver calls it made.
fn write_outcome(calls: u64) {
    if role().is_none()
        && let Some(file) = env::var_os(OUTCOME)
        && let Err(error) = fs::write(&file, calls.to_string())
    {
        panic!("{}: {error}", PathBuf::from(file).display());
    }
}

fn is_started_for(test: &str) -> bool {
    env::var(TEST).is_ok_and(|name| name == test)
}

fn command(test: &str) -> std::io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(TEST, test);
    Ok(command)
}

fn outcome_file() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("cuda-sim-{}-{number}", std::process::id()))
}

/// Says why a process may have ended so.
fn reason(status: ExitStatus, config: &Config) -> &'static str {
    if config.protect_pages && status.signal() == Some(SEGMENTATION_FAULT) {
        return "; a touch of pinned memory under a queued copy ends a process so";
    }
    ""
}

/// `SIGSEGV`.
const SEGMENTATION_FAULT: i32 = 11;

/// Waits until a process ends, and ends it if it takes too long.
fn wait(mut child: Child, limit: Duration) -> Result<(ExitStatus, String), String> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let stdout = thread::spawn(move || text(stdout));
    let stderr = thread::spawn(move || text(stderr));
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break Some(status),
            None if start.elapsed() > limit => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
        }
    };
    match status {
        Some(status) => {
            let output = [stdout, stderr].map(|text| text.join().unwrap_or_default()).concat();
            Ok((status, output))
        }
        // What it started may still hold its output open.
        None => Err(format!("it did not end in {limit:?}")),
    }
}

fn text(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // What could be read is told, whatever ended it.
        let _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs the rest of a test in a process of its own, where the simulator is installed.
///
/// The first argument is the configuration, the second the body, a closure. The test fails if the
/// body panics, if the process hangs, or if the simulator's report is not clean at its end.
///
/// ```no_run
/// #[test]
/// fn a_device_is_there() {
///     cuda_sim::isolated!(cuda_sim::Config::new(), || {
///         // SAFETY: the call takes no pointer.
///         assert_eq!(unsafe { cuda_sys::cuInit(0) }, cuda_sys::CUresult::CUDA_SUCCESS);
///     });
/// }
/// ```
#[macro_export]
macro_rules! isolated {
    ($config:expr, $body:expr $(,)?) => {
        $crate::isolated!($config).run($body)
    };
    ($config:expr $(,)?) => {{
        fn inside() {}
        let path = $crate::test_path(::std::any::type_name_of_val(&inside));
        $crate::Isolated::new(path, $config)
    }};
}

/// Runs the rest of a test in processes of their own, one a scheduler: eager, lazy, and three
/// random ones.
///
/// The arguments are those of [`isolated!`](crate::isolated!).
#[macro_export]
macro_rules! on_every_scheduler {
    ($config:expr, $body:expr $(,)?) => {
        $crate::isolated!($config).run_on_every_scheduler(3, $body)
    };
}

/// Runs the rest of a test in processes of their own, in each of which another driver call fails.
///
/// The arguments are the configuration, the code, and the body, a closure that returns a `Result`.
/// It must not panic, hang or leak, whichever call fails; and it must succeed if none does.
///
/// ```no_run
/// #[test]
/// fn initialising_fails_well() {
///     use cuda_sys::CUresult;
///
///     let code = CUresult::CUDA_ERROR_UNKNOWN;
///     cuda_sim::for_each_failure!(cuda_sim::Config::new(), code, || {
///         // SAFETY: the call takes no pointer.
///         match unsafe { cuda_sys::cuInit(0) } {
///             CUresult::CUDA_SUCCESS => Ok(()),
///             error => Err(format!("{error:?}")),
///         }
///     });
/// }
/// ```
#[macro_export]
macro_rules! for_each_failure {
    ($config:expr, $code:expr, $body:expr $(,)?) => {
        $crate::isolated!($config).run_for_each_failure($code, $body)
    };
}
