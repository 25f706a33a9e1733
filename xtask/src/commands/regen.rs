//! `cargo xtask regen`: the headers into `cuda-sys/src/generated/`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::api::{self, HeaderSet, Union};
use crate::emit;
use crate::fetch::{Cache, Provides, Wheel};
use crate::manifest::{self, Library};
use crate::workspace;
use crate::{fetch, libclang};

/// Write cuda-sys/src/generated/ from the CUDA headers of every locked release
#[derive(Debug, Args)]
pub(crate) struct Regen {
    /// Change nothing; fail if the committed files differ from what the headers give
    #[arg(long)]
    check: bool,
    /// With --check: also the libraries whose header wheels are large
    #[arg(long, requires = "check")]
    long: bool,
    /// Take the headers of the toolkit installed in DIR too
    #[arg(long, value_name = "DIR")]
    headers: Option<PathBuf>,
    /// List what changed between two releases of the driver's headers
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["check", "headers"])]
    diff: Option<Vec<String>>,
}

impl Regen {
    pub(super) fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let wheels = fetch::wheels()?;
        if let Some(releases) = &self.diff {
            return diff(&cache, &wheels, releases);
        }
        let libraries = manifest::libraries()?;
        let chosen = self.chosen(&libraries, &wheels);
        prepare(&cache, &wheels, &chosen)?;
        let mut united = Vec::new();
        for library in &chosen {
            let sets = self.header_sets(&cache, &wheels, library)?;
            united.push((library.clone(), read_and_unite(library, &sets)?));
        }
        let mut files = emit::emit(&united)?;
        files.extend([emit::index(&libraries)]);
        let is_checked = |path: &Path| {
            let skipped = |library: &Library| path.starts_with(&library.name);
            !libraries.iter().any(|l| skipped(l) && !chosen.iter().any(|c| c.name == l.name))
        };
        let folder = workspace::generated();
        let features = emit::features(&libraries)?;
        if self.check {
            let mut differences = emit::compare(&folder, &files, is_checked)?;
            differences.extend(features.compare()?);
            return Ok(report_check(&differences, &united));
        }
        let mut differences = emit::write(&folder, &files, is_checked)?;
        differences.extend(features.write()?);
        report_written(&differences, &united);
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the libraries to read: all, but for `--check` without `--long`.
    fn chosen(&self, libraries: &[Library], wheels: &[Wheel]) -> Vec<Library> {
        let is_large = |library: &Library| {
            let mut own = wheels.iter().filter(|wheel| wheel.is_headers_of(&library.name, None));
            own.any(Wheel::is_large)
        };
        let all = !self.check || self.long;
        libraries.iter().filter(|library| all || !is_large(library)).cloned().collect()
    }

    /// Returns the locked header sets, and the installed toolkit's if one was named.
    fn header_sets(
        &self,
        cache: &Cache,
        wheels: &[Wheel],
        library: &Library,
    ) -> Result<Vec<HeaderSet>> {
        let mut sets = api::locked(cache, wheels, library)?;
        let Some(folder) = &self.headers else {
            return Ok(sets);
        };
        let newest = sets.iter().map(|set| set.release).max();
        let Some(installed) = api::installed(folder, library)? else {
            println!("{}: not in {}", library.title, folder.display());
            return Ok(sets);
        };
        let release = installed.release;
        if newest.is_some_and(|newest| release > newest) && library.is_driver() {
            println!("CUDA {release} is newer than any locked release: going on with its headers");
        }
        sets.retain(|set| set.release != release);
        sets.push(installed);
        sets.sort_by_key(|set| set.release);
        Ok(sets)
    }
}

/// Brings the headers of `libraries` and libclang into the cache, and readies the parser.
pub(crate) fn prepare(cache: &Cache, wheels: &[Wheel], libraries: &[Library]) -> Result<()> {
    let is_needed = |wheel: &&Wheel| match &wheel.provides {
        Provides::Headers(name) => libraries.iter().any(|library| library.name == *name),
        Provides::Libclang | Provides::CudaBindings | Provides::Numpy => false,
    };
    let mut needed: Vec<&Wheel> = wheels.iter().filter(is_needed).collect();
    needed.extend(libclang::wheel(wheels)?);
    cache.fetch(&needed)?;
    libclang::select(cache, wheels)
}

/// Reads every header set, on all cores, and unites what they declare.
pub(crate) fn read_and_unite(library: &Library, sets: &[HeaderSet]) -> Result<Union> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = sets.len().div_ceil(cores).max(1);
    let read = std::thread::scope(|scope| {
        let readers: Vec<_> = sets
            .chunks(share)
            .map(|sets| {
                let read = || sets.iter().map(|set| api::read(library, set)).collect();
                scope.spawn(read)
            })
            .collect();
        let mut all = Vec::new();
        for reader in readers {
            let Ok(read) = reader.join() else { bail!("{}: the parser panicked", library.title) };
            let read: Result<Vec<api::Api>> = read;
            all.extend(read?);
        }
        Ok(all)
    })?;
    api::unite(library, sets, read)
}

fn diff(cache: &Cache, wheels: &[Wheel], releases: &[String]) -> Result<ExitCode> {
    let library = manifest::library("driver")?;
    prepare(cache, wheels, std::slice::from_ref(&library))?;
    let sets = api::locked(cache, wheels, &library)?;
    let read = |release: &String| {
        let wanted = release.parse()?;
        let known: Vec<String> = sets.iter().map(|set| set.release.to_string()).collect();
        let set = sets.iter().find(|set| set.release == wanted).with_context(|| {
            format!("no headers of CUDA {release} are locked; there are {}", known.join(", "))
        })?;
        api::read(&library, set)
    };
    let [old, new] = releases else { bail!("--diff takes two releases") };
    let lines = api::diff(&read(old)?, &read(new)?);
    lines.iter().for_each(|line| println!("{line}"));
    println!("{} changes from CUDA {old} to {new}", lines.len());
    Ok(ExitCode::SUCCESS)
}

fn report_check(differences: &[emit::Difference], united: &[(Library, Union)]) -> ExitCode {
    if differences.is_empty() {
        println!("cuda-sys/src/generated/ is what the headers give: {}", summary(united));
        return ExitCode::SUCCESS;
    }
    differences.iter().for_each(|difference| println!("{difference}"));
    println!("run `cargo xtask regen` and commit what it changes");
    ExitCode::FAILURE
}

fn report_written(differences: &[emit::Difference], united: &[(Library, Union)]) {
    println!("read {}", summary(united));
    match differences.len() {
        0 => println!("cuda-sys/src/generated/ was up to date"),
        count => println!("wrote {count} files of cuda-sys/src/generated/"),
    }
}

fn summary(united: &[(Library, Union)]) -> String {
    let one = |(library, union): &(Library, Union)| {
        format!(
            "{} ({} releases, {} functions)",
            library.title,
            union.releases.len(),
            union.api.functions.len()
        )
    };
    united.iter().map(one).collect::<Vec<_>>().join(", ")
}
