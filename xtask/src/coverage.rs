//! Compares what the fetched headers declare with what the compiled `cuda-sys` binds.
//!
//! The declarations come from the C compiler's preprocessor and a scanner of our own, the numbers
//! from programs that the C compiler makes. Neither bindgen nor the generator has a part in it, so
//! that a mistake of theirs shows. What the crate has is asked of the Rust compiler.

mod c;
mod calls;
mod exceptions;
mod exports;
mod facts;
mod history;
mod items;
mod lexer;
mod preprocess;
mod probe;
mod pxd;
mod report;
mod rust_types;
mod scan;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

pub(crate) use report::Report;

use crate::api;
use crate::fetch::{Cache, Provides, Wheel};
use crate::manifest::Library;
use calls::Symbols;
use exceptions::Excuses;
use items::Item;
use preprocess::Compiler;
use probe::Probe;
use report::Symbol;
use survey::Survey;

/// Is everything that `cuda-sys` must have, and what is known without looking at it.
#[derive(Default)]
pub(crate) struct Declared {
    pub(crate) libraries: Vec<String>,
    items: Vec<Item>,
    /// Every function; `bound` is filled in by the probe.
    symbols: Vec<Symbol>,
    /// Where the sources contradict one another.
    problems: Vec<String>,
    /// What is compared with the checked calls: the driver's symbols.
    calls: Symbols,
    /// The lists of exports and the published files that were compared.
    compared: Vec<String>,
}

/// Brings what the comparison needs into the cache.
pub(crate) fn prepare(cache: &Cache, wheels: &[Wheel], libraries: &[Library]) -> Result<()> {
    let is_needed = |wheel: &&Wheel| match &wheel.provides {
        Provides::Headers(name) => libraries.iter().any(|library| library.name == *name),
        Provides::CudaBindings => true,
        Provides::Libclang | Provides::Numpy => false,
    };
    let needed: Vec<&Wheel> = wheels.iter().filter(is_needed).collect();
    cache.fetch(&needed)
}

/// Reads the headers of all releases.
pub(crate) fn surveys(
    cache: &Cache,
    wheels: &[Wheel],
    libraries: &[Library],
) -> Result<Vec<Survey>> {
    let compiler = Compiler::find()?;
    let survey = |library: &Library| {
        let sets = api::locked(cache, wheels, library)?;
        survey::survey(&compiler, library, &sets)
    };
    libraries.iter().map(survey).collect()
}

/// Compares the releases with one another, with the exports of real libraries and with NVIDIA's
/// published declarations.
pub(crate) fn declared(cache: &Cache, wheels: &[Wheel], surveys: &[Survey]) -> Result<Declared> {
    let mut excuses = Excuses::default();
    let mut declared = Declared::default();
    for survey in surveys {
        declared.add(survey, cache, wheels, &mut excuses)?;
    }
    declared.problems.extend(excuses.unused(&declared.libraries));
    Ok(declared)
}

impl Declared {
    fn add(
        &mut self,
        survey: &Survey,
        cache: &Cache,
        wheels: &[Wheel],
        excuses: &mut Excuses,
    ) -> Result<()> {
        let library = &survey.library;
        self.libraries.push(library.name.clone());
        self.problems.extend(history::history(survey, excuses));
        if library.is_driver() {
            let sets = api::locked(cache, wheels, library)?;
            self.calls = Symbols::new(survey, &calls::chapters(library, &sets)?);
        }
        let origins = survey.origins(&mut self.problems);
        self.items.extend(items::items(survey, &origins)?);
        for list in exports::exports(&library.name)? {
            let is_exact = !library.typedefs.is_empty();
            self.problems.extend(exports::compare(&list, &origins, is_exact, excuses));
            self.compared.push(format!(
                "{}: {} exports compared with the functions up to CUDA {}",
                list.name,
                list.symbols.len(),
                list.release
            ));
        }
        let mut known = BTreeSet::new();
        for pxd in pxd::published(cache, wheels, &library.name)? {
            let items = pxd::items(survey, &pxd, excuses, &mut self.problems)?;
            self.compared.push(format!("{}: {} names compared", pxd.name, items.len()));
            // The files repeat one another.
            self.items.extend(items.into_iter().filter(|item| known.insert(item.code.clone())));
        }
        let symbol = |(name, origin): (&&str, &survey::Origin)| Symbol {
            library: library.name.clone(),
            header: origin.header.clone(),
            name: (*name).to_owned(),
            since: origin.since,
            deprecated: origin.deprecated,
            bound: true,
        };
        self.symbols.extend(origins.iter().map(symbol));
        Ok(())
    }

    /// Looks for all of it in the crate in `folder`, and for the calls in the folder `calls`.
    pub(crate) fn look(&self, folder: &Path, calls: &Path) -> Result<Report> {
        let mut report = self.look_with(&Probe::new("probe", folder, &self.libraries))?;
        if self.libraries.iter().any(|library| library == "driver") {
            let (counted, problems) = self.calls.compare(calls)?;
            report.calls = Some(counted);
            report.problems.extend(problems);
        }
        Ok(report)
    }

    fn look_with(&self, probe: &Probe) -> Result<Report> {
        Ok(Report::new(self, &probe.check(&self.items)?))
    }
}
