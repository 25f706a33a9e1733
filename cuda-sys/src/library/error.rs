//! What can go wrong before a function is called. Texts are ours, in ASCII; what the system's
//! loader says comes after them.

use core::error::Error;
use core::ffi::CStr;
use core::fmt;
use std::path::PathBuf;

use super::Origin;
use crate::Version;

/// Is why a library could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// No candidate exists.
    NotFound {
        /// What was looked for.
        title: &'static str,
        /// The variable that names a file to use.
        override_variable: &'static str,
        /// All that was tried, in order.
        tried: Vec<Attempt>,
    },
    /// The file that the override variable names does not exist.
    OverrideNotFound {
        /// The variable.
        variable: &'static str,
        /// The file that it names.
        path: PathBuf,
    },
    /// A file was found that is no shared library for this machine.
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A library was found that the system's loader refuses, as when it needs another one.
    Unloadable {
        /// The file.
        path: PathBuf,
        /// What the system's loader says.
        reason: String,
    },
    /// Only a toolkit's stub was found: a library to link to, not to run.
    Stub {
        /// What was looked for.
        title: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The override names another file than the one that this process already uses.
    AnotherMapped {
        /// The variable.
        variable: &'static str,
        /// The file that it names.
        requested: PathBuf,
        /// The file of the same library that is mapped.
        mapped: PathBuf,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { title, override_variable, tried } => {
                let tried: Vec<String> = tried.iter().map(ToString::to_string).collect();
                let tried = tried.join(", ");
                write!(f, "the {title} was not found; tried {tried}; ")?;
                write!(f, "if it is elsewhere, set {override_variable} to the file")
            }
            Self::OverrideNotFound { variable, path } => {
                write!(f, "{variable} names {}, which does not exist", path.display())
            }
            Self::NotALibrary { path, reason } => {
                write!(f, "{} was found, but {reason}", path.display())
            }
            Self::Unloadable { path, reason } => {
                write!(f, "{} was found, but cannot be loaded: {reason}", path.display())
            }
            Self::Stub { title, path } => {
                let path = path.display();
                write!(f, "{path} is the stub library of a CUDA toolkit, not the {title}")
            }
            Self::AnotherMapped { variable, requested, mapped } => {
                let (requested, mapped) = (requested.display(), mapped.display());
                write!(f, "{variable} names {requested}, but this process already uses {mapped}")
            }
        }
    }
}

impl Error for LoadError {}

/// Is one candidate and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// A path, or a name that the system's loader was asked for.
    pub candidate: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Is what became of a candidate that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// There is no such file.
    NotFound,
    /// The file is no library for this machine.
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system's loader refuses it.
    Unloadable {
        /// The file.
        path: PathBuf,
        /// What the system's loader says.
        reason: String,
    },
    /// It is a toolkit's stub.
    Stub {
        /// The file.
        path: PathBuf,
    },
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match &self.outcome {
            Outcome::NotFound => return f.write_str(&self.candidate),
            Outcome::NotALibrary { reason, .. } => reason.as_str(),
            Outcome::Unloadable { .. } => "cannot be loaded",
            Outcome::Stub { .. } => "is a stub",
        };
        write!(f, "{} ({outcome})", self.candidate)
    }
}

/// Is why a source of functions was not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlreadyLoaded {
    /// Where they come from.
    pub by: String,
}

impl fmt::Display for AlreadyLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = &self.by;
        write!(f, "the functions already come from {by}; install a source before the first call")
    }
}

impl Error for AlreadyLoaded {}

/// Is a function that the open library does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The exact name of the function.
    pub symbol: &'static CStr,
    /// The release that brought it.
    pub since: Version,
    /// What lacks it.
    pub title: &'static str,
    /// The version of the library, if it tells.
    pub version: Option<Version>,
    /// Where the library's functions come from.
    pub origin: Option<Origin>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { symbol, since, title, version, origin } = self;
        write!(f, "the {title}")?;
        if let Some(origin) = origin {
            write!(f, " ({origin})")?;
        }
        write!(f, " has no {}: it came with CUDA {since}", symbol.to_string_lossy())?;
        match version {
            Some(version) => write!(f, ", and this one is for CUDA {version}"),
            None => Ok(()),
        }
    }
}

impl Error for Missing {}

/// Is why a function cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The library could not be opened.
    Load(LoadError),
    /// The library does not have the function.
    Missing(Missing),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(error) => error.fmt(f),
            Self::Missing(error) => error.fmt(f),
        }
    }
}

impl Error for Unavailable {}
