//! Brings the wheels that `headers.lock` pins into the cache, and takes files out of them.
//!
//! What a header says is not read here; see `api`.

mod lock;
mod pip;
mod wheel;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use lock::{Provides, Wheel, wheels};
pub(crate) use pip::describe;

use crate::release::Release;

/// How many downloads run at once.
const DOWNLOADS: usize = 4;

/// Is the folder that keeps what was fetched: `cuda-in-rust` under `XDG_CACHE_HOME`.
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Finds the cache by `XDG_CACHE_HOME`, then by `HOME`.
    pub(crate) fn open() -> Result<Self> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let base = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .context("neither XDG_CACHE_HOME nor HOME names a folder for the cache")?;
        let root = base.join("cuda-in-rust");
        std::fs::create_dir_all(&root)
            .with_context(|| format!("cannot make {}", root.display()))?;
        Ok(Self { root })
    }

    /// Returns where the wheel's contents lie, unpacked.
    pub(crate) fn unpacked(&self, wheel: &Wheel) -> PathBuf {
        let hash = wheel.sha256.get(..16).unwrap_or(&wheel.sha256);
        self.root.join(format!("{}-{}-{hash}", wheel.package, wheel.version))
    }

    /// Makes sure that every one of `wheels` is here, unpacked, and says what it fetched.
    pub(crate) fn fetch(&self, wheels: &[&Wheel]) -> Result<()> {
        let absent: Vec<&Wheel> =
            wheels.iter().copied().filter(|wheel| !self.unpacked(wheel).exists()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let bytes = absent.iter().map(|wheel| wheel.size).sum();
        let bar = progress_bar(bytes)?;
        bar.println(format!(
            "fetching {} wheels, {} MB, into {}",
            absent.len(),
            bytes / 1_000_000,
            self.root.display()
        ));
        self.fetch_all(&absent, &bar)?;
        bar.finish_and_clear();
        Ok(())
    }

    /// Runs the downloads on a few threads; the first failure stops the rest.
    fn fetch_all(&self, absent: &[&Wheel], bar: &ProgressBar) -> Result<()> {
        let queue = Mutex::new(absent.iter());
        let failure = Mutex::new(None);
        let next = || {
            if failure.lock().ok()?.is_some() {
                return None;
            }
            queue.lock().ok()?.next().copied()
        };
        std::thread::scope(|scope| {
            for _ in 0..DOWNLOADS.min(absent.len()) {
                scope.spawn(|| {
                    while let Some(wheel) = next() {
                        bar.set_message(format!("{} {}", wheel.package, wheel.version));
                        match self.fetch_one(wheel) {
                            Ok(()) => bar.inc(wheel.size),
                            Err(error) => {
                                if let Ok(mut failure) = failure.lock() {
                                    failure.get_or_insert(error);
                                }
                            }
                        }
                    }
                });
            }
        });
        match failure.into_inner() {
            Ok(Some(error)) => Err(error),
            Ok(None) => Ok(()),
            Err(_) => bail!("a download thread panicked"),
        }
    }

    /// Downloads into a scratch folder beside the target and moves the result in one step, so that
    /// whatever stops it leaves nothing half written.
    fn fetch_one(&self, wheel: &Wheel) -> Result<()> {
        let scratch = tempfile::tempdir_in(&self.root)
            .with_context(|| format!("cannot write in {}", self.root.display()))?;
        let file = pip::download(wheel, scratch.path())?;
        wheel::verify(wheel, &file)?;
        let contents = scratch.path().join("contents");
        wheel::unpack(wheel, &file, &contents)?;
        let target = self.unpacked(wheel);
        match std::fs::rename(&contents, &target) {
            Err(_) if target.exists() => Ok(()),
            other => other.with_context(|| format!("cannot make {}", target.display())),
        }
    }

    /// Makes sure that the packages of a requirements file are installed for this machine's Python,
    /// and returns their folder.
    pub(crate) fn python_packages(&self, requirements: &Path) -> Result<PathBuf> {
        let hash = wheel::sha256(requirements)?;
        let hash = hash.get(..16).unwrap_or(&hash);
        let target = self.root.join(format!("python-{}-{hash}", pip::python_version()?));
        if !target.exists() {
            let scratch = tempfile::tempdir_in(&self.root)
                .with_context(|| format!("cannot write in {}", self.root.display()))?;
            let packages = scratch.path().join("packages");
            pip::install(requirements, &packages)?;
            match std::fs::rename(&packages, &target) {
                Err(_) if target.exists() => {}
                other => other.with_context(|| format!("cannot make {}", target.display()))?,
            }
        }
        Ok(target)
    }

    /// Returns the folder inside the wheel that holds a file of that name.
    pub(crate) fn folder_of(&self, wheel: &Wheel, name: &str) -> Result<PathBuf> {
        let root = self.unpacked(wheel);
        find(&root, name)
            .with_context(|| format!("{} {} holds no {name}", wheel.package, wheel.version))
    }

    /// Returns the include folders of one release of a library: one for each of its wheels.
    pub(crate) fn include_folders(
        &self,
        wheels: &[Wheel],
        library: &str,
        release: Release,
        headers: &[String],
    ) -> Result<Vec<PathBuf>> {
        let mut folders = Vec::new();
        for wheel in wheels.iter().filter(|wheel| wheel.is_headers_of(library, Some(release))) {
            let root = self.unpacked(wheel);
            let folder = headers.iter().find_map(|header| find(&root, header));
            folders.push(folder.with_context(|| {
                format!("{} {} holds no header of {library}", wheel.package, wheel.version)
            })?);
        }
        Ok(folders)
    }
}

/// Returns the folder under `root` that holds a file of that name, the first in order of names.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    if root.join(name).is_file() {
        return Some(root.to_owned());
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.iter().find_map(|folder| find(folder, name))
}

fn progress_bar(bytes: u64) -> Result<ProgressBar> {
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} {wide_msg}")?;
    Ok(ProgressBar::new(bytes).with_style(style))
}
