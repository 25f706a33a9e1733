//! `cargo xtask outside`: a crate of somebody else's, made of nothing but the packages.
//!
//! What a package leaves out is missed only outside of the workspace: a file that is read while it is
//! compiled, a dependency that the workspace provides. Each run unpacks and builds in a folder of its
//! own: cargo takes what it unpacked earlier for the same version, and so builds one package against
//! another's earlier text.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace;

/// The members that are not published.
const KEPT: [&str; 2] = ["xtask", "cuda-sim-library"];

/// The program, which runs on the simulator if it is told to.
const PROGRAM: &str = "cuda-safe/examples/saxpy.rs";
/// What it says if it computed what it should.
const ANSWER: &str = "0 of 10000 elements are wrong";

/// Package the crates, make a crate outside of the workspace that depends on every package, and run
/// the saxpy example there
#[derive(Debug, Args)]
pub(crate) struct Outside;

impl Outside {
    pub(super) fn run(self) -> Result<ExitCode> {
        let folder = tempfile::tempdir()?;
        let packages = unpack(&package()?, folder.path())?;
        let made = make(folder.path(), &packages)?;
        let output = Command::new(cargo())
            .args(["run", "--quiet", "--", "--simulated"])
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .current_dir(&made)
            .stderr(Stdio::inherit())
            .output()
            .context("cargo could not be started")?;
        let said = String::from_utf8_lossy(&output.stdout);
        print!("{said}");
        let is_right = output.status.success() && said.lines().any(|line| line == ANSWER);
        println!(
            "a crate of {} packages {}",
            packages.len(),
            if is_right { "runs" } else { "does not run" }
        );
        Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// Packages the members that are published, and returns the files.
fn package() -> Result<Vec<PathBuf>> {
    let folder = workspace::target().join("package");
    remove_packages(&folder)?;
    let status = workspace::cargo()
        .args(["package", "--quiet", "--workspace", "--no-verify", "--allow-dirty"])
        .args(KEPT.map(|member| format!("--exclude={member}")))
        .status()
        .context("cargo could not be started")?;
    if !status.success() {
        bail!("the members are not packaged");
    }
    let packages = packages(&folder)?;
    if packages.is_empty() {
        bail!("cargo left no package in {}", folder.display());
    }
    Ok(packages)
}

fn packages(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "crate") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Removes the packages of earlier versions and members.
fn remove_packages(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        for package in packages(folder)? {
            std::fs::remove_file(&package).with_context(|| package.display().to_string())?;
        }
    }
    Ok(())
}

/// Unpacks packages, and returns the name and the folder of each.
fn unpack(packages: &[PathBuf], folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut unpacked = Vec::new();
    for package in packages {
        let status = Command::new("tar").arg("-xzf").arg(package).current_dir(folder).status();
        if !status.context("tar could not be started")?.success() {
            bail!("{} is not unpacked", package.display());
        }
        let stem = package.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (name, _version) = stem.rsplit_once('-').context("a package has no version")?;
        unpacked.push((name.to_owned(), folder.join(&stem)));
    }
    Ok(unpacked)
}

/// Makes the crate, and returns its folder.
fn make(folder: &Path, packages: &[(String, PathBuf)]) -> Result<PathBuf> {
    let status = Command::new(cargo())
        .args(["new", "--quiet", "--bin", "--vcs=none", "outside"])
        .current_dir(folder)
        .status()
        .context("cargo could not be started")?;
    if !status.success() {
        bail!("cargo makes no crate in {}", folder.display());
    }
    let made = folder.join("outside");
    let manifest = made.join("Cargo.toml");
    let mut text = std::fs::read_to_string(&manifest)?;
    // What `cargo new` writes ends with an empty list of dependencies.
    for (name, _path) in packages {
        text += &format!("{name} = \"*\"\n");
    }
    text.push_str("\n[patch.crates-io]\n");
    for (name, path) in packages {
        text += &format!("{name} = {{ path = {:?} }}\n", path.display().to_string());
    }
    std::fs::write(&manifest, text)?;
    // The versions of everything else are those that the workspace is tested with.
    std::fs::copy(workspace::root().join("Cargo.lock"), made.join("Cargo.lock"))?;
    std::fs::copy(workspace::root().join(PROGRAM), made.join("src/main.rs"))?;
    Ok(made)
}
