//! Compares the driver's declarations with the checked calls of `cuda-safe`: each symbol is
//! annotated or excused, parameters are the header's, and a chapter that says that it is whole is.
//!
//! The annotations are read as text, so that this works when `cuda-safe` doesn't compile.

mod annotation;
mod chapters;
mod excuse;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

pub(crate) use annotation::Page;
pub(super) use chapters::chapters;
pub(crate) use excuse::Excuse;

use super::rust_types::identifier;
use super::survey::Survey;

/// Is what the headers say of the driver's symbols.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    /// The parameters' names, in order, as the crate writes them.
    parameters: BTreeMap<String, Vec<String>>,
    /// The chapter of the manual that a symbol is in, where the headers say one.
    chapters: BTreeMap<String, String>,
}

/// Counts the driver's symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Calls {
    pub(crate) annotated: usize,
    pub(crate) excused: usize,
    pub(crate) symbols: usize,
}

impl Symbols {
    /// Reads the newest declaration of every function; `chapters` are by the name that a C program
    /// writes.
    pub(crate) fn new(survey: &Survey, chapters: &BTreeMap<String, String>) -> Self {
        let mut symbols = Self::default();
        for (name, (_, function)) in survey.newest(|declared| &declared.functions) {
            let parameters = &function.signature.parameters;
            let names =
                parameters.iter().map(|field| identifier(field.name.as_deref().unwrap_or("")));
            symbols.parameters.insert(name.to_owned(), names.collect());
            if let Some(chapter) = chapters.get(plain(name)) {
                symbols.chapters.insert(name.to_owned(), chapter.clone());
            }
        }
        symbols
    }

    /// Compares them with the annotations in `folder`; the problems are lines.
    pub(crate) fn compare(&self, folder: &Path) -> Result<(Calls, Vec<String>)> {
        let pages = annotation::pages(folder)?;
        let list = folder.join("unannotated.txt");
        let text = std::fs::read_to_string(&list)
            .with_context(|| format!("cannot read {}", list.display()))?;
        let mut problems = Vec::new();
        let excuses = excuse::read(&text, &mut problems);
        let annotated = self.annotated(&pages, &mut problems);
        let mut calls = Calls { symbols: self.parameters.len(), ..Calls::default() };
        let mut used = BTreeSet::new();
        for symbol in self.parameters.keys() {
            let matching = || excuses.iter().enumerate().filter(|(_, e)| e.is_for(symbol, self));
            used.extend(matching().map(|(index, _)| index));
            let is_excused = matching().next().is_some();
            let exact = excuses.iter().any(|excuse| excuse.is_exact(symbol));
            match (annotated.contains(symbol.as_str()), is_excused) {
                (true, _) => calls.annotated += 1,
                (false, true) => calls.excused += 1,
                (false, false) => {
                    problems.push(format!(
                        "missing: driver call {symbol}: neither annotated nor excused"
                    ));
                }
            }
            if annotated.contains(symbol.as_str()) && exact {
                problems.push(format!("differs: driver call {symbol}: annotated and excused"));
            }
        }
        for (index, excuse) in excuses.iter().enumerate() {
            if !used.contains(&index) {
                problems.push(format!("differs: unannotated.txt: `{excuse}` excuses nothing"));
            }
        }
        for page in &pages {
            self.chapter(page, &annotated, &excuses, &mut problems);
        }
        Ok((calls, problems))
    }

    /// Collects the annotated symbols, and compares their parameters.
    fn annotated<'a>(&self, pages: &'a [Page], problems: &mut Vec<String>) -> BTreeSet<&'a str> {
        let mut annotated = BTreeSet::new();
        for annotation in pages.iter().flat_map(|page| &page.annotations) {
            let symbol = annotation.symbol.as_str();
            if !annotated.insert(symbol) {
                problems.push(format!("differs: driver call {symbol}: annotated twice"));
            }
            match self.parameters.get(symbol) {
                None => {
                    problems.push(format!("differs: driver call {symbol}: no header declares it"))
                }
                Some(names) if *names != annotation.parameters => problems.push(format!(
                    "differs: driver call {symbol}: the header's parameters are ({}), the \
                     annotation's ({})",
                    names.join(", "),
                    annotation.parameters.join(", ")
                )),
                Some(_) => {}
            }
        }
        annotated
    }

    /// Compares what a page says of its chapters with what they are.
    fn chapter(
        &self,
        page: &Page,
        annotated: &BTreeSet<&str>,
        excuses: &[Excuse],
        problems: &mut Vec<String>,
    ) {
        let file = &page.file;
        if page.chapters.is_empty() && !page.annotations.is_empty() {
            problems.push(format!("differs: {file}: no line says `Chapter: …`"));
            return;
        }
        for claim in &page.chapters {
            if !self.chapters.values().any(|chapter| *chapter == claim.title) {
                problems.push(format!("differs: {file}: no chapter is called `{}`", claim.title));
            }
        }
        for annotation in &page.annotations {
            let Some(chapter) = self.chapters.get(&annotation.symbol) else { continue };
            if !page.chapters.iter().any(|claim| claim.title == *chapter) {
                let symbol = &annotation.symbol;
                problems.push(format!("differs: {file}: {symbol} is of the chapter `{chapter}`"));
            }
        }
        for claim in page.chapters.iter().filter(|claim| claim.is_whole) {
            for (symbol, chapter) in &self.chapters {
                let by_hand = || excuses.iter().any(|e| e.is_exact(symbol) && e.is_by_hand());
                let is_there = annotated.contains(symbol.as_str()) || by_hand();
                if *chapter == claim.title && self.is_newest(symbol) && !is_there {
                    problems.push(format!(
                        "differs: {file}: `{chapter}` is not whole: {symbol} is not annotated"
                    ));
                }
            }
        }
    }

    /// Tells whether no later version of the symbol is declared, and it is no twin of another.
    fn is_newest(&self, symbol: &str) -> bool {
        !is_twin(symbol) && !self.is_superseded(symbol)
    }

    /// Tells whether a later version of the symbol is declared.
    fn is_superseded(&self, symbol: &str) -> bool {
        let (name, version) = versioned(symbol);
        let later = (version + 1..10).map(|version| format!("{name}_v{version}"));
        !is_twin(symbol) && later.into_iter().any(|later| self.parameters.contains_key(&later))
    }
}

/// Tells whether a symbol is another's twin for per-thread default streams.
fn is_twin(symbol: &str) -> bool {
    symbol.ends_with("_ptsz") || symbol.ends_with("_ptds")
}

/// Splits a symbol into its name and its version, which is 1 if it says none.
fn versioned(symbol: &str) -> (&str, u32) {
    let split = symbol.rsplit_once("_v").and_then(|(name, v)| Some((name, v.parse().ok()?)));
    split.unwrap_or((symbol, 1))
}

/// Returns the name that a C program writes.
fn plain(symbol: &str) -> &str {
    let twin = symbol.strip_suffix("_ptsz").or_else(|| symbol.strip_suffix("_ptds"));
    versioned(twin.unwrap_or(symbol)).0
}
