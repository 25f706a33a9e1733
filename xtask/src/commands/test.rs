//! `cargo xtask test`: every test, with what the tests need beside the source.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

use super::numpy::Numpy;
use crate::fetch::{self, Cache, Provides, Wheel};
use crate::libclang;
use crate::manifest;
use crate::release::Release;
use crate::workspace;

/// Names the folder with the packages of the tests in Python.
const PYTHON_PACKAGES: &str = "CUDA_SIM_PYTHON_PACKAGES";

/// Names the folder with the driver's header of the release whose answers were measured.
const HEADERS: &str = "CUDA_SIM_HEADERS";
const MEASURED: Release = Release::from_number(13_000);

/// Run every test, and compare layouts with NumPy; fetches the headers, NVRTC, which compiles kernels
/// without a GPU, and NumPy
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Passed on to `cargo test`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode> {
        let nvrtc = nvrtc()?;
        let variable = manifest::library("nvrtc")?.load.r#override;
        let mut command = workspace::cargo();
        match python_packages() {
            Ok(packages) => {
                command.env(PYTHON_PACKAGES, packages);
            }
            Err(error) => println!("the tests in Python are not run: {error:#}"),
        }
        command.env(HEADERS, measured_headers()?);
        let status = command
            .args(["test", "--workspace", "--all-features"])
            .args(&self.arguments)
            .env(variable, nvrtc)
            .status()
            .context("cargo could not be started")?;
        // Who asks for some tests by name asks for those.
        let numpy_agrees = !self.arguments.is_empty() || Numpy::default().compare()?;
        Ok(if status.success() && numpy_agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns the folder with `cuda.h` of the release whose answers were measured, which is in the cache.
fn measured_headers() -> Result<PathBuf> {
    let (wheels, cache) = (fetch::wheels()?, Cache::open()?);
    let mut its = wheels.iter().filter(|wheel| wheel.is_headers_of("driver", Some(MEASURED)));
    its.find_map(|wheel| cache.folder_of(wheel, "cuda.h").ok())
        .with_context(|| format!("xtask/headers.lock has no cuda.h of {MEASURED}"))
}

/// Brings NVIDIA's binding for Python, which a test runs a program with.
fn python_packages() -> Result<PathBuf> {
    let requirements = "cuda-sim/library/tests/python/requirements.txt";
    Cache::open()?.python_packages(&workspace::root().join(requirements))
}

/// Brings what the tests read into the cache, in one go and with a progress bar; returns the newest
/// locked NVRTC.
fn nvrtc() -> Result<PathBuf> {
    let library = manifest::library("nvrtc")?;
    let wheels = fetch::wheels()?;
    let is_nvrtc = |wheel: &&Wheel| wheel.is_headers_of(&library.name, None);
    let newest = wheels.iter().filter(is_nvrtc).max_by_key(|wheel| wheel.release);
    let newest = newest.context("xtask/headers.lock has no wheel of NVRTC")?;
    let is_read = |wheel: &&Wheel| match wheel.provides {
        Provides::Headers(_) => !wheel.is_large(),
        Provides::CudaBindings => true,
        Provides::Libclang | Provides::Numpy => false,
    };
    let mut needed: Vec<&Wheel> = wheels.iter().filter(is_read).collect();
    needed.extend(libclang::wheel(&wheels)?);
    needed.push(newest);
    let cache = Cache::open()?;
    cache.fetch(&needed)?;
    let name = library.load.sonames.first().context("NVRTC has no name")?;
    Ok(cache.folder_of(newest, name)?.join(name))
}
