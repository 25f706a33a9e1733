//! Asks Python's pip for a wheel, so that its configuration (mirrors, proxies, certificates) holds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail};

use super::lock::Wheel;
use super::wheel::sha256;

/// Downloads the wheel into `folder` and returns the file.
pub(super) fn download(wheel: &Wheel, folder: &Path) -> Result<PathBuf> {
    let mut command = pip_download(folder)?;
    command.args(compatibility(&wheel.file)?);
    let requirement = format!("{}=={}", wheel.package, wheel.version);
    // One version can have several files; the hash tells pip which is meant.
    let requirements = folder.join("requirements.txt");
    std::fs::write(&requirements, format!("{requirement} --hash=sha256:{}\n", wheel.sha256))?;
    run(command.arg("--requirement").arg(&requirements), &requirement)?;
    let file = folder.join(&wheel.file);
    if !file.is_file() {
        bail!("{requirement}: the index served another file than {}", wheel.file);
    }
    Ok(file)
}

/// Downloads `package==version` and returns its entry for the lock file.
pub(crate) fn describe(requirement: &str, provides: &str, release: Option<&str>) -> Result<String> {
    let Some((package, version)) = requirement.split_once("==") else {
        bail!("`{requirement}` names no version; write it as package==version");
    };
    let scratch = tempfile::tempdir()?;
    run(pip_download(scratch.path())?.arg(requirement), requirement)?;
    let entry = std::fs::read_dir(scratch.path())?.next().context("pip downloaded nothing")??;
    let size = entry.metadata()?.len();
    let release = release.map(|release| format!("release = \"{release}\"\n")).unwrap_or_default();
    Ok(format!(
        "[[wheel]]\nprovides = \"{provides}\"\n{release}package = \"{package}\"\nversion = \
         \"{version}\"\nfile = \"{}\"\nsha256 = \"{}\"\nsize = {size}\n",
        entry.file_name().to_string_lossy(),
        sha256(&entry.path())?,
    ))
}

/// Installs the packages of a requirements file, which names a hash for each, into `folder`.
pub(super) fn install(requirements: &Path, folder: &Path) -> Result<()> {
    let mut command = pip("install")?;
    command.args(["--require-hashes", "--no-compile", "--target"]).arg(folder);
    command.arg("--requirement").arg(requirements);
    run(&mut command, &requirements.display().to_string())
}

/// Returns the version of the Python that programs are run with, as 3.11.
pub(super) fn python_version() -> Result<String> {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", program]).output();
    let output = output.context("python3 could not be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Starts a `pip download` into `folder` of one wheel without what it depends on.
fn pip_download(folder: &Path) -> Result<Command> {
    let mut command = pip("download")?;
    command.arg("--dest").arg(folder);
    Ok(command)
}

/// Starts pip on wheels alone, without what they depend on.
fn pip(subcommand: &str) -> Result<Command> {
    let python = ["python3", "python"]
        .into_iter()
        .find(|python| {
            let asked = Command::new(python).args(["-m", "pip", "--version"]).output();
            asked.is_ok_and(|output| output.status.success())
        })
        .context("wheels are fetched with Python's pip, and neither python3 nor python has it")?;
    let mut command = Command::new(python);
    command.args(["-m", "pip", subcommand, "--quiet", "--disable-pip-version-check"]);
    command.args(["--no-deps", "--no-cache-dir", "--only-binary=:all:"]);
    Ok(command)
}

/// Says the wheel's own tags, so that the machine's don't decide which file is served.
fn compatibility(file: &str) -> Result<Vec<String>> {
    let stem = file.strip_suffix(".whl").unwrap_or(file);
    let mut tags = stem.rsplit('-');
    let (Some(platforms), Some(abi), Some(python)) = (tags.next(), tags.next(), tags.next()) else {
        bail!("`{file}` is not named as wheels are");
    };
    let python = python.rsplit('.').next().unwrap_or(python);
    let mut arguments = Vec::new();
    let mut say = |option: &str, value: &str| {
        arguments.push(option.to_owned());
        arguments.push(value.to_owned());
    };
    for platform in platforms.split('.') {
        say("--platform", platform);
    }
    say("--implementation", python.get(..2).unwrap_or("py"));
    say("--python-version", python.get(2..).unwrap_or("3"));
    say("--abi", abi);
    Ok(arguments)
}

/// Runs pip; a failure is the last line that it calls an error.
fn run(command: &mut Command, requirement: &str) -> Result<()> {
    let Output { status, stderr, .. } = command.output().context("pip could not be started")?;
    if status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&stderr);
    if stderr.contains("DO NOT MATCH THE HASHES") {
        bail!("{requirement}: bad hash: the index has no file with the sha256 of headers.lock");
    }
    let said = stderr.lines().rev().find(|line| line.starts_with("ERROR"));
    bail!("cannot fetch {requirement}: {}", said.unwrap_or("pip failed without a reason"));
}
