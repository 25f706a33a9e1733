//! What the tests are given: contexts whose errors are listened to, and the judgement.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cuda_safe::{Context, Device, Error, Result, Stream};
use cuda_sim::{Call, Config, Scheduler};
use cuda_sys::CUresult;

/// The code that calls fail with. No function here treats it as anything but an error.
pub(crate) const CODE: CUresult = CUresult::CUDA_ERROR_UNKNOWN;

/// What may fail without anybody being told, and why nothing is lost by it: what is put off is done
/// later, as the simulator sees by there being no leak.
const UNTOLD: &[(&str, &str)] = &[
    ("cuThreadExchangeStreamCaptureMode", "the mode stays, and nothing is captured here"),
    ("cuPointerGetAttribute", "the memory has a record of its own, which nobody else looks for"),
    ("cuCtxGetCurrent", "a drop that can't enter its context is put off"),
    ("cuCtxGetId", "as above"),
    ("cuCtxSetCurrent", "as above"),
    (
        "cuEventCreate",
        "what can't be asked whether it is in use is put off; a stream is waited for",
    ),
    ("cuEventRecord", "as above"),
    ("cuEventQuery", "as above"),
    ("cuStreamIsCapturing", "another stream frees the memory"),
    ("cuStreamCreate", "memory for which there is no stream to free it is put off"),
    ("cuStreamWaitEvent", "memory whose free can't wait for its uses is put off"),
];

/// Work is done as late as it can be, so that everything is still in use.
pub(crate) fn config() -> Config {
    Config::new().scheduler(Scheduler::Lazy).log(true)
}

/// Keeps what contexts were told of errors that had nobody to be returned to.
///
/// A clone may go to another thread; the test waits until it is dropped.
#[derive(Clone, Default)]
pub(crate) struct Given {
    told: Arc<Mutex<Vec<Error>>>,
    clones: Arc<()>,
    /// Whether something was run quietly.
    quiet: Arc<AtomicBool>,
}

impl Given {
    /// Returns the primary context of the first device.
    pub(crate) fn context(&self) -> Result<Context> {
        let context = Device::get(0)?.context()?;
        self.listen(&context);
        Ok(context)
    }

    /// Returns it with a stream.
    pub(crate) fn stream(&self) -> Result<(Context, Stream)> {
        let context = self.context()?;
        let stream = Stream::new(&context)?;
        Ok((context, stream))
    }

    pub(crate) fn listen(&self, context: &Context) {
        let told = Arc::clone(&self.told);
        context.on_error(move |error| told.lock().unwrap().push(error.clone()));
    }

    /// Notes an error that nobody else is told.
    pub(crate) fn tell(&self, error: Error) {
        self.told().push(error);
    }

    /// Runs the work, and fails if it asks the driver anything.
    pub(crate) fn quiet<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = cuda_sim::calls().len();
        let answer = work();
        let asked: Vec<Call> = cuda_sim::calls().into_iter().skip(before).collect();
        assert_eq!(asked, [], "the driver was asked");
        self.quiet.store(true, Ordering::Relaxed);
        answer
    }

    fn wait_for_clones(&self) {
        let start = Instant::now();
        while Arc::strong_count(&self.clones) > 1 {
            assert!(start.elapsed() < Duration::from_secs(20), "an owner is not dropped");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn told(&self) -> MutexGuard<'_, Vec<Error>> {
        self.told.lock().unwrap()
    }
}

/// Runs the body, and judges what it says of the call that failed, if one did.
pub(crate) fn judged(work: impl FnOnce(&Given) -> Result<()>) -> Result<()> {
    let given = Given::default();
    let outcome = work(&given);
    given.wait_for_clones();
    let told = given.told();
    let failed: Vec<Call> =
        cuda_sim::calls().into_iter().filter(|call| call.answer == CODE).collect();
    assert!(failed.len() <= 1, "one call was to fail: {failed:?}");
    let errors: Vec<&Error> = outcome.as_ref().err().into_iter().chain(told.iter()).collect();
    match failed.first() {
        None => assert!(told.is_empty(), "nothing failed, but: {told:?}"),
        Some(call) => judge(call, &errors),
    }
    drop(told);
    outcome
}

/// Fails unless somebody is told of the call, and of nothing else.
fn judge(call: &Call, errors: &[&Error]) {
    for error in errors {
        assert!(is_of(error, call), "{call} failed, but the error is: {error}");
    }
    let may_be_untold = UNTOLD.iter().any(|(function, _)| *function == call.function);
    assert!(!errors.is_empty() || may_be_untold, "nobody is told that {call} failed");
}

/// Tells whether an error names a call and its code.
fn is_of(error: &Error, call: &Call) -> bool {
    // A context's number is asked for in the name of the call that needs the context.
    let asked_for_another = call.function == "cuCtxGetId";
    error.code() == Some(CODE) && (error.call == call.function || asked_for_another)
}

/// Runs the work, and fails if it asks the driver anything; what it returns is dropped afterwards.
pub(crate) fn silent<T, R>(
    make: impl FnOnce(&Given) -> Result<T>,
    work: impl FnOnce(T) -> Result<R>,
) {
    let given = Given::default();
    let made = make(&given).unwrap();
    drop(given.quiet(|| work(made)).unwrap());
}

/// Runs a body that asks the driver, but not in what it has [`Given::quiet`] run.
pub(crate) fn silent_within(body: impl FnOnce(&Given) -> Result<()>) {
    let given = Given::default();
    body(&given).unwrap();
    assert!(given.quiet.load(Ordering::Relaxed), "nothing was run quietly");
}

/// Runs the body, which is given a [`Given`](crate::given::Given), once for each driver call in it,
/// which fails.
macro_rules! each_call_fails {
    ([$($operation:path),* $(,)?], $body:expr $(,)?) => {
        cuda_sim::for_each_failure!($crate::given::config(), $crate::given::CODE, || {
            $crate::given::judged($body)
        })
    };
}

/// Makes what the first closure returns, and fails if the second, which is given it, asks the driver
/// anything. Of what lives only within a call, one closure runs that call, and the use by
/// [`Given::quiet`](crate::given::Given::quiet).
macro_rules! asks_no_driver {
    ([$($operation:path),* $(,)?], $within:expr $(,)?) => {
        cuda_sim::isolated!($crate::given::config(), || $crate::given::silent_within($within))
    };
    ([$($operation:path),* $(,)?], $make:expr, $work:expr $(,)?) => {
        cuda_sim::isolated!($crate::given::config(), || $crate::given::silent($make, $work))
    };
}
