//! A library that is found and opened at first use, or whose functions come from this process.
//!
//! Which file is taken is decided in `locate`; what can go wrong is said in `error`.

mod candidates;
mod error;
mod locate;
mod mapped;

use core::ffi::{CStr, c_int, c_void};
use core::fmt;
use core::ptr::NonNull;
use std::path::{Path, PathBuf};

use once_cell::sync::OnceCell;

pub use error::{AlreadyLoaded, Attempt, LoadError, Missing, Outcome, Unavailable};

use crate::{Symbol, Version};

/// Is how a library is found, and what this crate knows of it.
#[derive(Clone, Copy, Debug)]
pub struct Specification {
    /// What a sentence calls it.
    pub title: &'static str,
    /// The environment variable that names a file to use instead.
    pub override_variable: &'static str,
    /// The names with a version, newest first, that the system's loader is asked for.
    pub sonames: &'static [&'static str],
    /// The name without a version, asked for last: a toolkit's stub has it.
    pub development_name: &'static str,
    /// The names on Windows.
    pub windows_names: &'static [&'static str],
    /// Who installs it.
    pub installed_by: InstalledBy,
    /// How it tells its version.
    pub version: VersionQuery,
    /// What the version query of a toolkit's stub answers.
    pub stub_status: Option<u32>,
    /// The newest release that this binding was made from.
    pub newest: Version,
}

/// Is who installs a library, which says where else it may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstalledBy {
    /// NVIDIA's driver.
    Driver,
    /// A CUDA toolkit.
    Toolkit,
}

/// Is the function that tells a library's version. None of them needs an initialised library.
#[derive(Clone, Copy, Debug)]
pub enum VersionQuery {
    /// Writes one number, `1000 * major + 10 * minor`.
    Number(&'static CStr),
    /// Writes two numbers, the major and the minor one.
    MajorMinor(&'static CStr),
}

/// Gives functions by name: a driver in this process.
///
/// # Safety
///
/// A pointer that [`symbol`](Self::symbol) returns is a function of the type that `signature` has
/// under that name, for as long as the process lives.
pub unsafe trait SymbolSource: Send + Sync {
    /// Returns the function of that name, if there is one.
    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>>;

    /// Returns what a sentence calls the source.
    fn describe(&self) -> String;
}

/// Is one library of this process. What it is taken from is fixed when it is first opened.
pub struct Library {
    specification: Specification,
    opened: OnceCell<Opened>,
}

impl Library {
    /// Makes a library that is not open yet.
    pub(crate) const fn new(specification: Specification) -> Self {
        Self { specification, opened: OnceCell::new() }
    }

    /// Returns how it is found, without looking for it.
    pub const fn specification(&self) -> &Specification {
        &self.specification
    }

    /// Opens the library, if it isn't open. It is never closed.
    ///
    /// A failure is not remembered: a library that appears later, or [`install`](Self::install),
    /// still succeeds.
    ///
    /// # Errors
    ///
    /// [`LoadError`] says what was tried, or what is wrong with the file that was found.
    pub fn open(&self) -> Result<&Opened, LoadError> {
        self.opened.get_or_try_init(|| locate::locate(&self.specification))
    }

    /// Returns the library if it is open, and looks for nothing.
    pub fn opened(&self) -> Option<&Opened> {
        self.opened.get()
    }

    /// Takes the functions from `source` instead of a file.
    ///
    /// # Errors
    ///
    /// [`AlreadyLoaded`] if the library is open already: real and simulated never swap.
    pub fn install(&self, source: Box<dyn SymbolSource>) -> Result<(), AlreadyLoaded> {
        let by = source.describe();
        let opened = Opened::new(&self.specification, Source::Caller(source), Origin::Caller(by));
        self.opened.set(opened).map_err(|_| AlreadyLoaded {
            by: self.opened.get().map(|opened| opened.origin.to_string()).unwrap_or_default(),
        })
    }

    /// Describes the absence of a function from the open library.
    pub(crate) fn missing(&self, symbol: &Symbol) -> Missing {
        let opened = self.opened.get();
        Missing {
            symbol: symbol.name,
            since: symbol.since,
            title: self.specification.title,
            version: opened.and_then(Opened::version),
            origin: opened.map(|opened| opened.origin.clone()),
        }
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("title", &self.specification.title)
            .field("opened", &self.opened.get())
            .finish()
    }
}

/// Is where the functions of an open library come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A file.
    File {
        /// The file that is mapped.
        path: PathBuf,
        /// Why it is this one.
        reason: String,
    },
    /// A source in this process.
    Caller(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, .. } => write!(f, "{}", path.display()),
            Self::Caller(description) => f.write_str(description),
        }
    }
}

enum Source {
    File(libloading::Library),
    Caller(Box<dyn SymbolSource>),
}

/// Is an open library.
pub struct Opened {
    source: Source,
    origin: Origin,
    version: Option<Version>,
}

impl Opened {
    fn new(specification: &Specification, source: Source, origin: Origin) -> Self {
        let mut opened = Self { source, origin, version: None };
        opened.version = opened.query_version(specification).ok().flatten();
        opened
    }

    /// Returns where the functions come from.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the file, unless the functions come from this process.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File { path, .. } => Some(path),
            Origin::Caller(_) => None,
        }
    }

    /// Returns the newest CUDA version that it supports, if it tells.
    pub const fn version(&self) -> Option<Version> {
        self.version
    }

    /// Returns the address of the function of that name, if the library has it.
    pub fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match &self.source {
            Source::File(library) => {
                // SAFETY: only the address is taken; `bind!` gives it its type.
                let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
                NonNull::new(*symbol.ok()?)
            }
            Source::Caller(source) => source.symbol(name),
        }
    }

    /// Asks for the version; an answer other than success is the error.
    fn query_version(&self, specification: &Specification) -> Result<Option<Version>, u32> {
        let name = specification.version.symbol();
        let Some(function) = self.symbol(name) else { return Ok(None) };
        let (mut first, mut second): (c_int, c_int) = (0, 0);
        let status = match specification.version {
            VersionQuery::Number(_) => {
                // SAFETY: every library of the manifest declares its version query so.
                let query: unsafe extern "system" fn(*mut c_int) -> u32 =
                    unsafe { core::mem::transmute(function) };
                // SAFETY: it writes one int, and needs no initialised library.
                unsafe { query(&mut first) }
            }
            VersionQuery::MajorMinor(_) => {
                // SAFETY: as above, with two numbers.
                let query: unsafe extern "system" fn(*mut c_int, *mut c_int) -> u32 =
                    unsafe { core::mem::transmute(function) };
                // SAFETY: it writes two ints, and needs no initialised library.
                unsafe { query(&mut first, &mut second) }
            }
        };
        if status != 0 {
            return Err(status);
        }
        let number = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(Some(match specification.version {
            VersionQuery::Number(_) => Version::from_number(number(first)),
            VersionQuery::MajorMinor(_) => Version::new(number(first), number(second)),
        }))
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("origin", &self.origin)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl VersionQuery {
    /// Returns the function's name.
    pub const fn symbol(&self) -> &'static CStr {
        match self {
            Self::Number(name) | Self::MajorMinor(name) => name,
        }
    }
}
