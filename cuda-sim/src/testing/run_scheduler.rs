//! The scheduler of a run of tests, which those take that state none.

use crate::config::{Config, Scheduler};
use crate::testing::device_run::{is_on_device, note};

/// The variable that names the run's scheduler, as [`Config::to_text`] writes it.
const SCHEDULER: &str = "CUDA_TEST_SCHEDULER";

/// Returns a test's configuration with the run's scheduler; none if the test states its own, or the
/// run has none.
///
/// That the test took it is a line of JSON in the file that the variable `CUDA_TEST_RESULTS` names: of
/// all others it is known that they go the same way under each.
///
/// # Errors
///
/// What the variable holds, if that is no scheduler.
pub(crate) fn of_the_run(test: &str, config: &Config) -> Result<Option<Config>, String> {
    let Some(text) = std::env::var_os(SCHEDULER) else { return Ok(None) };
    let scheduler = text.to_str().and_then(Scheduler::from_text);
    let Some(scheduler) = scheduler else {
        return Err(format!("{SCHEDULER} is {text:?}, and not eager, lazy or seeded:NUMBER"));
    };
    if config.scheduler.is_some() || is_on_device() {
        return Ok(None);
    }
    note(&format!("{{\"test\": {test:?}, \"scheduler\": \"{scheduler}\"}}\n"));
    Ok(Some(config.clone().scheduler(scheduler)))
}
