//! Decides which file is opened: the override if there is one, else the first candidate that is a
//! library and no stub.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::candidates::{Candidate, candidates};
use super::mapped::file_at;
use super::{Attempt, LoadError, Opened, Origin, Outcome, Source, Specification};

/// Opens the library.
pub(super) fn locate(specification: &Specification) -> Result<Opened, LoadError> {
    let variable = specification.override_variable;
    if let Some(path) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return open_override(specification, PathBuf::from(path));
    }
    let mut tried = Vec::new();
    for candidate in candidates(specification) {
        let (candidate, attempt) = match candidate {
            Candidate::Name(name) => (name.to_owned(), open_name(specification, name)),
            Candidate::Path(path) => {
                let reason = "it lies in a known folder".to_owned();
                (path.display().to_string(), open_path(specification, &path, reason))
            }
        };
        match attempt {
            Ok(opened) => return Ok(opened),
            Err(outcome) => tried.push(Attempt { candidate, outcome }),
        }
    }
    // A file that is there and does not work tells more than the places where there is none.
    let found = tried.iter().find(|attempt| attempt.outcome != Outcome::NotFound);
    Err(match found {
        Some(attempt) => unusable(specification, attempt.outcome.clone()),
        None => {
            LoadError::NotFound { title: specification.title, override_variable: variable, tried }
        }
    })
}

fn unusable(specification: &Specification, outcome: Outcome) -> LoadError {
    let (title, variable) = (specification.title, specification.override_variable);
    match outcome {
        Outcome::NotALibrary { path, reason } => LoadError::NotALibrary { path, reason },
        Outcome::Unloadable { path, reason } => LoadError::Unloadable { path, reason },
        Outcome::Stub { path } => LoadError::Stub { title, path },
        Outcome::NotFound => {
            LoadError::NotFound { title, override_variable: variable, tried: Vec::new() }
        }
    }
}

/// Opens the file that the user named, or none.
fn open_override(specification: &Specification, path: PathBuf) -> Result<Opened, LoadError> {
    let variable = specification.override_variable;
    if let Some(mapped) = already_mapped(specification).filter(|mapped| !is_same(mapped, &path)) {
        return Err(LoadError::AnotherMapped { variable, requested: path, mapped });
    }
    let reason = format!("{variable} names it");
    open_path(specification, &path, reason).map_err(|outcome| match outcome {
        Outcome::NotFound => LoadError::OverrideNotFound { variable, path },
        other => unusable(specification, other),
    })
}

/// Asks the system's loader for a name.
fn open_name(specification: &Specification, name: &str) -> Result<Opened, Outcome> {
    // SAFETY: a driver's and a toolkit's initialisers expect to be run by whoever loads them.
    match unsafe { libloading::Library::new(name) } {
        Ok(library) => {
            accept(specification, library, Path::new(name), format!("the loader finds {name}"))
        }
        Err(error) => Err(refusal(name, &loader_text(&error))),
    }
}

/// Tells a name that no file has from a file that the loader refuses.
fn refusal(name: &str, reason: &str) -> Outcome {
    let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&search).map(|folder| folder.join(name));
    if let Some(path) = on_path.find(|path| path.is_file()) {
        return match examine(&path) {
            Err(outcome) => outcome,
            Ok(()) => Outcome::Unloadable { path, reason: reason.to_owned() },
        };
    }
    // The loader's text starts with the file that it could not open: the name itself, or a
    // library that the named one needs.
    if cfg!(windows) || reason.starts_with(&format!("{name}: cannot open shared object file")) {
        return Outcome::NotFound;
    }
    let path = reason.split(": ").next().filter(|path| path.starts_with('/')).unwrap_or(name);
    Outcome::Unloadable { path: PathBuf::from(path), reason: reason.to_owned() }
}

/// Opens a file.
fn open_path(
    specification: &Specification,
    path: &Path,
    reason: String,
) -> Result<Opened, Outcome> {
    if !path.is_file() {
        return Err(Outcome::NotFound);
    }
    examine(path)?;
    // SAFETY: as in `open_name`.
    match unsafe { libloading::Library::new(path) } {
        Ok(library) => accept(specification, library, path, reason),
        Err(error) => {
            Err(Outcome::Unloadable { path: path.to_owned(), reason: loader_text(&error) })
        }
    }
}

/// Refuses what is no library of this machine, before the loader maps it.
fn examine(path: &Path) -> Result<(), Outcome> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let refuse = |reason: &str| {
        Err(Outcome::NotALibrary { path: path.to_owned(), reason: reason.to_owned() })
    };
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let [b'\x7f', b'E', b'L', b'F', class, .., machine, _] = header else {
        return refuse("it is no shared library");
    };
    if read.is_err() {
        return refuse("it cannot be read");
    }
    let (is_64_bit, own_machine) = (class == 2, elf_machine());
    if !is_64_bit || own_machine.is_some_and(|own| own != machine) {
        return refuse("it is a library for another kind of machine");
    }
    Ok(())
}

/// Returns the low byte of ELF's number for this machine.
const fn elf_machine() -> Option<u8> {
    if cfg!(target_arch = "x86_64") {
        Some(62)
    } else if cfg!(target_arch = "aarch64") {
        Some(183)
    } else {
        None
    }
}

/// Takes a loaded library, unless it is a stub, which is closed again.
fn accept(
    specification: &Specification,
    library: libloading::Library,
    asked: &Path,
    reason: String,
) -> Result<Opened, Outcome> {
    let origin = Origin::File { path: asked.to_owned(), reason: reason.clone() };
    let mut opened = Opened { source: Source::File(library), origin, version: None };
    let address = opened.symbol(specification.version.symbol());
    let path = address.and_then(file_at).unwrap_or_else(|| asked.to_owned());
    match opened.query_version(specification) {
        Err(status) if Some(status) == specification.stub_status => {
            return Err(Outcome::Stub { path });
        }
        answer => opened.version = answer.ok().flatten(),
    }
    opened.origin = Origin::File { path, reason };
    Ok(opened)
}

/// Returns the file of this library that the process has mapped already.
#[cfg(target_os = "linux")]
fn already_mapped(specification: &Specification) -> Option<PathBuf> {
    use libloading::os::unix::{Library, RTLD_LAZY};
    /// Opens only what is loaded already, as glibc and musl number it.
    const RTLD_NOLOAD: core::ffi::c_int = 4;

    specification.sonames.iter().find_map(|soname| {
        // SAFETY: nothing is loaded, so no initialiser runs.
        let library = unsafe { Library::open(Some(*soname), RTLD_LAZY | RTLD_NOLOAD) }.ok()?;
        let name = specification.version.symbol().to_bytes_with_nul();
        // SAFETY: only the address is taken.
        let symbol = unsafe { library.get::<*mut core::ffi::c_void>(name) }.ok()?;
        file_at(core::ptr::NonNull::new(*symbol)?)
    })
}

#[cfg(not(target_os = "linux"))]
fn already_mapped(_specification: &Specification) -> Option<PathBuf> {
    None
}

/// Tells whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Returns what the system's loader says, without this crate's own words around it.
fn loader_text(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}
