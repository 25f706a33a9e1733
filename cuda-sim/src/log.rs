//! The call log, kept if the configuration asks for it.

use std::fmt;

use cuda_sys::CUresult;

use crate::install::Sim;

/// Is one call of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's exact name.
    pub function: &'static str,
    /// Its arguments, each as `name=value`.
    pub arguments: String,
    /// Its answer.
    pub answer: CUresult,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}) -> {:?}", self.function, self.arguments, self.answer)
    }
}

/// Returns the calls so far, in the order in which they returned, if [`Config::log`] asked for them.
///
/// ```
/// use cuda_sim::Config;
///
/// cuda_sim::install(Config::new().log(true))?;
/// // SAFETY: the call takes no pointer.
/// let _ = unsafe { cuda_sys::cuInit(0) };
/// assert_eq!(cuda_sim::calls()[0].to_string(), "cuInit(flags=0) -> CUDA_SUCCESS");
/// # Ok::<(), cuda_sim::InstallError>(())
/// ```
///
/// [`Config::log`]: crate::Config::log
pub fn calls() -> Vec<Call> {
    Sim::get().map(|sim| sim.lock().log.clone()).unwrap_or_default()
}

/// Returns how many driver calls there were, whether or not they are kept.
pub fn call_count() -> u64 {
    Sim::get().map_or(0, |sim| sim.lock().faults.total())
}

/// Writes the arguments of a call.
pub(crate) fn arguments(arguments: &[(&str, &dyn fmt::Debug)]) -> String {
    let parts: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
    parts.join(", ")
}
