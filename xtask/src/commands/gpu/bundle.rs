//! Builds the test programs and examples, strips them, and puts them beside a script.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::test_programs::{self, TestProgram};
use crate::workspace;

/// The most bytes that the compressed bundle may have.
const LIMIT: u64 = 40_000_000;

/// The members whose tests use a device.
const MEMBERS: [&str; 4] = ["cuda-sys", "cuda-safe", "cuda-ipc", "cuda-sim"];

/// The tests of the simulator that compare it with a device.
const OF_BOTH: [&str; 2] = ["capture_classes", "rows"];

/// The examples that go along, by name.
const EXAMPLES: [&str; 3] = ["bandwidth", "doctor", "share_image"];

/// Runs every program; its argument is the folder for the results.
const RUN: &str = include_str!("run.sh");

/// Runs every program under the toolkit's memory checker; its argument is the folder for the results.
const MEMCHECK: &str = include_str!("memcheck.sh");

pub(super) fn bundle() -> Result<ExitCode> {
    let folder = workspace::root().join("target/gpu/bundle");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    for part in ["tests", "examples"] {
        std::fs::create_dir_all(folder.join(part))?;
    }
    let mut count = 0;
    let is_there = |member: &&str| workspace::root().join(member).exists();
    let members: Vec<&str> = MEMBERS.into_iter().filter(is_there).collect();
    for program in test_programs::build(&members)? {
        let Some(place) = place(&program) else { continue };
        add(&program.file, &folder.join(place))?;
        count += 1;
    }
    std::fs::write(folder.join("commit"), commit()?)?;
    write_script(&folder.join("run"), RUN)?;
    write_script(&folder.join("memcheck"), MEMCHECK)?;
    let bytes = pack(&folder)?;
    println!("{count} programs, {} MB: {}.tar.xz", bytes / 1_000_000, folder.display());
    println!("there: tar xJf bundle.tar.xz; bundle/run RESULTS; bundle/memcheck RESULTS");
    println!("here:  cargo xtask gpu --report RESULTS");
    if bytes > LIMIT {
        bail!("the bundle has {bytes} bytes; {LIMIT} are the most");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns where a program goes; none for one that needs no device.
fn place(program: &TestProgram) -> Option<PathBuf> {
    let (member, target) = (program.member.as_str(), program.target.as_str());
    if program.is("example") {
        return EXAMPLES.contains(&target).then(|| Path::new("examples").join(target));
    }
    // Fake drivers are built by a compiler that is not there; layouts need no device.
    let needs_compiler = member == "cuda-sys" && target != "driver";
    let is_pure = target.starts_with("layout") || !program.is("test");
    let is_simulators = member == "cuda-sim" && !OF_BOTH.contains(&target);
    (!needs_compiler && !is_pure && !is_simulators)
        .then(|| Path::new("tests").join(format!("{member}-{target}")))
}

/// Copies a program without what a debugger wants.
fn add(program: &Path, target: &Path) -> Result<()> {
    let status = Command::new("strip").arg("-o").args([target, program]).status();
    if !status.is_ok_and(|status| status.success()) {
        std::fs::copy(program, target)
            .with_context(|| format!("cannot copy {}", program.display()))?;
    }
    Ok(())
}

fn commit() -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(workspace::root())
            .output()
            .context("git could not be started")?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = !git(&["status", "--porcelain"])?.is_empty();
    Ok(git(&["rev-parse", "HEAD"])? + if changed { " and changes\n" } else { "\n" })
}

fn write_script(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Compresses the folder beside itself; returns the size.
fn pack(folder: &Path) -> Result<u64> {
    let parent = folder.parent().context("the bundle has no parent folder")?;
    let archive = parent.join("bundle.tar.xz");
    // The programs have most of their code in common, which is only seen by who remembers them all.
    let status = Command::new("tar")
        .env("XZ_OPT", "--lzma2=preset=2,dict=256MiB")
        .arg("cJf")
        .arg(&archive)
        .arg("-C")
        .arg(parent)
        .arg("bundle")
        .status()
        .context("tar could not be started")?;
    if !status.success() {
        bail!("tar failed");
    }
    Ok(std::fs::metadata(archive)?.len())
}
