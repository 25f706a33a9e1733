//! `cargo xtask simulator`: the simulated driver in a folder, by the names of a real one.

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Deserialize;

use crate::workspace;

/// Put the simulated driver into a folder as libcuda.so.1, and print the folder for LD_LIBRARY_PATH
#[derive(Debug, Args)]
pub(crate) struct Simulator {
    /// The folder; made if it isn't there
    #[arg(default_value = "target/simulator")]
    folder: PathBuf,
}

/// Is one line of cargo's messages.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    filenames: Vec<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Simulator {
    pub(super) fn run(self) -> Result<ExitCode> {
        if !cfg!(target_os = "linux") {
            bail!("the simulator needs Linux");
        }
        let library = build()?;
        let made = std::fs::create_dir_all(&self.folder).and_then(|()| self.folder.canonicalize());
        let folder = made.with_context(|| format!("cannot make {}", self.folder.display()))?;
        put(&library, &folder)
            .with_context(|| format!("cannot put the library into {}", folder.display()))?;
        println!("{}", folder.display());
        Ok(ExitCode::SUCCESS)
    }
}

/// Builds the library and returns its file.
fn build() -> Result<PathBuf> {
    let output = workspace::cargo()
        .args(["build", "--release", "--package=cuda-sim-library", "--message-format=json"])
        .arg("--quiet")
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    if !output.status.success() {
        bail!("the library does not build");
    }
    let lines = String::from_utf8(output.stdout)?;
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    messages
        .filter(|message| {
            message.target.as_ref().is_some_and(|target| target.name == "cuda_sim_library")
        })
        .flat_map(|message| message.filenames)
        .find(|file| file.extension().is_some_and(|extension| extension == "so"))
        .context("cargo names no shared library")
}

/// Copies the library under the driver's names. A process that has the old file keeps it.
fn put(library: &Path, folder: &Path) -> std::io::Result<()> {
    let new = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::copy(library, new.path())?;
    std::fs::set_permissions(new.path(), std::fs::metadata(library)?.permissions())?;
    new.persist(folder.join("libcuda.so.1"))?;
    // Some programs look for the driver by the name that a toolkit's stub has.
    let link = folder.join("libcuda.so");
    match std::fs::remove_file(&link) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("libcuda.so.1", link)?;
    Ok(())
}
