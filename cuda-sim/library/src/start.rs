//! Installs the simulator at the first driver call, as the environment says.

use std::sync::OnceLock;

use cuda_sim::{Config, ENVIRONMENT, InstallError};
use cuda_sys::CUresult;

use crate::end::say;
use crate::settings::Settings;

/// Is a process that has made a driver call.
#[derive(Debug)]
pub(crate) struct Started {
    /// Its number: a forked child inherits all of this and is another.
    pub(crate) process: u32,
    pub(crate) settings: Settings,
    /// What every call answers if there is no simulator.
    refusal: Option<CUresult>,
}

static STARTED: OnceLock<Started> = OnceLock::new();

/// Makes sure that the simulator is installed, so that the table of `cuda-sys` is its.
pub(crate) fn started() -> Result<(), CUresult> {
    STARTED.get_or_init(start).refusal.map_or(Ok(()), Err)
}

/// Returns what the first driver call left; none if there was none.
pub(crate) fn already_started() -> Option<&'static Started> {
    STARTED.get()
}

fn start() -> Started {
    let process = std::process::id();
    let settings = Settings::from_environment();
    let config = Config::from_environment();
    // A machine that is not described as it should be is none that is ready.
    let refused = |problem: &str| {
        say(&format!("{problem}\ncuInit answers CUDA_ERROR_SYSTEM_NOT_READY"));
        Config::new().initialization(CUresult::CUDA_ERROR_SYSTEM_NOT_READY)
    };
    let config = match (&settings, config) {
        (Err(problem), _) => refused(problem),
        (_, Err(error)) => refused(&format!("{ENVIRONMENT}: {error}")),
        (Ok(_), Ok(config)) => config.unwrap_or_default(),
    };
    let refusal = cuda_sim::install(config).err().map(|error| {
        say(&error.to_string());
        match error {
            InstallError::Memory(_) => CUresult::CUDA_ERROR_OPERATING_SYSTEM,
            _ => CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        }
    });
    Started { process, settings: settings.unwrap_or_default(), refusal }
}
