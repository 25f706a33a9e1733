//! What the environment asks of the report at the end.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names where the report goes.
pub(crate) const REPORT: &str = "CUDA_SIM_REPORT";

/// Names the exit status of a process in which something was found.
pub(crate) const EXIT_STATUS: &str = "CUDA_SIM_EXIT_STATUS";

/// Is where the report goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To the standard error, if something was found.
    #[default]
    IfFound,
    /// To nowhere.
    Nowhere,
    /// To the standard error, whatever was found.
    StandardError,
    /// To the end of a file, whatever was found.
    File(PathBuf),
}

/// Is what a process does at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) destination: Destination,
    /// What the exit status becomes if something was found; none leaves it.
    pub(crate) exit_status: Option<u8>,
}

impl Settings {
    /// Reads the environment. The error is a sentence.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let exit_status = match std::env::var_os(EXIT_STATUS).filter(|text| !text.is_empty()) {
            None => None,
            Some(text) => {
                let number = text.to_str().and_then(|text| text.parse().ok());
                let status = number.ok_or_else(|| {
                    format!("{EXIT_STATUS} is {text:?}, and must be a number from 0 to 255")
                })?;
                Some(status)
            }
        };
        Ok(Self { destination: destination(std::env::var_os(REPORT)), exit_status })
    }
}

/// Reads a destination. In a file's name, `%p` stands for the number of the process.
fn destination(text: Option<OsString>) -> Destination {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Destination::IfFound };
    let path = match text.to_str() {
        Some("none") => return Destination::Nowhere,
        Some("stderr") => return Destination::StandardError,
        Some(name) => PathBuf::from(name.replace("%p", &std::process::id().to_string())),
        None => PathBuf::from(text),
    };
    // The program may go to another folder before it ends.
    Destination::File(std::path::absolute(&path).unwrap_or(path))
}
