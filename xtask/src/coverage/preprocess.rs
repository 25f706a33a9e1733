//! Runs the C compiler: its preprocessor over the headers, and a program that it makes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail};

use super::c::Declarations;
use super::{lexer, scan};
use crate::api::HeaderSet;
use crate::manifest::Library;
use crate::workspace;

/// Is how a library's headers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As the manifest says: every version of every function.
    Every,
    /// As a C program reads them: the newest version of each function.
    Plain,
}

/// Is the C compiler, `$CC` or `cc`, with the headers that no compiler brings.
///
/// C's own headers are the system's: a stand-in that gives a type a wrong size would be wrong here
/// and for bindgen alike, and nobody would know. Those of OpenGL, EGL and VDPAU are ours, since few
/// systems have them.
pub(crate) struct Compiler {
    command: String,
    scratch: tempfile::TempDir,
}

impl Compiler {
    /// Finds the compiler and lays out the stand-ins for it.
    pub(crate) fn find() -> Result<Self> {
        let command = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let asked = Command::new(&command).arg("--version").output();
        if !asked.is_ok_and(|output| output.status.success()) {
            bail!("coverage compares with a C compiler, and `{command}` (CC) is none");
        }
        let scratch = tempfile::tempdir()?;
        for stub in ["EGL/egl.h", "EGL/eglext.h", "GL/gl.h", "vdpau/vdpau.h"] {
            let copy = scratch.path().join(stub);
            std::fs::create_dir_all(copy.parent().unwrap_or(scratch.path()))?;
            std::fs::copy(workspace::stubs().join(stub), copy)?;
        }
        Ok(Self { command, scratch })
    }

    /// Reads what the headers of one release declare.
    pub(crate) fn declarations(
        &self,
        library: &Library,
        set: &HeaderSet,
        mode: Mode,
    ) -> Result<Declarations> {
        let context = || format!("{} {}", library.title, set.release);
        let name = format!("{}-{}-{mode:?}", library.name, set.release);
        let source = self.write(&format!("{name}.c"), &includes(library, set))?;
        let mut command = self.command(library, set, mode);
        let output = command.args(["-E", "-dD"]).arg(&source).output()?;
        let text = success(&output).with_context(context)?;
        let headers: Vec<&str> =
            library.headers.iter().chain(library.typedefs.keys()).map(String::as_str).collect();
        let unit = lexer::read(&text, |path| {
            let path = Path::new(path);
            let name = path.file_name()?.to_str()?;
            let is_ours = set.folders.iter().any(|folder| path.starts_with(folder));
            (is_ours && headers.contains(&name)).then(|| name.to_owned())
        });
        scan::scan(unit).with_context(context)
    }

    /// Compiles a program that includes the headers of one release, and returns what it prints.
    pub(crate) fn run(&self, library: &Library, set: &HeaderSet, program: &str) -> Result<String> {
        let name = format!("{}-{}-facts", library.name, set.release);
        let text = format!("{}#include <stdio.h>\n{program}", includes(library, set));
        let source = self.write(&format!("{name}.c"), &text)?;
        let binary = self.scratch.path().join(&name);
        let mut command = self.command(library, set, Mode::Every);
        let output = command.args(["-w", "-O0", "-o"]).arg(&binary).arg(&source).output()?;
        let context = || format!("{} {}: the program of facts", library.title, set.release);
        success(&output).with_context(context)?;
        success(&Command::new(&binary).output()?).with_context(context)
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let file = self.scratch.path().join(name);
        std::fs::write(&file, text)?;
        Ok(file)
    }

    fn command(&self, library: &Library, set: &HeaderSet, mode: Mode) -> Command {
        let mut command = Command::new(&self.command);
        command.args(["-std=gnu11", "-isystem"]).arg(self.scratch.path());
        command.args(set.folders.iter().map(|folder| format!("-I{}", folder.display())));
        if mode == Mode::Every {
            command.args(library.defines.iter().map(|define| format!("-D{define}")));
        }
        command
    }
}

/// Includes every header that the release has, and those of the functions' pointer types.
fn includes(library: &Library, set: &HeaderSet) -> String {
    let typedefs = library.typedefs.iter().filter(|(typedefs, header)| {
        // A header of pointer types includes the one whose functions it names.
        set.file(typedefs).is_some() && set.file(header).is_some()
    });
    let typedefs = typedefs.map(|(typedefs, _)| typedefs.as_str());
    let headers = library.prelude.iter().map(String::as_str).chain(set.present(library));
    headers.chain(typedefs).map(|header| format!("#include <{header}>\n")).collect()
}

/// Returns what the program printed, or the first line of its complaint.
fn success(output: &Output) -> Result<String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let error = complaint.lines().find(|line| line.contains("error"));
    bail!("{}", error.or(complaint.lines().next()).unwrap_or("failed without a word"))
}
