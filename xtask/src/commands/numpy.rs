//! `cargo xtask numpy`: layouts against the locked NumPy, by random cases.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::Args;

use super::vectors;
use crate::fetch::{self, Cache, Provides, Wheel};
use crate::workspace;

const SEED: u64 = 1;
const CASES: u32 = 10_000;

/// Compare layouts with NumPy, by random cases
#[derive(Debug, Args)]
pub(crate) struct Numpy {
    /// Chooses the cases
    #[arg(long, default_value_t = SEED)]
    seed: u64,
    /// How many cases
    #[arg(long, default_value_t = CASES)]
    cases: u32,
}

impl Default for Numpy {
    fn default() -> Self {
        Self { seed: SEED, cases: CASES }
    }
}

impl Numpy {
    pub(super) fn run(self) -> Result<ExitCode> {
        Ok(if self.compare()? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Tells whether every case gave NumPy's answer; where that NumPy can't run, says so, and that
    /// nothing was found to differ.
    pub(super) fn compare(&self) -> Result<bool> {
        let wheels = fetch::wheels()?;
        let is_numpy = |wheel: &&Wheel| wheel.provides == Provides::Numpy;
        let wheel = wheels.iter().find(is_numpy).context("xtask/headers.lock has no NumPy")?;
        let Some(python) = python_of(wheel)? else {
            println!("not run: layouts against NumPy (no Python that {} is of)", wheel.file);
            return Ok(true);
        };
        let cache = Cache::open()?;
        cache.fetch(&[wheel])?;
        let scratch = tempfile::tempdir()?;
        let file = scratch.path().join("cases.json");
        self.ask(&python, &cache.unpacked(wheel), &file)?;
        println!("layouts against NumPy {}, cases of seed {}:", wheel.version, self.seed);
        vectors::pass(&[file])
    }

    /// Has NumPy write the cases.
    fn ask(&self, python: &str, packages: &Path, file: &Path) -> Result<()> {
        let status = Command::new(python)
            .arg("-B")
            .arg(workspace::root().join("xtask/numpy/cases.py"))
            .args([self.seed.to_string(), self.cases.to_string()])
            .env("PYTHONPATH", packages)
            .stdout(File::create(file)?)
            .status()
            .with_context(|| format!("{python} could not be started"))?;
        if !status.success() {
            bail!("xtask/numpy/cases.py failed; see above");
        }
        Ok(())
    }
}

/// Finds the Python that the wheel's tags name; none if there is none on this machine.
fn python_of(wheel: &Wheel) -> Result<Option<String>> {
    let mut tags = wheel.file.trim_end_matches(".whl").rsplit('-').skip(1);
    let abi = tags.next().context("a wheel has no tags")?;
    let version = abi.strip_prefix("cp3").context("NumPy's wheel is of another Python")?;
    if !wheel.fits_this_machine() || !cfg!(target_os = "linux") {
        return Ok(None);
    }
    let tag = format!("cpython-3{version}");
    let is_it = |python: &String| {
        let question = "import sys; print(sys.implementation.cache_tag)";
        let output = Command::new(python).args(["-c", question]).output();
        output.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).trim() == tag)
    };
    let names = [format!("python3.{version}"), "python3".to_owned(), "python".to_owned()];
    Ok(names.into_iter().find(is_it))
}
